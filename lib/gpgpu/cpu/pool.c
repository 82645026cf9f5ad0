/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "gpgpu/reference.h"

/* A rectangle of rows and columns, ends excluded. */
struct extent {
    int64_t top, bottom, left, right;
};

static int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct extent clip(struct extent e, int64_t top, int64_t bottom, int64_t left, int64_t right)
{
    return (struct extent){max_i64(e.top, top), min_i64(e.bottom, bottom), max_i64(e.left, left),
                           min_i64(e.right, right)};
}

/* The window at output (oy, ox), dilation 1, in input coordinates. */
static struct extent window_at(const struct pool_shape *s, uint32_t oy, uint32_t ox)
{
    int64_t top = (int64_t)oy * s->win.stride_h - s->win.pad_t,
            left = (int64_t)ox * s->win.stride_w - s->win.pad_l;
    return (struct extent){top, top + s->win.kh, left, left + s->win.kw};
}

/* Best place in the plane for output (oy, ox), -1 when the window holds none. */
static int64_t max_at(const struct pool_shape *s, const float *x, uint32_t oy, uint32_t ox)
{
    const struct window *win = &s->win;
    int64_t best = -1;
    for (uint32_t ky = 0; ky < win->kh; ky++)
        for (uint32_t kx = 0; kx < win->kw; kx++) {
            int64_t iy = (int64_t)oy * win->stride_h + ky * win->dil_h - win->pad_t;
            int64_t ix = (int64_t)ox * win->stride_w + kx * win->dil_w - win->pad_l;
            int64_t at = iy * s->w + ix;
            if (iy >= 0 && iy < s->h && ix >= 0 && ix < s->w && (best < 0 || x[at] > x[best]))
                best = at;
        }
    return best;
}

void ref_pool_max(const struct pool_shape *s, const float *x, float *y, int32_t *index)
{
    for (uint32_t plane = 0; plane < s->planes; plane++, x += (size_t)s->h * s->w)
        for (uint32_t oy = 0; oy < s->oh; oy++)
            for (uint32_t ox = 0; ox < s->ow; ox++) {
                int64_t at = max_at(s, x, oy, ox);
                *y++ = at < 0 ? -INFINITY : x[at];
                if (index)
                    *index++ = at < 0 ? 0 : (int32_t)at;
            }
}

/* Elements the average of window e divides by. */
static double average_count(const struct pool_shape *s, struct extent e)
{
    const struct window *win = &s->win;
    if (s->include_pad)
        e = clip(e, -(int64_t)win->pad_t, (int64_t)s->h + win->pad_b, -(int64_t)win->pad_l,
                 (int64_t)s->w + win->pad_r);
    else
        e = clip(e, 0, s->h, 0, s->w);
    return (double)((e.bottom - e.top) * (e.right - e.left));
}

void ref_pool_avg(const struct pool_shape *s, const float *x, float *y)
{
    for (uint32_t plane = 0; plane < s->planes; plane++, x += (size_t)s->h * s->w)
        for (uint32_t oy = 0; oy < s->oh; oy++)
            for (uint32_t ox = 0; ox < s->ow; ox++) {
                struct extent e = window_at(s, oy, ox), in = clip(e, 0, s->h, 0, s->w);
                double sum = 0;
                for (int64_t iy = in.top; iy < in.bottom; iy++)
                    for (int64_t ix = in.left; ix < in.right; ix++)
                        sum += x[iy * s->w + ix];
                *y++ = (float)(sum / average_count(s, e));
            }
}

void ref_global_avg(uint32_t planes, uint32_t pixels, const float *x, float *y)
{
    for (uint32_t plane = 0; plane < planes; plane++) {
        double sum = 0;
        for (uint32_t i = 0; i < pixels; i++)
            sum += *x++;
        y[plane] = (float)(sum / pixels);
    }
}

/* Sum of dy where the maximum came from element `at` of the plane. */
static double max_share(const struct pool_shape *s, const float *dy, const int32_t *index, size_t at)
{
    double sum = 0;
    for (size_t i = 0; i < (size_t)s->oh * s->ow; i++)
        if ((size_t)index[i] == at)
            sum += dy[i];
    return sum;
}

void ref_pool_max_backward(const struct pool_shape *s, const float *dy, const int32_t *index, float *dx)
{
    size_t outputs = (size_t)s->oh * s->ow;
    for (uint32_t plane = 0; plane < s->planes; plane++, dy += outputs, index += outputs)
        for (size_t at = 0; at < (size_t)s->h * s->w; at++)
            *dx++ = (float)max_share(s, dy, index, at);
}

static bool inside(struct extent e, int64_t y, int64_t x)
{
    return y >= e.top && y < e.bottom && x >= e.left && x < e.right;
}

/* Sum of what element (iy, ix) of a plane gets of every average it was in. */
static double average_share(const struct pool_shape *s, const float *dy, uint32_t iy, uint32_t ix)
{
    double sum = 0;
    for (uint32_t oy = 0; oy < s->oh; oy++)
        for (uint32_t ox = 0; ox < s->ow; ox++) {
            struct extent e = window_at(s, oy, ox);
            if (inside(e, iy, ix))
                sum += dy[(size_t)oy * s->ow + ox] / average_count(s, e);
        }
    return sum;
}

void ref_pool_avg_backward(const struct pool_shape *s, const float *dy, float *dx)
{
    for (uint32_t plane = 0; plane < s->planes; plane++, dy += (size_t)s->oh * s->ow)
        for (uint32_t iy = 0; iy < s->h; iy++)
            for (uint32_t ix = 0; ix < s->w; ix++)
                *dx++ = (float)average_share(s, dy, iy, ix);
}

void ref_global_avg_backward(uint32_t planes, uint32_t pixels, const float *dy, float *dx)
{
    for (uint32_t plane = 0; plane < planes; plane++)
        for (uint32_t i = 0; i < pixels; i++)
            *dx++ = (float)(dy[plane] / (double)pixels);
}
