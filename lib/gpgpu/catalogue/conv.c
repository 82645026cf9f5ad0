/* SPDX-License-Identifier: MIT */
/* Catalogue: convolutions. */
#include "entry.h"

/* n, channels and plane of x, output channels, then the window; bias and activation last. */
enum { B, IC, H, W, OC, KH, KW, SH, SW, DH, DW, PT, PL, PB, PR, GROUPS, BIAS, ACTIVATION, EXTRA_H, EXTRA_W };
#define CONV_PARAMS                                                                                          \
    "n ic h w oc kh kw stride_h stride_w dil_h dil_w pad_t pad_l pad_b pad_r groups bias activation"

static struct window window_of(const uint32_t *p)
{
    return (struct window){p[KH], p[KW], p[SH], p[SW], p[DH], p[DW], p[PT], p[PL], p[PB], p[PR]};
}

static struct conv_params params_of(const uint32_t *p)
{
    return (struct conv_params){window_of(p), p[GROUPS], p[ACTIVATION]};
}

static struct conv_shape shape_of(const uint32_t *p)
{
    return (struct conv_shape){
        .n = p[B],
        .ic = p[IC],
        .h = p[H],
        .w = p[W],
        .oc = p[OC],
        .oh = window_positions(p[H], p[KH], p[SH], p[DH], p[PT] + p[PB], false),
        .ow = window_positions(p[W], p[KW], p[SW], p[DW], p[PL] + p[PR], false),
        .groups = p[GROUPS],
        .win = window_of(p),
    };
}

static void conv_io(const uint32_t *p, struct catalogue_io *io)
{
    struct conv_shape s = shape_of(p);
    add_in(io, INPUT("x", s.n, s.ic, s.h, s.w));
    add_in(io, INPUT("weight", s.oc, s.ic / s.groups, p[KH], p[KW]));
    add_in(io, INPUT("bias", s.oc));
    add_out(io, INPUT("y", s.n, s.oc, s.oh, s.ow));
}

static int conv_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct conv_params params = params_of(p);
    return tensor_conv2d(&in[0], &in[1], optional(p[BIAS], &in[2]), &params, &out[0]);
}

static int direct_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct conv_params params = params_of(p);
    return tensor_conv2d_direct(&in[0], &in[1], optional(p[BIAS], &in[2]), &params, &out[0]);
}

static int columns_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct conv_params params = params_of(p);
    return tensor_conv2d_im2col(&in[0], &in[1], optional(p[BIAS], &in[2]), &params, &out[0]);
}

static void conv_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct conv_shape s = shape_of(p);
    ref_conv2d(&s, in[0], in[1], p[BIAS] ? in[2] : NULL, p[ACTIVATION], out[0]);
}

static double conv_terms(const uint32_t *p)
{
    return p[IC] / p[GROUPS] * p[KH] * p[KW] + 1.0;
}

static double conv_flops(const uint32_t *p)
{
    struct conv_shape s = shape_of(p);
    return 2.0 * s.n * s.oc * s.oh * s.ow * (conv_terms(p) - 1);
}

static const struct catalogue_case conv_bench[] = {
    {"recogniser, stem", {1, 3, 48, 320, 16, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, ACTIVATE_RELU}},
    {"recogniser, 1x1", {1, 64, 24, 160, 128, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, ACTIVATE_RELU}},
    {"detector, neck", {1, 96, 80, 80, 24, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ACTIVATE_NONE}},
};
static const struct catalogue_case conv_test[] = {
    {"one pixel", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, ACTIVATE_NONE}},
    {"direct", {2, 3, 11, 13, 5, 3, 3, 2, 1, 1, 1, 1, 0, 1, 2, 1, 1, ACTIVATE_RELU}},
    {"im2col", {3, 12, 9, 7, 17, 3, 3, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, ACTIVATE_SILU}},
    {"1x1", {2, 19, 5, 7, 23, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, ACTIVATE_NONE}},
    {"dilated", {1, 10, 15, 14, 11, 3, 2, 1, 1, 2, 3, 2, 3, 2, 0, 1, 0, ACTIVATE_NONE}},
    {"groups", {2, 6, 8, 9, 9, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, ACTIVATE_RELU}},
    {"groups, im2col", {2, 48, 5, 6, 36, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, ACTIVATE_NONE}},
    {"depthwise", {2, 5, 10, 11, 5, 5, 3, 2, 1, 1, 1, 2, 1, 2, 1, 5, 1, ACTIVATE_TANH}},
    {"kernel as large as the plane", {2, 4, 5, 6, 3, 5, 6, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, ACTIVATE_GELU}},
};

