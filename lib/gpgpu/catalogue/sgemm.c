/* SPDX-License-Identifier: MIT */
/* Catalogue: matrix products. */
#include "entry.h"

enum { BATCH, M, N, K, TRANS_A, TRANS_B, BATCHED_B, BIAS, PER_ROW, ACTIVATION, BETA, ALPHA };
#define GEMM_PARAMS "batch m n k trans_a trans_b batched_b bias bias_per_row activation beta/1e6 alpha/1e6"

static void sgemm_io(const uint32_t *p, struct catalogue_io *io)
{
    uint32_t ar = p[TRANS_A] ? p[K] : p[M], ac = p[TRANS_A] ? p[M] : p[K];
    uint32_t br = p[TRANS_B] ? p[N] : p[K], bc = p[TRANS_B] ? p[K] : p[N];
    add_in(io, INPUT("a", p[BATCH], ar, ac));
    if (p[BATCHED_B])
        add_in(io, INPUT("b", p[BATCH], br, bc));
    else
        add_in(io, INPUT("b", br, bc));
    add_in(io, INPUT("bias", p[PER_ROW] ? p[M] : p[N]));
    add_in(io, INPUT("c", p[BATCH], p[M], p[N]));
    add_out(io, IN_PLACE("c", 3, p[BATCH], p[M], p[N]));
}

static int sgemm_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct gemm_params params = {.trans_a = p[TRANS_A],
                                 .trans_b = p[TRANS_B],
                                 .bias_per_row = p[PER_ROW],
                                 .alpha = millionths(p[ALPHA]),
                                 .beta = millionths(p[BETA]),
                                 .activation = p[ACTIVATION]};
    return tensor_sgemm(&in[0], &in[1], optional(p[BIAS], &in[2]), &out[0], &params);
}

static void sgemm_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct gemm_shape s = {.batch = p[BATCH],
                           .m = p[M],
                           .n = p[N],
                           .k = p[K],
                           .trans_a = p[TRANS_A],
                           .trans_b = p[TRANS_B],
                           .batched_a = true,
                           .batched_b = p[BATCHED_B],
                           .bias_per_row = p[PER_ROW],
                           .alpha = millionths(p[ALPHA]),
                           .beta = millionths(p[BETA]),
                           .activation = p[ACTIVATION]};
    ref_sgemm(&s, in[0], in[1], p[BIAS] ? in[2] : NULL, out[0]);
}

static double sgemm_flops(const uint32_t *p)
{
    return 2.0 * p[BATCH] * p[M] * p[N] * p[K];
}

static double sgemm_terms(const uint32_t *p)
{
    return p[K] + 2.0;
}

#define ONE 1000000

static const struct catalogue_case sgemm_bench[] = {
    {"recogniser, mixing layer", {1, 512, 80, 512, 0, 0, 0, 1, 1, ACTIVATE_GELU, 0, ONE}},
    {"recogniser, classes", {1, 40, 6625, 120, 0, 1, 0, 1, 0, ACTIVATE_NONE, 0, ONE}},
    {"recogniser, attention scores", {8, 240, 240, 64, 0, 1, 1, 0, 0, ACTIVATE_NONE, 0, ONE}},
};
static const struct catalogue_case sgemm_test[] = {
    {"one element", {1, 1, 1, 1, 0, 0, 0, 0, 0, ACTIVATE_NONE, 0, ONE}},
    {"odd", {1, 7, 67, 33, 0, 0, 0, 1, 0, ACTIVATE_RELU, 500000, 750000}},
    {"odd, a transposed", {1, 101, 65, 37, 1, 0, 0, 1, 1, ACTIVATE_SILU, 0, ONE}},
    {"odd, b transposed", {1, 13, 131, 70, 0, 1, 0, 1, 0, ACTIVATE_GELU, 500000, 750000}},
    {"odd, both transposed", {1, 100, 5, 3, 1, 1, 0, 0, 0, ACTIVATE_SIGMOID, 0, ONE}},
    {"full tiles", {1, 96, 128, 64, 0, 0, 0, 0, 0, ACTIVATE_NONE, 0, ONE}},
    {"batched", {3, 10, 20, 30, 0, 0, 1, 0, 0, ACTIVATE_TANH, 0, ONE}},
    {"batched, shared b", {5, 4, 9, 17, 1, 1, 0, 1, 1, ACTIVATE_NONE, 500000, 750000}},
};
const struct catalogue_entry catalogue_sgemm = {
    .name = "sgemm",
    .summary = "c = activation(op(a) op(b) + beta c + bias)",
    .params = GEMM_PARAMS,
    .bench = sgemm_bench,
    .test = sgemm_test,
    .ntests = COUNT(sgemm_test),
    .io = sgemm_io,
    .run = sgemm_run,
    .reference = sgemm_reference,
    .flops = sgemm_flops,
    .terms = sgemm_terms,
    .magnitude = 1,
    .ulps = 16,
    .reason = "a sum of k products, each at most 1, rounded k times",
};

