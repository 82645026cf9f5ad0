/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "gpgpu/reference.h"
#include "hal/thread.h"

/* Position in the input of tap k at output position o; negative or past the end: in the padding. */
static int64_t input_at(uint32_t o, uint32_t stride, uint32_t k, uint32_t dil, uint32_t pad)
{
    return (int64_t)o * stride + (int64_t)k * dil - pad;
}

/* Index in a plane of h x w of tap (ky, kx) at output (oy, ox), -1 in the padding. */
static int64_t plane_index(const struct conv_shape *s, uint32_t oy, uint32_t ox, uint32_t ky, uint32_t kx)
{
    const struct window *win = &s->win;
    int64_t y = input_at(oy, win->stride_h, ky, win->dil_h, win->pad_t);
    int64_t x = input_at(ox, win->stride_w, kx, win->dil_w, win->pad_l);
    return y < 0 || y >= s->h || x < 0 || x >= s->w ? -1 : y * s->w + x;
}

void ref_im2col(const struct conv_shape *s, const float *x, float *col)
{
    for (uint32_t plane = 0; plane < s->n * s->ic; plane++, x += (size_t)s->h * s->w)
        for (uint32_t ky = 0; ky < s->win.kh; ky++)
            for (uint32_t kx = 0; kx < s->win.kw; kx++)
                for (uint32_t oy = 0; oy < s->oh; oy++)
                    for (uint32_t ox = 0; ox < s->ow; ox++) {
                        int64_t at = plane_index(s, oy, ox, ky, kx);
                        *col++ = at < 0 ? 0 : x[at];
                    }
}

/* Sum of the columns' elements that tap position `at` of a plane was copied to. */
static double col_sum(const struct conv_shape *s, const float *col, int64_t at)
{
    double sum = 0;
    for (uint32_t ky = 0; ky < s->win.kh; ky++)
        for (uint32_t kx = 0; kx < s->win.kw; kx++)
            for (uint32_t oy = 0; oy < s->oh; oy++)
                for (uint32_t ox = 0; ox < s->ow; ox++, col++)
                    if (plane_index(s, oy, ox, ky, kx) == at)
                        sum += *col;
    return sum;
}

void ref_col2im(const struct conv_shape *s, const float *col, const float *bias, float *x)
{
    size_t area = (size_t)s->h * s->w, columns = (size_t)s->win.kh * s->win.kw * s->oh * s->ow;
    for (size_t plane = 0; plane < (size_t)s->n * s->ic; plane++)
        for (size_t at = 0; at < area; at++) {
            double first = bias ? bias[plane % s->ic] : 0;
            x[plane * area + at] = (float)(first + col_sum(s, col + plane * columns, (int64_t)at));
        }
}

/* One output of the convolution without bias. */
static double conv_at(const struct conv_shape *s, const float *x, const float *weight, uint32_t item,
                      uint32_t oc, uint32_t oy, uint32_t ox)
{
    uint32_t ic_group = s->ic / s->groups, group = oc / (s->oc / s->groups);
    double sum = 0;
    for (uint32_t c = 0; c < ic_group; c++) {
        const float *plane = x + ((size_t)item * s->ic + group * ic_group + c) * s->h * s->w;
        const float *tap = weight + ((size_t)oc * ic_group + c) * s->win.kh * s->win.kw;
        for (uint32_t ky = 0; ky < s->win.kh; ky++)
            for (uint32_t kx = 0; kx < s->win.kw; kx++, tap++) {
                int64_t at = plane_index(s, oy, ox, ky, kx);
                if (at >= 0)
                    sum += (double)plane[at] * *tap;
            }
    }
    return sum;
}

/* y [n][oc][oh][ow] of x [n][ic][h][w]: x's pixel spreads over a window of y, so a window of the transposed
 * problem (over y) has its position at x's pixel. */
