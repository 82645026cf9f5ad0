/* SPDX-License-Identifier: MIT */
/* Pooling. */
#include "tensor_op.h"

/* Planes and sizes of x [..][h][w] and y [..][oh][ow]; everything but the last two dimensions must agree. */
static int pool_shape(const char *op, const struct tensor *x, const struct window *win,
                      const struct tensor *y, struct pool_shape *s)
{
    int err = op_check_rank(op, "input", x, 3, 4);
    err = err ? err : op_check_rank(op, "result", y, x->rank, x->rank);
    if (err)
        return err;
    if (!win->kh || !win->kw || !win->stride_h || !win->stride_w || !win->dil_h || !win->dil_w)
        return op_fail(x->tc, -EINVAL, "%s: kernel %ux%u, stride %ux%u: none may be 0", op, win->kh, win->kw,
                       win->stride_h, win->stride_w);
    uint32_t r = x->rank;
    *s = (struct pool_shape){.planes = op_product(x, 0, r - 2),
                             .h = x->dims[r - 2],
                             .w = x->dims[r - 1],
                             .oh = y->dims[r - 2],
                             .ow = y->dims[r - 1],
                             .win = *win};
    uint32_t pad_h = win->pad_t + win->pad_b, pad_w = win->pad_l + win->pad_r;
    uint32_t low_h = window_positions(s->h, win->kh, win->stride_h, win->dil_h, pad_h, false);
    uint32_t high_h = window_positions(s->h, win->kh, win->stride_h, win->dil_h, pad_h, true);
    uint32_t low_w = window_positions(s->w, win->kw, win->stride_w, win->dil_w, pad_w, false);
    uint32_t high_w = window_positions(s->w, win->kw, win->stride_w, win->dil_w, pad_w, true);
    if (s->oh < low_h || s->oh > high_h || s->ow < low_w || s->ow > high_w || !low_h || !low_w)
        return op_fail(x->tc, -EINVAL, "%s: result is %ux%u, expected %ux%u (or %ux%u rounding up)", op,
                       s->oh, s->ow, low_h, low_w, high_h, high_w);
    if (op_product(y, 0, r - 2) != s->planes)
        return op_fail(x->tc, -EINVAL, "%s: result has %u planes, input %u", op, op_product(y, 0, r - 2),
                       s->planes);
    return 0;
}

int tensor_pool_max(const struct tensor *x, const struct window *win, struct tensor *y, struct tensor *index)
{
    struct pool_shape s;
    int err = OP_CHECK_PRESENT("pool_max", x, y, index ? index : y);
    err = err ? err : pool_shape("pool_max", x, win, y, &s);
    if (!err && index)
        err = op_check_shape("pool_max", "index", index, TENSOR_I32, y->rank, y->dims);
    if (err)
        return err;
    uint32_t n = tensor_elements(y);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, pool_max, grid, op_addr(x), op_addr(y), op_addr(index), op_u32(n), op_u32(s.h),
                     op_u32(s.w), OP_DIVISOR(s.oh * s.ow), OP_DIVISOR(s.ow), op_u32(win->kh), op_u32(win->kw),
                     op_u32(win->stride_h), op_u32(win->stride_w), op_u32(win->pad_t), op_u32(win->pad_l),
                     op_u32(win->dil_h), op_u32(win->dil_w));
}

/* Averages have no dilation. */
static int check_average(const char *op, const struct tensor *x, const struct window *win)
{
    if (win->dil_h == 1 && win->dil_w == 1)
        return 0;
    return op_fail(x->tc, -EINVAL, "%s: dilation %ux%u is not supported", op, win->dil_h, win->dil_w);
}

int tensor_pool_avg(const struct tensor *x, const struct window *win, bool include_pad, struct tensor *y)
{
    struct pool_shape s;
    int err = OP_CHECK_PRESENT("pool_avg", x, y);
    err = err ? err : pool_shape("pool_avg", x, win, y, &s);
    err = err ? err : check_average("pool_avg", x, win);
    if (err)
        return err;
    uint32_t n = tensor_elements(y);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, pool_avg, grid, op_addr(x), op_addr(y), op_u32(n), op_u32(s.h), op_u32(s.w),
                     OP_DIVISOR(s.oh * s.ow), OP_DIVISOR(s.ow), op_u32(win->kh), op_u32(win->kw),
                     op_u32(win->stride_h), op_u32(win->stride_w), op_u32(win->pad_t), op_u32(win->pad_l),
                     op_u32(win->pad_b), op_u32(win->pad_r), op_u32(include_pad));
}

