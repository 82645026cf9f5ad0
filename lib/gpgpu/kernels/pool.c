/* SPDX-License-Identifier: MIT */
/* Pooling over h x w windows, NCHW, and back; one thread an element of the result. */
#include "kernel_reduce.h"

#define MINUS_INFINITY float_of_bits(0xff800000u)

/* v where pick is 1, else w. */
static KERNEL_INLINE uint32_t choose(uint32_t pick, uint32_t v, uint32_t w)
{
    return (v & -pick) | (w & (pick - 1));
}

/* index, unless 0, gets the position of the maximum in its h x w plane (the first one of equals). */
KERNEL(pool_max, IN(x), OUT(y), INT_OUT(index), U32(n), U32(h), U32(w), DIVISOR(pixels), DIVISOR(ow), U32(kh),
       U32(kw), U32(stride_h), U32(stride_w), U32(pad_t), U32(pad_l), U32(dil_h), U32(dil_w))
{
    FOR_EACH (i, n) {
        uint32_t plane = DIVIDE(i, pixels);
        uint32_t pixel = i - plane * pixels;
        uint32_t oy = DIVIDE(pixel, ow);
        uint32_t ox = pixel - oy * ow;
        const float *in = x + plane * h * w;
        float best = MINUS_INFINITY;
        uint32_t best_at = 0;
        for (uint32_t ky = 0; ky < kh; ky++) {
            uint32_t iy = oy * stride_h + ky * dil_h - pad_t;
            for (uint32_t kx = 0; kx < kw; kx++) {
                uint32_t ix = ox * stride_w + kx * dil_w - pad_l;
                uint32_t ok = (uint32_t)(iy < h) & (uint32_t)(ix < w);
                uint32_t at = (iy * w + ix) & -ok;
                float v = float_of_bits(choose(ok, bits_of_float(in[at]), bits_of_float(MINUS_INFINITY)));
                best_at = choose(v > best, at, best_at);
                best = max_f32(best, v);
            }
        }
        y[i] = best;
        if (index)
            index[i] = (int32_t)best_at;
    }
}

/* What lies in the padding counts in the divisor when include_pad is 1; what lies beyond it (windows of a
 * ceiling output size) never does. */
KERNEL(pool_avg, IN(x), OUT(y), U32(n), U32(h), U32(w), DIVISOR(pixels), DIVISOR(ow), U32(kh), U32(kw),
       U32(stride_h), U32(stride_w), U32(pad_t), U32(pad_l), U32(pad_b), U32(pad_r), U32(include_pad))
{
    FOR_EACH (i, n) {
        uint32_t plane = DIVIDE(i, pixels);
        uint32_t pixel = i - plane * pixels;
        uint32_t oy = DIVIDE(pixel, ow);
        uint32_t ox = pixel - oy * ow;
        const float *in = x + plane * h * w;
        float sum = 0.0f;
        uint32_t count = 0;
        for (uint32_t ky = 0; ky < kh; ky++) {
            uint32_t py = oy * stride_h + ky;
            uint32_t iy = py - pad_t;
            for (uint32_t kx = 0; kx < kw; kx++) {
                uint32_t px = ox * stride_w + kx;
                uint32_t ix = px - pad_l;
                uint32_t ok = (uint32_t)(iy < h) & (uint32_t)(ix < w);
                uint32_t in_pad = (uint32_t)(py < pad_t + h + pad_b) & (uint32_t)(px < pad_l + w + pad_r);
                sum += keep_if(ok, in[(iy * w + ix) & -ok]);
                count += ok | (in_pad & include_pad);
            }
        }
        y[i] = sum / (float)count;
    }
}

/* A float of shared memory a thread. */
KERNEL(global_avg, IN(x), OUT(y), U32(planes), U32(pixels))
{
    FOR_EACH_ROW (plane, planes) {
        float sum = 0.0f;
        for (uint32_t i = thread_idx_x(); i < pixels; i += block_dim_x())
            sum += x[plane * pixels + i];
        sum = block_sum(shared_floats(), sum);
        if (thread_idx_x() == 0)
            y[plane] = sum / (float)pixels;
    }
}