static double transpose_at(const struct conv_shape *s, const float *x, const float *weight, uint32_t item,
                           uint32_t oc, uint32_t oy, uint32_t ox)
{
    const struct window *win = &s->win;
    uint32_t ic_group = s->ic / s->groups, oc_group = s->oc / s->groups, group = oc / oc_group;
    double sum = 0;
    for (uint32_t c = 0; c < ic_group; c++) {
        uint32_t ic = group * ic_group + c;
        const float *plane = x + ((size_t)item * s->ic + ic) * s->h * s->w;
        const float *tap = weight + ((size_t)ic * oc_group + oc % oc_group) * win->kh * win->kw;
        for (uint32_t iy = 0; iy < s->h; iy++)
            for (uint32_t ix = 0; ix < s->w; ix++)
                for (uint32_t ky = 0; ky < win->kh; ky++)
                    for (uint32_t kx = 0; kx < win->kw; kx++)
                        if (input_at(iy, win->stride_h, ky, win->dil_h, win->pad_t) == oy &&
                            input_at(ix, win->stride_w, kx, win->dil_w, win->pad_l) == ox)
                            sum += (double)plane[iy * s->w + ix] * tap[ky * win->kw + kx];
    }
    return sum;
}

struct convolution {
    const struct conv_shape *shape;
    const float *x, *weight, *bias;
    enum activation activation;
    float *y;
    double (*at)(const struct conv_shape *s, const float *x, const float *weight, uint32_t item, uint32_t oc,
                 uint32_t oy, uint32_t ox); /* one output without bias */
};

/* Output channels `begin` to `end` - 1, counted through all items. */
static void channels(size_t begin, size_t end, void *convolution)
{
    const struct convolution *c = convolution;
    const struct conv_shape *s = c->shape;
    float *y = c->y + begin * s->oh * s->ow;
    for (size_t channel = begin; channel < end; channel++)
        for (uint32_t oy = 0; oy < s->oh; oy++)
            for (uint32_t ox = 0; ox < s->ow; ox++) {
                uint32_t item = (uint32_t)(channel / s->oc), oc = (uint32_t)(channel % s->oc);
                double v = c->at(s, c->x, c->weight, item, oc, oy, ox) + (c->bias ? c->bias[oc] : 0);
                *y++ = (float)ref_activation(c->activation, v);
            }
}

void ref_conv2d(const struct conv_shape *s, const float *x, const float *weight, const float *bias,
                enum activation activation, float *y)
{
    struct convolution convolution = {s, x, weight, bias, activation, y, conv_at};
    parallel_for((size_t)s->n * s->oc, channels, &convolution);
}

void ref_conv_transpose(const struct conv_shape *s, const float *x, const float *weight, const float *bias,
                        enum activation activation, float *y)
{
    struct convolution convolution = {s, x, weight, bias, activation, y, transpose_at};
    parallel_for((size_t)s->n * s->oc, channels, &convolution);
}

/* dw[oc][c][ky][kx]: what that weight was multiplied with. */
static double weight_gradient(const struct conv_shape *s, const float *x, const float *dy, uint32_t oc,
                              uint32_t c, uint32_t ky, uint32_t kx)
{
    uint32_t ic = oc / (s->oc / s->groups) * (s->ic / s->groups) + c;
    double sum = 0;
    for (uint32_t item = 0; item < s->n; item++)
        for (uint32_t oy = 0; oy < s->oh; oy++)
            for (uint32_t ox = 0; ox < s->ow; ox++) {
                int64_t at = plane_index(s, oy, ox, ky, kx);
                if (at >= 0)
                    sum += (double)x[((size_t)item * s->ic + ic) * s->h * s->w + (size_t)at] *
                           dy[(((size_t)item * s->oc + oc) * s->oh + oy) * s->ow + ox];
            }
    return sum;
}

void ref_conv2d_backward(const struct conv_shape *s, const float *x, const float *weight, const float *dy,
                         float *dx, float *dw, float *db)
{
    /* The input's gradient is the transposed convolution of dy with the same weight. */
    struct conv_shape t = *s;
    t.ic = s->oc, t.h = s->oh, t.w = s->ow;
    t.oc = s->ic, t.oh = s->h, t.ow = s->w;
    ref_conv_transpose(&t, dy, weight, NULL, ACTIVATE_NONE, dx);
    for (uint32_t oc = 0; oc < s->oc; oc++)
        for (uint32_t c = 0; c < s->ic / s->groups; c++)
            for (uint32_t ky = 0; ky < s->win.kh; ky++)
                for (uint32_t kx = 0; kx < s->win.kw; kx++)
                    *dw++ = (float)weight_gradient(s, x, dy, oc, c, ky, kx);
    ref_bias_backward(s->n, s->oc, s->oh * s->ow, dy, db);
}
