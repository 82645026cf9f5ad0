/* SPDX-License-Identifier: MIT */
/* Convolutions: checks, and the choice of the way. */
#include "core/math.h"
#include "tensor_op.h"

/* Device memory the columns of im2col may take at a time; a batch that needs more is done in parts. */
#define COLUMNS_LIMIT (16u << 20)

/* The direct kernel's one launch beats the two that write columns and multiply them where there are few
 * products a result, or few output channels, and few products in all: columns cost the more the fewer
 * channels use them, but compiled they are faster from there on (docs/performance.md). */
#define DIRECT_REDUCTION 64u
#define DIRECT_CHANNELS  8u
#define DIRECT_PRODUCTS  (256u << 10)

static int check_window(const char *op, struct tensor_context *tc, const struct window *win)
{
    if (win->kh && win->kw && win->stride_h && win->stride_w && win->dil_h && win->dil_w)
        return 0;
    return op_fail(tc, -EINVAL, "%s: kernel %ux%u, stride %ux%u, dilation %ux%u: none may be 0", op, win->kh,
                   win->kw, win->stride_h, win->stride_w, win->dil_h, win->dil_w);
}

static int check_bias(const char *op, const struct tensor *bias, uint32_t channels)
{
    return bias ? OP_CHECK_SHAPE(op, "bias", bias, TENSOR_F32, channels) : 0;
}

/* The window over a plane of h x w: its positions, or -EINVAL. */
static int positions(const char *op, struct tensor_context *tc, const struct window *win, uint32_t h,
                     uint32_t w, uint32_t *oh, uint32_t *ow)
{
    int err = check_window(op, tc, win);
    if (err)
        return err;
    *oh = window_positions(h, win->kh, win->stride_h, win->dil_h, win->pad_t + win->pad_b, false);
    *ow = window_positions(w, win->kw, win->stride_w, win->dil_w, win->pad_l + win->pad_r, false);
    if (*oh && *ow)
        return 0;
    return op_fail(tc, -EINVAL, "%s: a %ux%u kernel does not fit a plane of %ux%u", op, win->kh, win->kw, h,
                   w);
}

/* Checks what forward and backward have in common, and fills s. */
static int conv_shape(const char *op, const struct tensor *x, const struct tensor *weight,
                      const struct conv_params *params, const struct tensor *y, struct conv_shape *s)
{
    struct tensor_context *tc = x->tc;
    int err = op_check_rank(op, "input", x, 4, 4);
    err = err ? err : op_check_rank(op, "weight", weight, 4, 4);
    if (err)
        return err;
    *s = (struct conv_shape){.n = x->dims[0],
                             .ic = x->dims[1],
                             .h = x->dims[2],
                             .w = x->dims[3],
                             .oc = weight->dims[0],
                             .groups = params->groups,
                             .win = params->win};
    if (s->groups == 0 || s->ic % s->groups || s->oc % s->groups)
        return op_fail(tc, -EINVAL, "%s: %u groups do not divide %u input and %u output channels", op,
                       s->groups, s->ic, s->oc);
    if (weight->dims[1] * s->groups != s->ic)
        return op_fail(tc, -EINVAL, "%s: weight expects %u input channels, input has %u", op,
                       weight->dims[1] * s->groups, s->ic);
    if (weight->dims[2] != s->win.kh || weight->dims[3] != s->win.kw)
        return op_fail(tc, -EINVAL, "%s: weight is %ux%u, the window %ux%u", op, weight->dims[2],
                       weight->dims[3], s->win.kh, s->win.kw);
    err = positions(op, tc, &s->win, s->h, s->w, &s->oh, &s->ow);
    return err ? err : OP_CHECK_SHAPE(op, "result", y, TENSOR_F32, s->n, s->oc, s->oh, s->ow);
}

static int conv_check(const char *op, const struct tensor *x, const struct tensor *weight,
                      const struct tensor *bias, const struct conv_params *params, const struct tensor *y,
                      struct conv_shape *s)
{
    int err = OP_CHECK_PRESENT(op, x, weight, y, bias ? bias : y);
    err = err ? err : conv_shape(op, x, weight, params, y, s);
    return err ? err : check_bias(op, bias, s->oc);
}