/* dx[p] = the sum of dy over the windows whose maximum was at p, as pool_max's index says. */
KERNEL(pool_max_backward, IN(dy), INT_IN(index), OUT(dx), U32(n), DIVISOR(area), DIVISOR(w), U32(oh), U32(ow),
       U32(kh), U32(kw), DIVISOR(stride_h), DIVISOR(stride_w), U32(pad_t), U32(pad_l), U32(dil_h), U32(dil_w))
{
    FOR_EACH (i, n) {
        uint32_t plane = DIVIDE(i, area);
        uint32_t at = i - plane * area;
        uint32_t iy = DIVIDE(at, w);
        uint32_t ix = at - iy * w;
        uint32_t base = plane * oh * ow;
        float sum = 0.0f;
        for (uint32_t ky = 0; ky < kh; ky++) {
            uint32_t ty = iy + pad_t - ky * dil_h;
            uint32_t oy = DIVIDE(ty & 0x7fffffffu, stride_h);
            uint32_t row_ok = (uint32_t)(oy * stride_h == ty) & (uint32_t)(oy < oh);
            for (uint32_t kx = 0; kx < kw; kx++) {
                uint32_t tx = ix + pad_l - kx * dil_w;
                uint32_t ox = DIVIDE(tx & 0x7fffffffu, stride_w);
                uint32_t ok = row_ok & (uint32_t)(ox * stride_w == tx) & (uint32_t)(ox < ow);
                uint32_t window = base + ((oy * ow + ox) & -ok);
                ok &= (uint32_t)index[window] == at;
                sum += keep_if(ok, dy[window]);
            }
        }
        dx[i] = sum;
    }
}

KERNEL(pool_avg_backward, IN(dy), OUT(dx), U32(n), DIVISOR(area), U32(h), DIVISOR(w), U32(oh), U32(ow),
       U32(kh), U32(kw), DIVISOR(stride_h), DIVISOR(stride_w), U32(pad_t), U32(pad_l), U32(pad_b), U32(pad_r),
       U32(include_pad))
{
    /* Extent of what counts, in padded coordinates. */
    uint32_t low_y = include_pad ? 0 : pad_t, high_y = include_pad ? pad_t + h + pad_b : pad_t + h;
    uint32_t low_x = include_pad ? 0 : pad_l, high_x = include_pad ? pad_l + w + pad_r : pad_l + w;
    FOR_EACH (i, n) {
        uint32_t plane = DIVIDE(i, area);
        uint32_t at = i - plane * area;
        uint32_t iy = DIVIDE(at, w);
        uint32_t ix = at - iy * w;
        float sum = 0.0f;
        for (uint32_t ky = 0; ky < kh; ky++) {
            uint32_t ty = iy + pad_t - ky; /* where the window starts */
            uint32_t oy = DIVIDE(ty & 0x7fffffffu, stride_h);
            uint32_t row_ok = (uint32_t)(oy * stride_h == ty) & (uint32_t)(oy < oh);
            for (uint32_t kx = 0; kx < kw; kx++) {
                uint32_t tx = ix + pad_l - kx;
                uint32_t ox = DIVIDE(tx & 0x7fffffffu, stride_w);
                uint32_t ok = row_ok & (uint32_t)(ox * stride_w == tx) & (uint32_t)(ox < ow);
                int32_t rows = (int32_t)(min_u32(ty + kh, high_y) - (ty > low_y ? ty : low_y));
                int32_t cols = (int32_t)(min_u32(tx + kw, high_x) - (tx > low_x ? tx : low_x));
                float share = dy[plane * oh * ow + ((oy * ow + ox) & -ok)] / ((float)rows * (float)cols);
                sum += keep_if(ok, share);
            }
        }
        dx[i] = sum;
    }
}

KERNEL(global_avg_backward, IN(dy), OUT(dx), U32(n), DIVISOR(pixels))
{
    FOR_EACH (i, n)
        dx[i] = dy[DIVIDE(i, pixels)] / (float)pixels;
}
