/* SPDX-License-Identifier: MIT */
/* Operators that reduce rows, and attention. */
#include "tensor_op.h"

int tensor_layer_norm(const struct tensor *x, const struct tensor *gamma, const struct tensor *beta,
                      float epsilon, struct tensor *y)
{
    const char *op = "layer_norm";
    int err = OP_CHECK_PRESENT(op, x, gamma, beta, y);
    err = err ? err : op_check_same(op, "result", y, x);
    if (err)
        return err;
    uint32_t cols = x->dims[x->rank - 1], rows = tensor_elements(x) / cols;
    err = OP_CHECK_SHAPE(op, "gamma", gamma, TENSOR_F32, cols);
    err = err ? err : OP_CHECK_SHAPE(op, "beta", beta, TENSOR_F32, cols);
    if (err)
        return err;
    struct op_grid grid = op_grid_rows(x->tc, rows);
    return OP_LAUNCH(x->tc, layer_norm, grid, op_addr(x), op_addr(gamma), op_addr(beta), op_addr(y),
                     op_u32(rows), op_u32(cols), op_f32(epsilon));
}

int tensor_softmax(const struct tensor *x, uint32_t axis, bool log, struct tensor *y)
{
    int err = OP_CHECK_PRESENT("softmax", x, y);
    err = err ? err : op_check_same("softmax", "result", y, x);
    if (err)
        return err;
    if (axis >= x->rank)
        return op_fail(x->tc, -EINVAL, "softmax: axis %u of a tensor of rank %u", axis, x->rank);
    uint32_t len = x->dims[axis], rows = tensor_elements(x) / len;
    uint32_t inner = op_product(x, axis + 1, x->rank);
    if (inner == 1) {
        struct op_grid grid = op_grid_rows(x->tc, rows);
        return log ? OP_LAUNCH(x->tc, log_softmax, grid, op_addr(x), op_addr(y), op_u32(rows), op_u32(len))
                   : OP_LAUNCH(x->tc, softmax, grid, op_addr(x), op_addr(y), op_u32(rows), op_u32(len));
    }
    struct op_grid grid = op_grid_linear(x->tc, rows);
    return OP_LAUNCH(x->tc, softmax_columns, grid, op_addr(x), op_addr(y), op_u32(rows), op_u32(len),
                     OP_DIVISOR(inner), op_u32(log));
}

int tensor_attn_split(const struct tensor *x, struct tensor *y)
{
    const char *op = "attn_split";
    int err = OP_CHECK_PRESENT(op, x, y);
    err = err ? err : op_check_rank(op, "result", y, 5, 5);
    if (err)
        return err;
    uint32_t batch = y->dims[1], heads = y->dims[2], steps = y->dims[3], dim = y->dims[4];
    err = OP_CHECK_SHAPE(op, "input", x, TENSOR_F32, batch, steps, 3 * heads * dim);
    err = err ? err : OP_CHECK_SHAPE(op, "result", y, TENSOR_F32, 3, batch, heads, steps, dim);
    if (err)
        return err;
    uint32_t n = tensor_elements(y);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, attn_split, grid, op_addr(x), op_addr(y), op_u32(n), OP_DIVISOR(dim),
                     OP_DIVISOR(steps), OP_DIVISOR(heads), OP_DIVISOR(batch));
}

int tensor_attn_softmax(const struct tensor *x, const struct tensor *valid, float scale, struct tensor *y)
{
    const char *op = "attn_softmax";
    int err = OP_CHECK_PRESENT(op, x, y, valid ? valid : y);
    err = err ? err : op_check_rank(op, "input", x, 3, TENSOR_MAX_RANK);
    err = err ? err : op_check_same(op, "result", y, x);
    if (!err && valid)
        err = OP_CHECK_SHAPE(op, "valid", valid, TENSOR_I32, x->dims[0]);
    if (err)
        return err;
    uint32_t cols = x->dims[x->rank - 1], rows = tensor_elements(x) / cols;
    struct op_grid grid = op_grid_rows(x->tc, rows);
    return OP_LAUNCH(x->tc, attn_softmax, grid, op_addr(x), op_addr(valid), op_addr(y), op_u32(rows),
                     op_u32(cols), OP_DIVISOR(rows / x->dims[0]), op_f32(scale));
}

int tensor_attn_merge(const struct tensor *x, struct tensor *y)
{
    const char *op = "attn_merge";
    int err = OP_CHECK_PRESENT(op, x, y);
    err = err ? err : op_check_rank(op, "input", x, 4, 4);
    if (err)
        return err;
    uint32_t heads = x->dims[1], steps = x->dims[2], dim = x->dims[3];
    err = OP_CHECK_SHAPE(op, "result", y, TENSOR_F32, x->dims[0], steps, heads * dim);
    if (err)
        return err;
    uint32_t n = tensor_elements(y);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, attn_merge, grid, op_addr(x), op_addr(y), op_u32(n), OP_DIVISOR(dim),
                     OP_DIVISOR(heads), OP_DIVISOR(steps));
}

int tensor_ctc_digest(const struct tensor *x, bool is_probability, struct tensor *best,
                      struct tensor *probability)
{
    const char *op = "ctc_digest";
    int err = OP_CHECK_PRESENT(op, x, best, probability);
    err = err ? err : op_check_rank(op, "input", x, 2, TENSOR_MAX_RANK);
    err = err ? err : op_check_shape(op, "best", best, TENSOR_I32, x->rank - 1, x->dims);
    err = err ? err : op_check_shape(op, "probability", probability, TENSOR_F32, x->rank - 1, x->dims);
    if (err)
        return err;
    uint32_t classes = x->dims[x->rank - 1], rows = tensor_elements(x) / classes;
    if (classes >= 1u << 24)
        return op_fail(x->tc, -EINVAL, "%s: %u classes, at most 2^24 - 1", op, classes);
    struct op_grid grid = op_grid_rows(x->tc, rows);
    return OP_LAUNCH(x->tc, ctc_digest, grid, op_addr(x), op_addr(best), op_addr(probability), op_u32(rows),
                     op_u32(classes), op_u32(is_probability));
}