#define CONV_ENTRY(label, text, runs)                                                                        \
    const struct catalogue_entry catalogue_##label = {                                                       \
        .name = #label,                                                                                      \
        .summary = text,                                                                                     \
        .params = CONV_PARAMS,                                                                               \
        .bench = conv_bench,                                                                                 \
        .test = conv_test,                                                                                   \
        .ntests = COUNT(conv_test),                                                                          \
        .io = conv_io,                                                                                       \
        .run = runs,                                                                                         \
        .reference = conv_reference,                                                                         \
        .flops = conv_flops,                                                                                 \
        .terms = conv_terms,                                                                                 \
        .magnitude = 1,                                                                                      \
        .ulps = 16,                                                                                          \
        .reason = "a sum of ic/groups kh kw products, each at most 1",                                       \
    }

CONV_ENTRY(conv2d, "convolution, the way chosen by shape", conv_run);
CONV_ENTRY(conv2d_direct, "convolution without intermediate memory", direct_run);
CONV_ENTRY(conv2d_im2col, "convolution as a product with im2col's columns", columns_run);

/* ---- depthwise ------------------------------------------------------------------------------------------
 */

static int depthwise_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct conv_params params = params_of(p);
    return tensor_depthwise(&in[0], &in[1], optional(p[BIAS], &in[2]), &params, &out[0]);
}

static const struct catalogue_case depthwise_bench[] = {
    {"recogniser, stage 2", {1, 64, 24, 160, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 64, 1, ACTIVATE_RELU}},
    {"recogniser, stage 5", {1, 256, 6, 160, 256, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2, 256, 1, ACTIVATE_RELU}},
    {"detector, stage 3", {1, 96, 80, 80, 96, 5, 5, 2, 2, 1, 1, 2, 2, 2, 2, 96, 1, ACTIVATE_RELU}},
};
static const struct catalogue_case depthwise_test[] = {
    {"odd", {2, 3, 7, 9, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, ACTIVATE_RELU}},
    {"strided", {1, 7, 12, 5, 7, 5, 5, 2, 1, 1, 1, 2, 2, 2, 2, 7, 0, ACTIVATE_SILU}},
    {"dilated", {1, 2, 9, 40, 2, 3, 3, 1, 1, 2, 2, 0, 2, 0, 2, 2, 1, ACTIVATE_NONE}},
};
const struct catalogue_entry catalogue_depthwise = {
    .name = "depthwise",
    .summary = "convolution with one filter a channel",
    .params = CONV_PARAMS,
    .bench = depthwise_bench,
    .test = depthwise_test,
    .ntests = COUNT(depthwise_test),
    .io = conv_io,
    .run = depthwise_run,
    .reference = conv_reference,
    .flops = conv_flops,
    .terms = conv_terms,
    .magnitude = 1,
    .ulps = 16,
    .reason = "a sum of kh kw products, each at most 1",
};

/* ---- im2col and back ------------------------------------------------------------------------------------
 */

static void im2col_io(const uint32_t *p, struct catalogue_io *io)
{
    struct conv_shape s = shape_of(p);
    add_in(io, INPUT("x", s.n, s.ic, s.h, s.w));
    add_out(io, INPUT("col", s.n, s.ic * p[KH] * p[KW], s.oh * s.ow));
}

static int im2col_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct window win = window_of(p);
    return tensor_im2col(&in[0], &win, &out[0]);
}

static void im2col_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct conv_shape s = shape_of(p);
    ref_im2col(&s, in[0], out[0]);
}

static double no_flops(const uint32_t *p)
{
    (void)p;
    return 0;
}

