/* SPDX-License-Identifier: MIT */
/* Matrix products. */
#include "core/math.h"
#include "core/util.h"
#include "tensor_op.h"

_Static_assert((int)ACT_RELU == (int)ACTIVATE_RELU && (int)ACT_TANH == (int)ACTIVATE_TANH, "same numbering");

#define LEAST_WARPS 4u /* below this, staging B costs more than it saves */

static uint32_t tiles_m(uint32_t m, uint32_t warps)
{
    return (uint32_t)div_round_up(m, SGEMM_ROWS * warps);
}

/* As many warps as share one tile of B, all blocks about as full, but blocks enough to occupy every compute
 * unit. */
static uint32_t choose_warps(const struct tensor_context *tc, const struct gemm_call *call)
{
    uint32_t warps = (uint32_t)div_round_up(tiles_m(call->m, 1), tiles_m(call->m, SGEMM_WARPS));
    uint64_t tiles_n = div_round_up(call->n, SGEMM_TILE_N) * call->batch;
    while (warps > LEAST_WARPS && tiles_m(call->m, warps) * tiles_n < tc->caps.compute_units)
        warps /= 2;
    return warps;
}

int op_gemm(struct tensor_context *tc, const struct gemm_call *call)
{
    uint32_t warps = choose_warps(tc, call), tiles = tiles_m(call->m, warps);
    uint32_t depth = call->k < SGEMM_DEPTH ? call->k : SGEMM_DEPTH;
    uint32_t rows =
        depth > SGEMM_ROWS * warps ? depth : SGEMM_ROWS * warps; /* of the tile, then of results */
    struct op_grid grid = {
        .blocks = {tiles * (uint32_t)div_round_up(call->n, SGEMM_TILE_N), 1, call->batch},
        .threads = {SGEMM_LANES, warps, 1},
        .shared_bytes = SGEMM_SHARED(rows),
    };
    uint32_t flags = call->bias ? call->flags : call->flags & ~(uint32_t)(SGEMM_BIAS_ROW | SGEMM_BIAS_COL);
    struct gpgpu_arg bias = call->bias ? op_addr_at(call->bias, call->bias_offset) : op_addr(NULL);
    const struct gpgpu_arg args[] = {
        op_addr_at(call->a, call->a_offset),
        op_addr_at(call->b, call->b_offset),
        op_addr_at(call->c, call->c_offset),
        bias,
        op_u32(call->m),
        op_u32(call->n),
        op_u32(call->k),
        op_u32(call->lda),
        op_u32(call->ldb),
        op_u32(call->ldc),
        op_u32(call->stride_a),
        op_u32(call->stride_b),
        op_u32(call->stride_c),
        op_u32(flags),
        op_u32(call->activation),
        op_f32(call->alpha),
        op_f32(call->beta),
        OP_DIVISOR(tiles),
    };
    bool cheap = call->activation == ACTIVATE_NONE || call->activation == ACTIVATE_RELU;
    return op_launch(tc, cheap ? KERNEL_sgemm : KERNEL_sgemm_activate, &grid, args, ARRAY_SIZE(args));
}

/* Rows and columns of a matrix or of a batch of matrices. */
static uint32_t rows_of(const struct tensor *t)
{
    return t->dims[t->rank - 2];
}

static uint32_t cols_of(const struct tensor *t)
{
    return t->dims[t->rank - 1];
}

static int check_batch(const char *name, const struct tensor *t, uint32_t batch)
{
    if (t->rank == 3 && t->dims[0] != batch)
        return op_fail(t->tc, -EINVAL, "sgemm: %s has a batch of %u, the result one of %u", name, t->dims[0],
                       batch);
    return 0;
}

int tensor_sgemm(const struct tensor *a, const struct tensor *b, const struct tensor *bias, struct tensor *c,
                 const struct gemm_params *params)
{
    int err = OP_CHECK_PRESENT("sgemm", a, b, c, bias ? bias : c);
    err = err ? err : op_check_rank("sgemm", "a", a, 2, 3);
    err = err ? err : op_check_rank("sgemm", "b", b, 2, 3);
    err = err ? err : op_check_rank("sgemm", "result", c, 2, 3);
    if (err)
        return err;
    uint32_t batch = c->rank == 3 ? c->dims[0] : 1;
    uint32_t m = params->trans_a ? cols_of(a) : rows_of(a), k = params->trans_a ? rows_of(a) : cols_of(a);
    uint32_t kb = params->trans_b ? cols_of(b) : rows_of(b), n = params->trans_b ? rows_of(b) : cols_of(b);
    if (k != kb)
        return op_fail(a->tc, -EINVAL, "sgemm: a has %u columns, b has %u rows", k, kb);
    err = check_batch("a", a, batch);
    err = err ? err : check_batch("b", b, batch);
    err = err            ? err
          : c->rank == 3 ? OP_CHECK_SHAPE("sgemm", "result", c, TENSOR_F32, batch, m, n)
                         : OP_CHECK_SHAPE("sgemm", "result", c, TENSOR_F32, m, n);
    if (!err && bias)
        err = OP_CHECK_SHAPE("sgemm", "bias", bias, TENSOR_F32, params->bias_per_row ? m : n);
    if (err)
        return err;
    struct gemm_call call = {
        .a = a,
        .b = b,
        .c = c,
        .bias = bias,
        .batch = batch,
        .m = m,
        .n = n,
        .k = k,
        .lda = cols_of(a),
        .ldb = cols_of(b),
        .ldc = n,
        .stride_a = a->rank == 3 ? m * k : 0,
        .stride_b = b->rank == 3 ? k * n : 0,
        .stride_c = m * n,
        .flags = (params->trans_a ? SGEMM_TRANS_A : 0u) | (params->trans_b ? SGEMM_TRANS_B : 0u) |
                 (params->bias_per_row ? SGEMM_BIAS_ROW : SGEMM_BIAS_COL),
        .activation = params->activation,
        .alpha = params->alpha,
        .beta = params->beta,
    };
    return op_gemm(a->tc, &call);
}

int tensor_dense(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                 enum activation activation, struct tensor *y)
{
    struct gemm_params params = GEMM_PLAIN;
    params.trans_b = true;
    params.activation = activation;
    return tensor_sgemm(x, weight, bias, y, &params);
}

int tensor_dense_backward(const struct tensor *x, const struct tensor *weight, const struct tensor *dy,
                          struct tensor *dx, struct tensor *dw, struct tensor *db)
{
    struct gemm_params plain = GEMM_PLAIN, trans_a = GEMM_PLAIN;
    trans_a.trans_a = true;
    int err = 0;
    if (dx)
        err = tensor_sgemm(dy, weight, NULL, dx, &plain);
    if (!err && dw)
        err = tensor_sgemm(dy, x, NULL, dw, &trans_a);
    if (!err && db)
        err = tensor_bias_backward(dy, db);
    return err;
}