/* Items [first, first + s->n) of x into col. */
static int launch_im2col(const struct tensor *x, uint32_t first, const struct conv_shape *s,
                         struct tensor *col)
{
    const struct window *win = &s->win;
    struct op_grid grid = op_grid_planes(x->tc, s->oh * s->ow, s->ic, s->n);
    uint32_t item = s->ic * s->h * s->w;
    return OP_LAUNCH(x->tc, im2col, grid, op_addr_at(x, (size_t)first * item), op_addr(col), op_u32(s->ic),
                     op_u32(s->h), op_u32(s->w), op_u32(win->kh), op_u32(win->kw), op_u32(s->oh),
                     OP_DIVISOR(s->ow), op_u32(win->stride_h), op_u32(win->stride_w), op_u32(win->pad_t),
                     op_u32(win->pad_l), op_u32(win->dil_h), op_u32(win->dil_w), op_u32(item));
}

/* col into items [first, first + s->n) of x. */
static int launch_col2im(const struct tensor *col, const struct tensor *bias, const struct conv_shape *s,
                         enum activation activation, struct tensor *x, uint32_t first)
{
    const struct window *win = &s->win;
    struct op_grid grid = op_grid_planes(x->tc, s->h * s->w, s->ic, s->n);
    uint32_t item = s->ic * s->h * s->w;
    return OP_LAUNCH(x->tc, col2im, grid, op_addr(col), op_addr(bias), op_addr_at(x, (size_t)first * item),
                     op_u32(s->ic), op_u32(s->h), OP_DIVISOR(s->w), op_u32(win->kh), op_u32(win->kw),
                     op_u32(s->oh), op_u32(s->ow), OP_DIVISOR(win->stride_h), OP_DIVISOR(win->stride_w),
                     op_u32(win->pad_t), op_u32(win->pad_l), op_u32(win->dil_h), op_u32(win->dil_w),
                     op_u32(item), op_u32(activation));
}

/* The shape of im2col, x given. */
static int columns_shape(const char *op, const struct tensor *x, const struct window *win,
                         const struct tensor *col, struct conv_shape *s)
{
    int err = OP_CHECK_PRESENT(op, x, col);
    err = err ? err : op_check_rank(op, "image", x, 4, 4);
    if (err)
        return err;
    *s = (struct conv_shape){
        .n = x->dims[0], .ic = x->dims[1], .h = x->dims[2], .w = x->dims[3], .groups = 1, .win = *win};
    err = positions(op, x->tc, win, s->h, s->w, &s->oh, &s->ow);
    return err ? err
               : OP_CHECK_SHAPE(op, "columns", col, TENSOR_F32, s->n, s->ic * win->kh * win->kw,
                                s->oh * s->ow);
}

int tensor_im2col(const struct tensor *x, const struct window *win, struct tensor *col)
{
    struct conv_shape s;
    int err = columns_shape("im2col", x, win, col, &s);
    return err ? err : launch_im2col(x, 0, &s, col);
}

int tensor_col2im(const struct tensor *col, const struct window *win, const struct tensor *bias,
                  struct tensor *x)
{
    struct conv_shape s;
    int err = columns_shape("col2im", x, win, col, &s);
    err = err ? err : OP_CHECK_PRESENT("col2im", col, bias ? bias : x);
    err = err ? err : check_bias("col2im", bias, s.ic);
    return err ? err : launch_col2im(col, bias, &s, ACTIVATE_NONE, x, 0);
}

static int direct(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                  const struct conv_shape *s, enum activation activation, struct tensor *y)
{
    const struct window *win = &s->win;
    uint32_t oc_group = s->oc / s->groups;
    uint32_t blocks = (uint32_t)div_round_up(oc_group, CONV_CHANNELS);
    struct op_grid grid = op_grid_planes(x->tc, s->oh * s->ow, blocks * s->groups, s->n);
    grid.blocks[1] = blocks * s->groups; /* the kernel does not stride over these */
    return OP_LAUNCH(x->tc, conv2d, grid, op_addr(x), op_addr(weight), op_addr(bias), op_addr(y),
                     op_u32(s->groups), op_u32(s->ic / s->groups), op_u32(s->h), op_u32(s->w),
                     op_u32(oc_group), op_u32(win->kh), op_u32(win->kw), op_u32(s->oh), OP_DIVISOR(s->ow),
                     OP_DIVISOR(blocks), op_u32(win->stride_h), op_u32(win->stride_w), op_u32(win->pad_t),
                     op_u32(win->pad_l), op_u32(win->dil_h), op_u32(win->dil_w), op_u32(activation));
}