const struct catalogue_entry catalogue_im2col = {
    .name = "im2col",
    .summary = "every window of x as a column",
    .params = CONV_PARAMS,
    .bench = conv_bench,
    .test = conv_test,
    .ntests = COUNT(conv_test),
    .io = im2col_io,
    .run = im2col_run,
    .reference = im2col_reference,
    .flops = no_flops,
    .reason = "moves data: exact",
};

static void col2im_io(const uint32_t *p, struct catalogue_io *io)
{
    struct conv_shape s = shape_of(p);
    add_in(io, INPUT("col", s.n, s.ic * p[KH] * p[KW], s.oh * s.ow));
    add_in(io, INPUT("bias", s.ic));
    add_out(io, INPUT("x", s.n, s.ic, s.h, s.w));
}

static int col2im_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct window win = window_of(p);
    return tensor_col2im(&in[0], &win, optional(p[BIAS], &in[1]), &out[0]);
}

static void col2im_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct conv_shape s = shape_of(p);
    ref_col2im(&s, in[0], p[BIAS] ? in[1] : NULL, out[0]);
}

static double col2im_terms(const uint32_t *p)
{
    return p[KH] * p[KW] + 1.0;
}

static double col2im_flops(const uint32_t *p)
{
    struct conv_shape s = shape_of(p);
    return (double)s.n * s.ic * p[KH] * p[KW] * s.oh * s.ow;
}

const struct catalogue_entry catalogue_col2im = {
    .name = "col2im",
    .summary = "the transpose of im2col: sums columns where they came from",
    .params = CONV_PARAMS,
    .bench = conv_bench,
    .test = conv_test,
    .ntests = COUNT(conv_test),
    .io = col2im_io,
    .run = col2im_run,
    .reference = col2im_reference,
    .flops = col2im_flops,
    .terms = col2im_terms,
    .magnitude = 1,
    .ulps = 4,
    .reason = "a sum of at most kh kw values, each at most 1",
};

/* ---- transposed -----------------------------------------------------------------------------------------
 */

/* Size of a transposed convolution's result along one axis. */
static uint32_t transposed(uint32_t size, uint32_t k, uint32_t stride, uint32_t dil, uint32_t pad,
                           uint32_t extra)
{
    return (size - 1) * stride + dil * (k - 1) + 1 + extra - pad;
}

static struct conv_shape transpose_shape(const uint32_t *p)
{
    struct conv_shape s = shape_of(p);
    s.oh = transposed(p[H], p[KH], p[SH], p[DH], p[PT] + p[PB], p[EXTRA_H]);
    s.ow = transposed(p[W], p[KW], p[SW], p[DW], p[PL] + p[PR], p[EXTRA_W]);
    return s;
}

static void transpose_io(const uint32_t *p, struct catalogue_io *io)
{
    struct conv_shape s = transpose_shape(p);
    add_in(io, INPUT("x", s.n, s.ic, s.h, s.w));
    add_in(io, INPUT("weight", s.ic, s.oc / s.groups, p[KH], p[KW]));
    add_in(io, INPUT("bias", s.oc));
    add_out(io, INPUT("y", s.n, s.oc, s.oh, s.ow));
}

static int transpose_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct conv_params params = params_of(p);
    return tensor_conv_transpose(&in[0], &in[1], optional(p[BIAS], &in[2]), &params, &out[0]);
}

static void transpose_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct conv_shape s = transpose_shape(p);
    ref_conv_transpose(&s, in[0], in[1], p[BIAS] ? in[2] : NULL, p[ACTIVATION], out[0]);
}

static double transpose_flops(const uint32_t *p)
{
    return 2.0 * p[B] * p[IC] * p[H] * p[W] * (p[OC] / p[GROUPS]) * p[KH] * p[KW];
}

