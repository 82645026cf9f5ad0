/* SPDX-License-Identifier: MIT */
/* Operators that move data. */
#include "core/math.h"
#include "tensor_op.h"

_Static_assert((int)PAD_CONSTANT == (int)PAD_WITH_VALUE && (int)PAD_REFLECT == (int)PAD_WITH_REFLECTION,
               "same numbering");

/* x and y have the same rank, at least `tail`, and agree in all but the last `tail` dimensions. */
static int check_leading(const char *op, const struct tensor *x, const struct tensor *y, uint32_t tail)
{
    int err = OP_CHECK_PRESENT(op, x, y);
    err = err ? err : op_check_rank(op, "input", x, tail, TENSOR_MAX_RANK);
    err = err ? err : op_check_rank(op, "result", y, x->rank, x->rank);
    if (err)
        return err;
    for (uint32_t i = 0; i + tail < x->rank; i++)
        if (x->dims[i] != y->dims[i])
            return op_fail(x->tc, -EINVAL, "%s: dimension %u of the result is %u, of the input %u", op, i,
                           y->dims[i], x->dims[i]);
    return 0;
}

static uint32_t height(const struct tensor *t)
{
    return t->dims[t->rank - 2];
}

static uint32_t width(const struct tensor *t)
{
    return t->dims[t->rank - 1];
}

int tensor_zero_cols(struct tensor *x, const struct tensor *valid)
{
    int err = OP_CHECK_PRESENT("zero_cols", x, valid);
    err = err ? err : op_check_rank("zero_cols", "input", x, 2, TENSOR_MAX_RANK);
    err = err ? err : OP_CHECK_SHAPE("zero_cols", "valid", valid, TENSOR_I32, x->dims[0]);
    if (err)
        return err;
    uint32_t n = tensor_elements(x);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, zero_cols, grid, op_addr(x), op_addr(valid), op_u32(n),
                     OP_DIVISOR(n / x->dims[0]), OP_DIVISOR(width(x)));
}

int tensor_pad_rb(const struct tensor *x, struct tensor *y)
{
    int err = check_leading("pad_rb", x, y, 2);
    if (err)
        return err;
    if (height(y) < height(x) || width(y) < width(x))
        return op_fail(x->tc, -EINVAL, "pad_rb: result is %ux%u, smaller than %ux%u", height(y), width(y),
                       height(x), width(x));
    uint32_t n = tensor_elements(y);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, pad_rb, grid, op_addr(x), op_addr(y), op_u32(n), op_u32(height(x)),
                     op_u32(width(x)), OP_DIVISOR(height(y) * width(y)), OP_DIVISOR(width(y)));
}

/* Reflection shows each element once more at most. */
static bool reflects(int32_t before, int32_t after, uint32_t size)
{
    return before < (int32_t)size && after < (int32_t)size;
}

int tensor_pad_all(const struct tensor *x, const struct pad_shape *pad, struct tensor *y)
{
    int err = check_leading("pad_all", x, y, 2);
    if (err)
        return err;
    int64_t oh = (int64_t)height(x) + pad->top + pad->bottom, ow = (int64_t)width(x) + pad->left + pad->right;
    if (oh != height(y) || ow != width(y))
        return op_fail(x->tc, -EINVAL, "pad_all: result is %ux%u, expected %lldx%lld", height(y), width(y),
                       (long long)oh, (long long)ow);
    if (pad->mode == PAD_WITH_REFLECTION &&
        !(reflects(pad->top, pad->bottom, height(x)) && reflects(pad->left, pad->right, width(x))))
        return op_fail(x->tc, -EINVAL, "pad_all: reflection wider than the %ux%u input", height(x), width(x));
    uint32_t n = tensor_elements(y);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, pad_all, grid, op_addr(x), op_addr(y), op_u32(n), op_i32((int32_t)height(x)),
                     op_i32((int32_t)width(x)), OP_DIVISOR(height(y) * width(y)), OP_DIVISOR(width(y)),
                     op_i32(pad->top), op_i32(pad->left), op_u32(pad->mode), op_f32(pad->value));
}