static int depthwise(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                     const struct conv_shape *s, enum activation activation, struct tensor *y)
{
    const struct window *win = &s->win;
    struct op_grid grid = op_grid_planes(x->tc, s->oh * s->ow, s->n * s->ic, 1);
    return OP_LAUNCH(x->tc, depthwise, grid, op_addr(x), op_addr(weight), op_addr(bias), op_addr(y),
                     op_u32(s->n * s->ic), OP_DIVISOR(s->ic), op_u32(s->h), op_u32(s->w), op_u32(win->kh),
                     op_u32(win->kw), op_u32(s->oh), OP_DIVISOR(s->ow), op_u32(win->stride_h),
                     op_u32(win->stride_w), op_u32(win->pad_t), op_u32(win->pad_l), op_u32(win->dil_h),
                     op_u32(win->dil_w), op_u32(activation));
}

/* Whether the columns of im2col would be x itself. */
static bool is_pointwise(const struct conv_shape *s)
{
    const struct window *w = &s->win;
    return w->kh == 1 && w->kw == 1 && w->stride_h == 1 && w->stride_w == 1 &&
           (w->pad_t | w->pad_l | w->pad_b | w->pad_r) == 0;
}

/* The product of one group: y items [first, first + s->n) = weight * columns. Columns start at item 0 of col.
 */
static int multiply_group(const struct tensor *weight, const struct tensor *bias, const struct tensor *col,
                          size_t col_offset, const struct conv_shape *s, uint32_t group,
                          enum activation activation, struct tensor *y, uint32_t first)
{
    uint32_t oc_group = s->oc / s->groups, pixels = s->oh * s->ow;
    uint32_t k = s->ic / s->groups * s->win.kh * s->win.kw;
    struct gemm_call call = {
        .a = weight,
        .b = col,
        .c = y,
        .bias = bias,
        .a_offset = (size_t)group * oc_group * k,
        .b_offset = col_offset + (size_t)group * k * pixels,
        .c_offset = ((size_t)first * s->oc + group * oc_group) * pixels,
        .bias_offset = (size_t)group * oc_group,
        .batch = s->n,
        .m = oc_group,
        .n = pixels,
        .k = k,
        .lda = k,
        .ldb = pixels,
        .ldc = pixels,
        .stride_b = s->groups * k * pixels,
        .stride_c = s->oc * pixels,
        .flags = SGEMM_BIAS_ROW,
        .activation = activation,
        .alpha = 1,
    };
    return op_gemm(y->tc, &call);
}

static int multiply(const struct tensor *weight, const struct tensor *bias, const struct tensor *col,
                    size_t col_offset, const struct conv_shape *s, enum activation activation,
                    struct tensor *y, uint32_t first)
{
    int err = 0;
    for (uint32_t group = 0; group < s->groups && !err; group++)
        err = multiply_group(weight, bias, col, col_offset, s, group, activation, y, first);
    return err;
}

/* Items whose columns fit COLUMNS_LIMIT, at least one. */
static uint32_t items_at_a_time(const struct conv_shape *s)
{
    uint64_t bytes = 4ull * s->ic * s->win.kh * s->win.kw * s->oh * s->ow;
    uint64_t items = COLUMNS_LIMIT / bytes;
    return items == 0 ? 1 : items < s->n ? (uint32_t)items : s->n;
}

/* Room for the columns of s->n items. */
static int create_columns(struct tensor_context *tc, const struct conv_shape *s, struct tensor *col)
{
    uint32_t dims[] = {s->n, s->ic * s->win.kh * s->win.kw, s->oh * s->ow};
    return tensor_create(tc, col, TENSOR_F32, 3, dims);
}

/* What is done with the columns of items [first, first + part->n). */
typedef int columns_step(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                         const struct conv_shape *part, enum activation activation, struct tensor *col,
                         struct tensor *y, uint32_t first);

/* The step for all of s->n items, as many at a time as COLUMNS_LIMIT has room for. */
static int through_columns(columns_step *step, const struct tensor *x, const struct tensor *weight,
                           const struct tensor *bias, const struct conv_shape *s, enum activation activation,
                           struct tensor *y)
{
    TENSOR(col);
    struct conv_shape part = *s;
    part.n = items_at_a_time(s);
    int err = create_columns(x->tc, &part, &col);
    for (uint32_t first = 0; first < s->n && !err; first += part.n) {
        if (part.n > s->n - first)
            part.n = s->n - first;
        err = step(x, weight, bias, &part, activation, &col, y, first);
    }
    return err;
}