static const struct catalogue_case transpose_bench[] = {
    {"detector, head 1", {1, 24, 160, 160, 24, 2, 2, 2, 2, 1, 1, 0, 0, 0, 0, 1, 1, ACTIVATE_RELU, 0, 0}},
    {"detector, head 2", {1, 24, 320, 320, 1, 2, 2, 2, 2, 1, 1, 0, 0, 0, 0, 1, 1, ACTIVATE_SIGMOID, 0, 0}},
    {"detector, neck", {1, 96, 40, 40, 24, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, ACTIVATE_NONE, 1, 1}},
};
static const struct catalogue_case transpose_test[] = {
    {"upsampling", {2, 3, 5, 7, 4, 2, 2, 2, 2, 1, 1, 0, 0, 0, 0, 1, 1, ACTIVATE_RELU, 0, 0}},
    {"stride 1", {1, 2, 4, 5, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, ACTIVATE_NONE, 0, 0}},
    {"padded", {1, 3, 6, 5, 2, 4, 3, 2, 3, 1, 1, 1, 0, 2, 1, 1, 1, ACTIVATE_SIGMOID, 1, 2}},
    {"dilated", {1, 2, 4, 3, 2, 2, 3, 1, 2, 2, 2, 0, 1, 0, 1, 1, 1, ACTIVATE_NONE, 0, 0}},
    {"groups", {2, 6, 3, 4, 4, 3, 2, 2, 2, 1, 1, 0, 0, 0, 0, 2, 1, ACTIVATE_NONE, 0, 0}},
};
const struct catalogue_entry catalogue_conv_transpose = {
    .name = "conv_transpose",
    .summary = "transposed convolution",
    .params = CONV_PARAMS " extra_h extra_w",
    .bench = transpose_bench,
    .test = transpose_test,
    .ntests = COUNT(transpose_test),
    .io = transpose_io,
    .run = transpose_run,
    .reference = transpose_reference,
    .flops = transpose_flops,
    .terms = conv_terms,
    .magnitude = 1,
    .ulps = 16,
    .reason = "a sum of at most ic/groups kh kw products, each at most 1",
};

/* ---- gradients ------------------------------------------------------------------------------------------
 */

static void conv_backward_io(const uint32_t *p, struct catalogue_io *io)
{
    struct conv_shape s = shape_of(p);
    add_in(io, INPUT("x", s.n, s.ic, s.h, s.w));
    add_in(io, INPUT("weight", s.oc, s.ic / s.groups, p[KH], p[KW]));
    add_in(io, INPUT("dy", s.n, s.oc, s.oh, s.ow));
    add_out(io, INPUT("dx", s.n, s.ic, s.h, s.w));
    add_out(io, INPUT("dw", s.oc, s.ic / s.groups, p[KH], p[KW]));
    add_out(io, INPUT("db", s.oc));
}

static int conv_backward_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct conv_params params = params_of(p);
    return tensor_conv2d_backward(&in[0], &in[1], &in[2], &params, &out[0], &out[1], &out[2]);
}

static void conv_backward_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct conv_shape s = shape_of(p);
    ref_conv2d_backward(&s, in[0], in[1], in[2], out[0], out[1], out[2]);
}

static double conv_backward_terms(const uint32_t *p)
{
    struct conv_shape s = shape_of(p);
    double dw = (double)s.n * s.oh * s.ow, dx = (double)p[OC] / p[GROUPS] * p[KH] * p[KW];
    return dw > dx ? dw : dx;
}

static double conv_backward_flops(const uint32_t *p)
{
    return 2 * conv_flops(p);
}

static const struct catalogue_case conv_backward_bench[] = {
    {"classifier, layer 1", {16, 1, 28, 28, 6, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, ACTIVATE_NONE}},
    {"classifier, layer 2", {16, 6, 14, 14, 16, 5, 5, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, ACTIVATE_NONE}},
    {"recogniser, 3x3", {1, 64, 12, 80, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ACTIVATE_NONE}},
};
const struct catalogue_entry catalogue_conv2d_backward = {
    .name = "conv2d_backward",
    .summary = "gradients of conv2d by input, weight and bias",
    .params = CONV_PARAMS,
    .bench = conv_backward_bench,
    .test = conv_test,
    .ntests = COUNT(conv_test),
    .io = conv_backward_io,
    .run = conv_backward_run,
    .reference = conv_backward_reference,
    .flops = conv_backward_flops,
    .terms = conv_backward_terms,
    .magnitude = 1,
    .ulps = 4,
    .reason = "sums of n oh ow or of oc/groups kh kw products, each at most 1",
};
