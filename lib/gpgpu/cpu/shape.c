/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "gpgpu/reference.h"

void ref_zero_cols(uint32_t items, uint32_t rows, uint32_t w, const int32_t *valid, float *x)
{
    for (uint32_t item = 0; item < items; item++)
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t col = 0; col < w; col++, x++)
                if ((int32_t)col >= valid[item])
                    *x = 0;
}

void ref_pad_rb(uint32_t planes, uint32_t h, uint32_t w, uint32_t oh, uint32_t ow, const float *x, float *y)
{
    struct pad_shape s = {planes, h, w, 0, 0, (int32_t)(oh - h), (int32_t)(ow - w), PAD_WITH_VALUE, 0};
    ref_pad_all(&s, x, y);
}

/* Where in 0 .. size-1 position v shows, -1: nowhere. */
static int64_t source(int64_t v, int64_t size, enum pad_mode mode)
{
    if (v >= 0 && v < size)
        return v;
    if (mode == PAD_WITH_VALUE)
        return -1;
    if (mode == PAD_WITH_EDGE)
        return v < 0 ? 0 : size - 1;
    return v < 0 ? -v : 2 * (size - 1) - v;
}

void ref_pad_all(const struct pad_shape *s, const float *x, float *y)
{
    int64_t oh = (int64_t)s->h + s->top + s->bottom, ow = (int64_t)s->w + s->left + s->right;
    for (uint32_t plane = 0; plane < s->planes; plane++)
        for (int64_t oy = 0; oy < oh; oy++)
            for (int64_t ox = 0; ox < ow; ox++) {
                int64_t iy = source(oy - s->top, s->h, s->mode), ix = source(ox - s->left, s->w, s->mode);
                *y++ = iy < 0 || ix < 0 ? s->value : x[((int64_t)plane * s->h + iy) * s->w + ix];
            }
}

void ref_crop_cols(uint32_t rows, uint32_t w, uint32_t left, uint32_t ow, const float *x, float *y)
{
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t col = 0; col < ow; col++)
            *y++ = x[(size_t)row * w + left + col];
}

void ref_copy_part(uint32_t outer, uint32_t inner, const float *x, uint32_t x_len, uint32_t x_from, float *y,
                   uint32_t y_len, uint32_t y_from, uint32_t count)
{
    for (size_t o = 0; o < outer; o++)
        for (size_t p = 0; p < count; p++)
            for (size_t i = 0; i < inner; i++)
                y[(o * y_len + y_from + p) * inner + i] = x[(o * x_len + x_from + p) * inner + i];
}

/* In float, as the operator defines it: a position at a half must fall on the same side everywhere. */
static uint32_t nearest(uint32_t o, float factor, const struct resize_shape *s, uint32_t size)
{
    float v = ((float)o + s->before) / factor + s->after;
    float r = s->ceiling ? ceilf(v) : floorf(v);
    return r<0 ? 0 : r>(float)(size - 1) ? size - 1 : (uint32_t)r;
}

void ref_interp_nearest(const struct resize_shape *s, const float *x, float *y)
{
    for (uint32_t plane = 0; plane < s->planes; plane++)
        for (uint32_t oy = 0; oy < s->oh; oy++)
            for (uint32_t ox = 0; ox < s->ow; ox++) {
                size_t iy = nearest(oy, s->factor_y, s, s->h), ix = nearest(ox, s->factor_x, s, s->w);
                *y++ = x[((size_t)plane * s->h + iy) * s->w + ix];
            }
}

void ref_chw_to_seq(uint32_t items, uint32_t channels, uint32_t pixels, const float *x, float *y)
{
    for (uint32_t item = 0; item < items; item++)
        for (size_t p = 0; p < pixels; p++)
            for (size_t c = 0; c < channels; c++)
                *y++ = x[((size_t)item * channels + c) * pixels + p];
}