int tensor_global_avg(const struct tensor *x, struct tensor *y)
{
    int err = OP_CHECK_PRESENT("global_avg", x, y);
    err = err ? err : op_check_rank("global_avg", "input", x, 3, 5);
    err = err ? err : OP_CHECK_SHAPE("global_avg", "result", y, TENSOR_F32, x->dims[0], x->dims[1]);
    if (err)
        return err;
    uint32_t planes = x->dims[0] * x->dims[1], pixels = op_product(x, 2, x->rank);
    struct op_grid grid = op_grid_rows(x->tc, planes);
    return OP_LAUNCH(x->tc, global_avg, grid, op_addr(x), op_addr(y), op_u32(planes), op_u32(pixels));
}

int tensor_pool_max_backward(const struct tensor *dy, const struct tensor *index, const struct window *win,
                             struct tensor *dx)
{
    const char *op = "pool_max_backward";
    struct pool_shape s;
    int err = OP_CHECK_PRESENT(op, dy, index, dx);
    err = err ? err : pool_shape(op, dx, win, dy, &s);
    err = err ? err : op_check_shape(op, "index", index, TENSOR_I32, dy->rank, dy->dims);
    if (err)
        return err;
    uint32_t n = tensor_elements(dx);
    struct op_grid grid = op_grid_linear(dx->tc, n);
    return OP_LAUNCH(dx->tc, pool_max_backward, grid, op_addr(dy), op_addr(index), op_addr(dx), op_u32(n),
                     OP_DIVISOR(s.h * s.w), OP_DIVISOR(s.w), op_u32(s.oh), op_u32(s.ow), op_u32(win->kh),
                     op_u32(win->kw), OP_DIVISOR(win->stride_h), OP_DIVISOR(win->stride_w),
                     op_u32(win->pad_t), op_u32(win->pad_l), op_u32(win->dil_h), op_u32(win->dil_w));
}

int tensor_pool_avg_backward(const struct tensor *dy, const struct window *win, bool include_pad,
                             struct tensor *dx)
{
    const char *op = "pool_avg_backward";
    struct pool_shape s;
    int err = OP_CHECK_PRESENT(op, dy, dx);
    err = err ? err : pool_shape(op, dx, win, dy, &s);
    err = err ? err : check_average(op, dx, win);
    if (err)
        return err;
    uint32_t n = tensor_elements(dx);
    struct op_grid grid = op_grid_linear(dx->tc, n);
    return OP_LAUNCH(dx->tc, pool_avg_backward, grid, op_addr(dy), op_addr(dx), op_u32(n),
                     OP_DIVISOR(s.h * s.w), op_u32(s.h), OP_DIVISOR(s.w), op_u32(s.oh), op_u32(s.ow),
                     op_u32(win->kh), op_u32(win->kw), OP_DIVISOR(win->stride_h), OP_DIVISOR(win->stride_w),
                     op_u32(win->pad_t), op_u32(win->pad_l), op_u32(win->pad_b), op_u32(win->pad_r),
                     op_u32(include_pad));
}

int tensor_global_avg_backward(const struct tensor *dy, struct tensor *dx)
{
    const char *op = "global_avg_backward";
    int err = OP_CHECK_PRESENT(op, dy, dx);
    err = err ? err : op_check_rank(op, "dx", dx, 3, 5);
    err = err ? err : OP_CHECK_SHAPE(op, "dy", dy, TENSOR_F32, dx->dims[0], dx->dims[1]);
    if (err)
        return err;
    uint32_t n = tensor_elements(dx);
    struct op_grid grid = op_grid_linear(dx->tc, n);
    return OP_LAUNCH(dx->tc, global_avg_backward, grid, op_addr(dy), op_addr(dx), op_u32(n),
                     OP_DIVISOR(op_product(dx, 2, dx->rank)));
}
