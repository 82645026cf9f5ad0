/* SPDX-License-Identifier: MIT */
/* Operators that combine a tensor with something smaller. */
#include "tensor_op.h"

int tensor_fill(struct tensor *y, float value)
{
    int err = OP_CHECK_PRESENT("fill", y);
    err = err ? err : op_check_rank("fill", "result", y, 1, TENSOR_MAX_RANK);
    if (err)
        return err;
    uint32_t n = tensor_elements(y);
    struct op_grid grid = op_grid_linear(y->tc, n);
    return OP_LAUNCH(y->tc, fill, grid, op_addr(y), op_u32(n), op_f32(value));
}

int tensor_add_bias(const struct tensor *x, const struct tensor *bias, enum activation activation,
                    struct tensor *y)
{
    int err = OP_CHECK_PRESENT("add_bias", x, bias, y);
    err = err ? err : op_check_rank("add_bias", "input", x, 2, TENSOR_MAX_RANK);
    err = err ? err : OP_CHECK_SHAPE("add_bias", "bias", bias, TENSOR_F32, x->dims[1]);
    err = err ? err : op_check_same("add_bias", "result", y, x);
    if (err)
        return err;
    uint32_t n = tensor_elements(x);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, add_bias, grid, op_addr(x), op_addr(bias), op_addr(y), op_u32(n),
                     OP_DIVISOR(op_product(x, 2, x->rank)), OP_DIVISOR(x->dims[1]), op_u32(activation));
}

int tensor_scale_ch(const struct tensor *x, const struct tensor *scale, struct tensor *y)
{
    int err = OP_CHECK_PRESENT("scale_ch", x, scale, y);
    err = err ? err : op_check_rank("scale_ch", "input", x, 2, TENSOR_MAX_RANK);
    err = err ? err : OP_CHECK_SHAPE("scale_ch", "scale", scale, TENSOR_F32, x->dims[0], x->dims[1]);
    err = err ? err : op_check_same("scale_ch", "result", y, x);
    if (err)
        return err;
    uint32_t n = tensor_elements(x);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, scale_ch, grid, op_addr(x), op_addr(scale), op_addr(y), op_u32(n),
                     OP_DIVISOR(op_product(x, 2, x->rank)));
}

/* Dimensions of t as four, ones in front, and the strides that walk it; 0 where y repeats it. */
static int broadcast(const struct tensor *t, const struct tensor *y, uint32_t strides[4])
{
    uint32_t step = 1;
    for (uint32_t i = 0; i < 4; i++)
        strides[i] = 0;
    for (uint32_t i = 0; i < t->rank; i++) {
        uint32_t dim = t->dims[t->rank - 1 - i], out = i < y->rank ? y->dims[y->rank - 1 - i] : 1;
        if (dim != out && dim != 1) {
            char a[64], b[64];
            return op_fail(y->tc, -EINVAL, "add2: %s does not broadcast to %s",
                           tensor_shape_text(t, a, sizeof a), tensor_shape_text(y, b, sizeof b));
        }
        strides[3 - i] = dim == 1 ? 0 : step;
        step *= dim;
    }
    return 0;
}

int tensor_add2(const struct tensor *a, const struct tensor *b, struct tensor *y)
{
    uint32_t sa[4], sb[4], d[4] = {1, 1, 1, 1};
    int err = OP_CHECK_PRESENT("add2", a, b, y);
    err = err ? err : op_check_rank("add2", "a", a, 1, 4);
    err = err ? err : op_check_rank("add2", "b", b, 1, 4);
    err = err ? err : op_check_rank("add2", "result", y, 1, 4);
    err = err ? err : broadcast(a, y, sa);
    err = err ? err : broadcast(b, y, sb);
    if (err)
        return err;
    for (uint32_t i = 0; i < y->rank; i++)
        d[3 - i] = y->dims[y->rank - 1 - i];
    uint32_t n = tensor_elements(y);
    bool same = tensor_elements(a) == n && tensor_elements(b) == n;
    struct op_grid grid = op_grid_linear(y->tc, n);
    return OP_LAUNCH(y->tc, add2, grid, op_addr(a), op_addr(b), op_addr(y), op_u32(n), op_u32(same),
                     OP_DIVISOR(d[1]), OP_DIVISOR(d[2]), OP_DIVISOR(d[3]), op_u32(sa[0]), op_u32(sa[1]),
                     op_u32(sa[2]), op_u32(sa[3]), op_u32(sb[0]), op_u32(sb[1]), op_u32(sb[2]),
                     op_u32(sb[3]));
}

int tensor_se_gate(const struct tensor *pooled, const struct tensor *w1, const struct tensor *b1,
                   const struct tensor *w2, const struct tensor *b2, float alpha, float beta,
                   struct tensor *gate)
{
    const char *op = "se_gate";
    int err = OP_CHECK_PRESENT(op, pooled, w1, b1, w2, b2, gate);
    err = err ? err : op_check_rank(op, "pooled", pooled, 2, 2);
    err = err ? err : op_check_rank(op, "w1", w1, 2, 2);
    if (err)
        return err;
    uint32_t channels = pooled->dims[1], reduced = w1->dims[0];
    err = OP_CHECK_SHAPE(op, "w1", w1, TENSOR_F32, reduced, channels);
    err = err ? err : OP_CHECK_SHAPE(op, "b1", b1, TENSOR_F32, reduced);
    err = err ? err : OP_CHECK_SHAPE(op, "w2", w2, TENSOR_F32, channels, reduced);
    err = err ? err : OP_CHECK_SHAPE(op, "b2", b2, TENSOR_F32, channels);
    err = err ? err : op_check_same(op, "result", gate, pooled);
    if (err)
        return err;
    struct op_grid grid = {{pooled->dims[0], 1, 1}, {64, 1, 1}, 4 * (channels + reduced)};
    return OP_LAUNCH(gate->tc, se_gate, grid, op_addr(pooled), op_addr(w1), op_addr(b1), op_addr(w2),
                     op_addr(b2), op_addr(gate), op_u32(channels), op_u32(reduced), op_f32(alpha),
                     op_f32(beta));
}
