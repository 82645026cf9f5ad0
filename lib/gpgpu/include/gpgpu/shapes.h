/* SPDX-License-Identifier: MIT */
/* Shapes of windows over planes, shared by operators and their CPU references. All NCHW. */
#ifndef GPGPU_SHAPES_H
#define GPGPU_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

/* Fused into sgemm and the convolutions, applied to the result. gelu is the erf form. */
enum activation {
    ACTIVATE_NONE,
    ACTIVATE_RELU,
    ACTIVATE_SILU,
    ACTIVATE_GELU,
    ACTIVATE_SIGMOID,
    ACTIVATE_TANH
};

/* How a window moves. The meaning is ONNX's for Conv, MaxPool and AveragePool. */
struct window {
    uint32_t kh, kw;
    uint32_t stride_h, stride_w;
    uint32_t dil_h, dil_w;
    uint32_t pad_t, pad_l, pad_b, pad_r;
};

/* kh x kw, stride 1, dilation 1, no padding. */
static inline struct window window(uint32_t kh, uint32_t kw)
{
    return (struct window){.kh = kh, .kw = kw, .stride_h = 1, .stride_w = 1, .dil_h = 1, .dil_w = 1};
}

/* Positions of a window along an axis of `size` with padding `pad` in total, floor or ceiling; 0: the window
 * does not fit. */
static inline uint32_t window_positions(uint32_t size, uint32_t k, uint32_t stride, uint32_t dil,
                                        uint32_t pad, bool ceiling)
{
    uint64_t extent = (uint64_t)dil * (k - 1) + 1, padded = (uint64_t)size + pad;
    if (padded < extent)
        return 0;
    return (uint32_t)((padded - extent + (ceiling ? stride - 1 : 0)) / stride + 1);
}

/* Convolution of x [n][ic][h][w] with weight [oc][ic / groups][kh][kw] into y [n][oc][oh][ow]. A transposed
 * convolution has weight [ic][oc / groups][kh][kw]. */
struct conv_shape {
    uint32_t n, ic, h, w, oc, oh, ow;
    uint32_t groups;
    struct window win;
};

/* Pooling of planes x [planes][h][w] into [planes][oh][ow]. */
struct pool_shape {
    uint32_t planes, h, w, oh, ow;
    struct window win;
    bool include_pad; /* average: count the padding, not what lies beyond it */
};

/* C [batch][m][n] = activation(alpha op(A) op(B) + beta C + bias); A is [m][k], or [k][m] if trans_a; B
 * [k][n] or [n][k]. A or B without a batch is used for every item. */
struct gemm_shape {
    uint32_t batch, m, n, k;
    bool trans_a, trans_b, batched_a, batched_b;
    bool bias_per_row; /* bias has m elements; else n */
    float alpha, beta;
    enum activation activation;
};

/*
 * Nearest-neighbour resizing: y[oy][ox] = x[round((oy + before) / factor_y + after)][...], rounding down, or
 * up, into the plane. ONNX's coordinate and rounding modes all have this form. It is a quotient, not a
 * product with the inverse, so that positions half-way between two elements are met exactly.
 */
struct resize_shape {
    uint32_t planes, h, w, oh, ow;
    float factor_y, factor_x, before, after;
    bool ceiling;
};

enum pad_mode { PAD_WITH_VALUE, PAD_WITH_EDGE, PAD_WITH_REFLECTION };

/* ONNX Resize's coordinate_transformation_mode and nearest_mode. PyTorch's and Paddle's "nearest" is
 * asymmetric and floor. */
enum resize_coordinates { RESIZE_ASYMMETRIC, RESIZE_HALF_PIXEL, RESIZE_ALIGN_CORNERS };
enum resize_rounding { RESIZE_FLOOR, RESIZE_CEIL, RESIZE_PREFER_FLOOR, RESIZE_PREFER_CEIL };

/* Output positions an input position, along one axis; given: the caller's factor, 0: out / in. */
static inline float resize_factor(uint32_t in, uint32_t out, float given, enum resize_coordinates coordinates)
{
    if (coordinates == RESIZE_ALIGN_CORNERS)
        return out > 1 ? (float)(out - 1) / (float)(in - 1) : 1;
    return given != 0 ? given : (float)out / (float)in;
}

static inline struct resize_shape resize_nearest(uint32_t planes, uint32_t h, uint32_t w, uint32_t oh,
                                                 uint32_t ow, enum resize_coordinates coordinates,
                                                 enum resize_rounding rounding, float factor_h,
                                                 float factor_w)
{
    struct resize_shape s = {.planes = planes, .h = h, .w = w, .oh = oh, .ow = ow};
    s.factor_y = resize_factor(h, oh, factor_h, coordinates);
    s.factor_x = resize_factor(w, ow, factor_w, coordinates);
    if (coordinates == RESIZE_HALF_PIXEL)
        s.before = 0.5f, s.after = -0.5f;
    if (rounding == RESIZE_PREFER_FLOOR) /* ceil(v - 1/2) */
        s.after -= 0.5f;
    if (rounding == RESIZE_PREFER_CEIL) /* floor(v + 1/2) */
        s.after += 0.5f;
    s.ceiling = rounding == RESIZE_CEIL || rounding == RESIZE_PREFER_FLOOR;
    return s;
}

/* Padding of [planes][h][w] by rows and columns on each side; negative crops. */
struct pad_shape {
    uint32_t planes, h, w;
    int32_t top, left, bottom, right;
    enum pad_mode mode;
    float value;
};

#endif