static int gather(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                  const struct conv_shape *s, enum activation activation, struct tensor *col,
                  struct tensor *y, uint32_t first)
{
    int err = launch_im2col(x, first, s, col);
    return err ? err : multiply(weight, bias, col, 0, s, activation, y, first);
}

int tensor_conv2d(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                  const struct conv_params *params, struct tensor *y)
{
    struct conv_shape s;
    int err = conv_check("conv2d", x, weight, bias, params, y, &s);
    if (err)
        return err;
    if (s.groups == s.ic && s.ic == s.oc && s.groups > 1)
        return depthwise(x, weight, bias, &s, params->activation, y);
    if (is_pointwise(&s))
        return multiply(weight, bias, x, 0, &s, params->activation, y, 0);
    uint32_t reduction = s.ic / s.groups * s.win.kh * s.win.kw;
    bool few = (uint64_t)s.n * s.oc * s.oh * s.ow * reduction <= DIRECT_PRODUCTS;
    if (few && (reduction < DIRECT_REDUCTION || s.oc / s.groups <= DIRECT_CHANNELS))
        return direct(x, weight, bias, &s, params->activation, y);
    return through_columns(gather, x, weight, bias, &s, params->activation, y);
}

int tensor_conv2d_direct(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                         const struct conv_params *params, struct tensor *y)
{
    struct conv_shape s;
    int err = conv_check("conv2d_direct", x, weight, bias, params, y, &s);
    return err ? err : direct(x, weight, bias, &s, params->activation, y);
}

int tensor_conv2d_im2col(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                         const struct conv_params *params, struct tensor *y)
{
    struct conv_shape s;
    int err = conv_check("conv2d_im2col", x, weight, bias, params, y, &s);
    return err ? err : through_columns(gather, x, weight, bias, &s, params->activation, y);
}

int tensor_depthwise(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                     const struct conv_params *params, struct tensor *y)
{
    struct conv_shape s;
    int err = conv_check("depthwise", x, weight, bias, params, y, &s);
    if (err)
        return err;
    if (s.groups != s.ic || s.oc != s.ic)
        return op_fail(x->tc, -EINVAL, "depthwise: %u groups, %u input and %u output channels: must be equal",
                       s.groups, s.ic, s.oc);
    return depthwise(x, weight, bias, &s, params->activation, y);
}

/* ---- transposed ------------------------------------------------------------------------------------------
 */

/* A columns_step. The transpose of the convolution s: dx items [first, first + s->n) = activation(bias + the
 * columns weight^T dy, summed where they came from). bias may be NULL. */
static int spread(const struct tensor *dy, const struct tensor *weight, const struct tensor *bias,
                  const struct conv_shape *s, enum activation activation, struct tensor *col,
                  struct tensor *dx, uint32_t first)
{
    uint32_t oc_group = s->oc / s->groups, pixels = s->oh * s->ow;
    uint32_t k = s->ic / s->groups * s->win.kh * s->win.kw;
    int err = 0;
    for (uint32_t group = 0; group < s->groups && !err; group++) {
        struct gemm_call call = {
            .a = weight,
            .b = dy,
            .c = col,
            .a_offset = (size_t)group * oc_group * k,
            .b_offset = ((size_t)first * s->oc + group * oc_group) * pixels,
            .c_offset = (size_t)group * k * pixels,
            .batch = s->n,
            .m = k,
            .n = pixels,
            .k = oc_group,
            .lda = k,
            .ldb = pixels,
            .ldc = pixels,
            .stride_b = s->oc * pixels,
            .stride_c = s->groups * k * pixels,
            .flags = SGEMM_TRANS_A,
            .alpha = 1,
        };
        err = op_gemm(dx->tc, &call);
    }
    return err ? err : launch_col2im(col, bias, s, activation, dx, first);
}