/* ---- dense ----------------------------------------------------------------------------------------------
 */

enum { D_BATCH, D_IN, D_OUT, D_ACTIVATION };

static void dense_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[D_BATCH], p[D_IN]));
    add_in(io, INPUT("weight", p[D_OUT], p[D_IN]));
    add_in(io, INPUT("bias", p[D_OUT]));
    add_out(io, INPUT("y", p[D_BATCH], p[D_OUT]));
}

static int dense_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_dense(&in[0], &in[1], &in[2], p[D_ACTIVATION], &out[0]);
}

static void dense_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct gemm_shape s = {.batch = 1,
                           .m = p[D_BATCH],
                           .n = p[D_OUT],
                           .k = p[D_IN],
                           .trans_b = true,
                           .alpha = 1,
                           .activation = p[D_ACTIVATION]};
    ref_sgemm(&s, in[0], in[1], in[2], out[0]);
}

static double dense_flops(const uint32_t *p)
{
    return 2.0 * p[D_BATCH] * p[D_IN] * p[D_OUT];
}

static double dense_terms(const uint32_t *p)
{
    return p[D_IN] + 1.0;
}

static const struct catalogue_case dense_bench[] = {
    {"recogniser, query-key-value", {80, 120, 360, ACTIVATE_NONE}},
    {"recogniser, feed-forward", {80, 120, 240, ACTIVATE_SILU}},
    {"recogniser, classes", {40, 120, 6625, ACTIVATE_NONE}},
};
static const struct catalogue_case dense_test[] = {
    {"odd", {3, 31, 10, ACTIVATE_NONE}},
    {"one item", {1, 400, 121, ACTIVATE_RELU}},
};
const struct catalogue_entry catalogue_dense = {
    .name = "dense",
    .summary = "y = activation(x weight^T + bias)",
    .params = "batch in out activation",
    .bench = dense_bench,
    .test = dense_test,
    .ntests = COUNT(dense_test),
    .io = dense_io,
    .run = dense_run,
    .reference = dense_reference,
    .flops = dense_flops,
    .terms = dense_terms,
    .magnitude = 1,
    .ulps = 8,
    .reason = "a sum of `in` products, each at most 1",
};

static void dense_backward_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[D_BATCH], p[D_IN]));
    add_in(io, INPUT("weight", p[D_OUT], p[D_IN]));
    add_in(io, INPUT("dy", p[D_BATCH], p[D_OUT]));
    add_out(io, INPUT("dx", p[D_BATCH], p[D_IN]));
    add_out(io, INPUT("dw", p[D_OUT], p[D_IN]));
    add_out(io, INPUT("db", p[D_OUT]));
}

static int dense_backward_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_dense_backward(&in[0], &in[1], &in[2], &out[0], &out[1], &out[2]);
}

static void dense_backward_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct gemm_shape dx = {.batch = 1, .m = p[D_BATCH], .n = p[D_IN], .k = p[D_OUT], .alpha = 1};
    struct gemm_shape dw = {
        .batch = 1, .m = p[D_OUT], .n = p[D_IN], .k = p[D_BATCH], .trans_a = true, .alpha = 1};
    ref_sgemm(&dx, in[2], in[1], NULL, out[0]);
    ref_sgemm(&dw, in[2], in[0], NULL, out[1]);
    ref_bias_backward(p[D_BATCH], p[D_OUT], 1, in[2], out[2]);
}

static double dense_backward_flops(const uint32_t *p)
{
    return 2 * dense_flops(p) + (double)p[D_BATCH] * p[D_OUT];
}

static double dense_backward_terms(const uint32_t *p)
{
    return p[D_OUT] > p[D_BATCH] ? p[D_OUT] : p[D_BATCH];
}

static const struct catalogue_case dense_backward_bench[] = {
    {"classifier, hidden", {64, 400, 120, 0}},
    {"recogniser, feed-forward", {320, 120, 240, 0}},
    {"recogniser, classes", {40, 120, 6625, 0}},
};
static const struct catalogue_case dense_backward_test[] = {{"odd", {5, 33, 10, 0}},
                                                            {"one item", {1, 7, 70, 0}}};
const struct catalogue_entry catalogue_dense_backward = {
    .name = "dense_backward",
    .summary = "dx = dy weight, dw = dy^T x, db = column sums of dy",
    .params = "batch in out activation",
    .bench = dense_backward_bench,
    .test = dense_backward_test,
    .ntests = COUNT(dense_backward_test),
    .io = dense_backward_io,
    .run = dense_backward_run,
    .reference = dense_backward_reference,
    .flops = dense_backward_flops,
    .terms = dense_backward_terms,
    .magnitude = 1,
    .ulps = 4,
    .reason = "sums of `out` or `batch` products, each at most 1",
};