int tensor_crop_cols(const struct tensor *x, uint32_t left, struct tensor *y)
{
    int err = check_leading("crop_cols", x, y, 1);
    if (err)
        return err;
    if ((uint64_t)left + width(y) > width(x))
        return op_fail(x->tc, -EINVAL, "crop_cols: columns %u to %u of %u", left, left + width(y), width(x));
    uint32_t n = tensor_elements(y);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, crop_cols, grid, op_addr(x), op_addr(y), op_u32(n), op_u32(width(x)),
                     OP_DIVISOR(width(y)), op_u32(left));
}

int tensor_copy_part(const struct tensor *x, uint32_t axis, uint32_t x_from, uint32_t count, struct tensor *y,
                     uint32_t y_from)
{
    const char *op = "copy_part";
    int err = OP_CHECK_PRESENT(op, x, y);
    err = err ? err : op_check_rank(op, "input", x, 1, TENSOR_MAX_RANK);
    err = err ? err : op_check_rank(op, "result", y, x->rank, x->rank);
    if (err)
        return err;
    if (axis >= x->rank)
        return op_fail(x->tc, -EINVAL, "%s: axis %u of a tensor of rank %u", op, axis, x->rank);
    for (uint32_t i = 0; i < x->rank; i++)
        if (i != axis && x->dims[i] != y->dims[i])
            return op_fail(x->tc, -EINVAL, "%s: dimension %u is %u and %u", op, i, x->dims[i], y->dims[i]);
    if (count == 0 || (uint64_t)x_from + count > x->dims[axis] || (uint64_t)y_from + count > y->dims[axis])
        return op_fail(x->tc, -EINVAL, "%s: %u positions from %u of %u to %u of %u", op, count, x_from,
                       x->dims[axis], y_from, y->dims[axis]);
    uint32_t inner = op_product(x, axis + 1, x->rank);
    uint32_t part = count * inner, n = op_product(x, 0, axis) * part;
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, copy_part, grid, op_addr(x), op_addr(y), op_u32(n), OP_DIVISOR(part),
                     op_u32(x->dims[axis] * inner), op_u32(x_from * inner), op_u32(y->dims[axis] * inner),
                     op_u32(y_from * inner));
}

int tensor_interp_nearest(const struct tensor *x, const struct resize_shape *shape, struct tensor *y)
{
    int err = check_leading("interp_nearest", x, y, 2);
    if (err)
        return err;
    uint32_t n = tensor_elements(y);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, interp_nearest, grid, op_addr(x), op_addr(y), op_u32(n), op_u32(height(x)),
                     op_u32(width(x)), OP_DIVISOR(height(y) * width(y)), OP_DIVISOR(width(y)),
                     op_f32(shape->factor_y), op_f32(shape->factor_x), op_f32(shape->before),
                     op_f32(shape->after), op_u32(shape->ceiling));
}

int tensor_chw_to_seq(const struct tensor *x, struct tensor *y)
{
    const char *op = "chw_to_seq";
    int err = OP_CHECK_PRESENT(op, x, y);
    err = err ? err : op_check_rank(op, "input", x, 4, 4);
    if (err)
        return err;
    uint32_t pixels = x->dims[2] * x->dims[3], channels = x->dims[1];
    err = OP_CHECK_SHAPE(op, "result", y, TENSOR_F32, x->dims[0], pixels, channels);
    if (err)
        return err;
    struct op_grid grid = {
        .blocks = {(uint32_t)div_round_up(pixels, TRANSPOSE_TILE),
                   (uint32_t)div_round_up(channels, TRANSPOSE_TILE), x->dims[0]},
        .threads = {TRANSPOSE_TILE, 8, 1},
        .shared_bytes = 4 * TRANSPOSE_TILE * (TRANSPOSE_TILE + 1),
    };
    return OP_LAUNCH(x->tc, chw_to_seq, grid, op_addr(x), op_addr(y), op_u32(channels), op_u32(pixels));
}