int tensor_conv_transpose(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                          const struct conv_params *params, struct tensor *y)
{
    const char *op = "conv_transpose";
    int err = OP_CHECK_PRESENT(op, x, weight, y, bias ? bias : y);
    err = err ? err : op_check_rank(op, "input", x, 4, 4);
    err = err ? err : op_check_rank(op, "weight", weight, 4, 4);
    err = err ? err : op_check_rank(op, "result", y, 4, 4);
    err = err ? err : check_window(op, x->tc, &params->win);
    if (err)
        return err;
    const struct window *win = &params->win;
    uint32_t ic = x->dims[1], groups = params->groups, oc_group = weight->dims[1], oc = oc_group * groups;
    if (weight->dims[0] != ic || groups == 0 || ic % groups)
        return op_fail(x->tc, -EINVAL, "%s: weight expects %u input channels in %u groups, input has %u", op,
                       weight->dims[0], groups, ic);
    if (weight->dims[2] != win->kh || weight->dims[3] != win->kw || y->dims[0] != x->dims[0] ||
        y->dims[1] != oc)
        return op_fail(x->tc, -EINVAL, "%s: result is %ux%ux.., expected %ux%u", op, y->dims[0], y->dims[1],
                       x->dims[0], oc);
    err = check_bias(op, bias, oc);
    if (err)
        return err;
    struct conv_shape s = {.n = x->dims[0],
                           .ic = oc,
                           .h = y->dims[2],
                           .w = y->dims[3],
                           .oc = ic,
                           .oh = x->dims[2],
                           .ow = x->dims[3],
                           .groups = groups,
                           .win = *win};
    return through_columns(spread, x, weight, bias, &s, params->activation, y);
}

/* ---- gradients ------------------------------------------------------------------------------------------
 */

/* parts[item] = dy columns^T for items [first, first + s->n). */
static int weight_gradient_parts(const struct tensor *dy, const struct tensor *col,
                                 const struct conv_shape *s, struct tensor *parts, uint32_t first)
{
    uint32_t oc_group = s->oc / s->groups, pixels = s->oh * s->ow;
    uint32_t k = s->ic / s->groups * s->win.kh * s->win.kw;
    int err = 0;
    for (uint32_t group = 0; group < s->groups && !err; group++) {
        struct gemm_call call = {
            .a = dy,
            .b = col,
            .c = parts,
            .a_offset = ((size_t)first * s->oc + group * oc_group) * pixels,
            .b_offset = (size_t)group * k * pixels,
            .c_offset = ((size_t)first * s->oc + group * oc_group) * k,
            .batch = s->n,
            .m = oc_group,
            .n = k,
            .k = pixels,
            .lda = pixels,
            .ldb = pixels,
            .ldc = k,
            .stride_a = s->oc * pixels,
            .stride_b = s->groups * k * pixels,
            .stride_c = s->oc * k,
            .flags = SGEMM_TRANS_B,
            .alpha = 1,
        };
        err = op_gemm(dy->tc, &call);
    }
    return err;
}

static int sum_parts(const struct tensor *parts, struct tensor *dw)
{
    uint32_t cols = tensor_elements(dw);
    struct op_grid grid = op_grid_linear(dw->tc, cols);
    return OP_LAUNCH(dw->tc, sum_rows, grid, op_addr(parts), op_addr(dw), op_u32(parts->dims[0]),
                     op_u32(cols));
}

static int conv_gradients(const struct tensor *x, const struct tensor *weight, const struct tensor *dy,
                          const struct conv_shape *s, struct tensor *dx, struct tensor *dw)
{
    TENSOR(col);
    TENSOR(parts);
    struct conv_shape part = *s;
    part.n = items_at_a_time(s);
    int err = create_columns(x->tc, &part, &col);
    if (!err && dw)
        err = tensor_create(x->tc, &parts, TENSOR_F32, 2, (uint32_t[]){s->n, tensor_elements(dw)});
    for (uint32_t first = 0; first < s->n && !err; first += part.n) {
        if (part.n > s->n - first)
            part.n = s->n - first;
        if (dw) {
            err = launch_im2col(x, first, &part, &col);
            err = err ? err : weight_gradient_parts(dy, &col, &part, &parts, first);
        }
        if (!err && dx)
            err = spread(dy, weight, NULL, &part, ACTIVATE_NONE, &col, dx, first);
    }
    return err || !dw ? err : sum_parts(&parts, dw);
}

int tensor_conv2d_backward(const struct tensor *x, const struct tensor *weight, const struct tensor *dy,
                           const struct conv_params *params, struct tensor *dx, struct tensor *dw,
                           struct tensor *db)
{
    const char *op = "conv2d_backward";
    struct conv_shape s;
    int err = conv_check(op, x, weight, NULL, params, dy, &s);
    err = err || !dx ? err : OP_CHECK_PRESENT(op, dx);
    err = err || !dx ? err : op_check_same(op, "dx", dx, x);
    err = err || !dw ? err : OP_CHECK_PRESENT(op, dw);
    err = err || !dw ? err : op_check_same(op, "dw", dw, weight);
    if (!err && (dx || dw))
        err = conv_gradients(x, weight, dy, &s, dx, dw);
    return err || !db ? err : tensor_bias_backward(dy, db);
}
