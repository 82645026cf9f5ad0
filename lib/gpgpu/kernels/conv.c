/* SPDX-License-Identifier: MIT */
/*
 * Convolutions, NCHW. Lanes run along the output plane (unit stride); channel and tap are the same in all
 * lanes, so weights are uniform loads. Taps in the padding read some element and drop it by a mask: no lane
 * branches at the border.
 */
#include "kernel_activation.h"

/* col[(c kh + ky) kw + kx][oy ow + ox] = x[c][oy sh - pt + ky dh][ox sw - pl + kx dw]; z: batch item. A
 * thread finds its pixel's place once for all taps of a channel. */
KERNEL(im2col, IN(x), OUT(col), U32(channels), U32(h), U32(w), U32(kh), U32(kw), U32(oh), DIVISOR(ow),
       U32(stride_h), U32(stride_w), U32(pad_t), U32(pad_l), U32(dil_h), U32(dil_w), U32(x_stride))
{
    uint32_t pixels = oh * ow;
    const float *item = x + block_idx_z() * x_stride;
    float *item_col = col + block_idx_z() * channels * kh * kw * pixels;
    for (uint32_t ch = block_idx_y(); ch < channels; ch += grid_dim_y()) {
        FOR_EACH (i, pixels) {
            uint32_t oy = DIVIDE(i, ow);
            uint32_t iy = oy * stride_h - pad_t; /* below 0 wraps, and is not < h */
            uint32_t first = (i - oy * ow) * stride_w - pad_l;
            float *to = item_col + ch * kh * kw * pixels + i;
            for (uint32_t ky = 0; ky < kh; ky++, iy += dil_h) {
                uint32_t row_ok = iy < h;
                uint32_t ix = first, at = (ch * h + iy) * w + ix;
                for (uint32_t kx = 0; kx < kw; kx++, ix += dil_w, at += dil_w, to += pixels)
                    *to = keep_if(row_ok & (uint32_t)(ix < w), item[within(at, x_stride)]);
            }
        }
    }
}

/* The transpose of im2col: x[c][iy][ix] = bias[c] + the sum of every col element that im2col reads from
 * there. bias may be 0. */
KERNEL(col2im, IN(col), IN(bias), OUT(x), U32(channels), U32(h), DIVISOR(w), U32(kh), U32(kw), U32(oh),
       U32(ow), DIVISOR(stride_h), DIVISOR(stride_w), U32(pad_t), U32(pad_l), U32(dil_h), U32(dil_w),
       U32(x_stride), U32(activation))
{
    uint32_t pixels = oh * ow;
    const float *item_col = col + block_idx_z() * channels * kh * kw * pixels;
    for (uint32_t ch = block_idx_y(); ch < channels; ch += grid_dim_y()) {
        float first = bias ? bias[ch] : 0.0f;
        FOR_EACH (i, h * w) {
            uint32_t y = DIVIDE(i, w);
            uint32_t px = i - y * w;
            float sum = first;
            for (uint32_t ky = 0; ky < kh; ky++) {
                uint32_t ty = y + pad_t - ky * dil_h;
                uint32_t oy = DIVIDE(ty & 0x7fffffffu, stride_h);
                uint32_t row_ok = (uint32_t)(oy * stride_h == ty) & (uint32_t)(oy < oh);
                for (uint32_t kx = 0; kx < kw; kx++) {
                    uint32_t tx = px + pad_l - kx * dil_w;
                    uint32_t ox = DIVIDE(tx & 0x7fffffffu, stride_w);
                    uint32_t ok = row_ok & (uint32_t)(ox * stride_w == tx) & (uint32_t)(ox < ow);
                    uint32_t row = (ch * kh + ky) * kw + kx;
                    sum += keep_if(ok, item_col[(row * pixels + oy * ow + ox) & -ok]);
                }
            }
            x[block_idx_z() * x_stride + ch * h * w + i] = activate(activation, sum);
        }
    }
}

/*
 * Direct convolution with groups: a thread computes CONV_CHANNELS output channels of one pixel. y: channel
 * blocks of all groups, each group's own blocks_per_group; z: batch item. bias may be 0.
 */
KERNEL(conv2d, IN(x), IN(weight), IN(bias), OUT(y), U32(groups), U32(ic_group), U32(h), U32(w), U32(oc_group),
       U32(kh), U32(kw), U32(oh), DIVISOR(ow), DIVISOR(blocks_per_group), U32(stride_h), U32(stride_w),
       U32(pad_t), U32(pad_l), U32(dil_h), U32(dil_w), U32(activation))
{
    uint32_t group = DIVIDE(block_idx_y(), blocks_per_group);
    uint32_t first = (block_idx_y() - group * blocks_per_group) * CONV_CHANNELS;
    uint32_t left = oc_group - first; /* channels this block really has */
    uint32_t oc0 = group * oc_group + first;
    uint32_t taps = kh * kw, pixels = oh * ow;
    const float *item = x + (block_idx_z() * groups + group) * ic_group * h * w;
    FOR_EACH (i, pixels) {
        uint32_t oy = DIVIDE(i, ow);
        uint32_t ox = i - oy * ow;
        float sum[CONV_CHANNELS] = {0};
        for (uint32_t ch = 0; ch < ic_group; ch++) {
            const float *tap = weight + (oc0 * ic_group + ch) * taps;
            for (uint32_t ky = 0; ky < kh; ky++) {
                uint32_t iy = oy * stride_h + ky * dil_h - pad_t;
                for (uint32_t kx = 0; kx < kw; kx++, tap++) {
                    uint32_t ix = ox * stride_w + kx * dil_w - pad_l;
                    uint32_t ok = (uint32_t)(iy < h) & (uint32_t)(ix < w);
                    float v = keep_if(ok, item[within((ch * h + iy) * w + ix, ic_group * h * w)]);
#pragma clang loop unroll(full)
                    for (uint32_t j = 0; j < CONV_CHANNELS; j++)
                        sum[j] = fma_f32(v, tap[min_u32(j, left - 1) * ic_group * taps], sum[j]);
                }
            }
        }
        float *out = y + (block_idx_z() * groups * oc_group + oc0) * pixels + i;
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < CONV_CHANNELS; j++) {
            if (j < left) {
                float v = bias ? sum[j] + bias[oc0 + j] : sum[j];
                out[j * pixels] = activate_cheap(activation, v);
            }
        }
        activate_stored(activation, out, min_u32(left, CONV_CHANNELS), pixels, 1, 0);
    }
}

/* One filter a channel. y: planes of the whole batch. bias may be 0. */
KERNEL(depthwise, IN(x), IN(weight), IN(bias), OUT(y), U32(planes), DIVISOR(channels), U32(h), U32(w),
       U32(kh), U32(kw), U32(oh), DIVISOR(ow), U32(stride_h), U32(stride_w), U32(pad_t), U32(pad_l),
       U32(dil_h), U32(dil_w), U32(activation))
{
    for (uint32_t plane = block_idx_y(); plane < planes; plane += grid_dim_y()) {
        uint32_t ch = plane - DIVIDE(plane, channels) * channels;
        float first = bias ? bias[ch] : 0.0f;
        FOR_EACH (i, oh * ow) {
            uint32_t oy = DIVIDE(i, ow);
            uint32_t ox = i - oy * ow;
            const float *tap = weight + ch * kh * kw;
            float sum = first;
            for (uint32_t ky = 0; ky < kh; ky++) {
                uint32_t iy = oy * stride_h + ky * dil_h - pad_t;
                uint32_t row_ok = iy < h;
                for (uint32_t kx = 0; kx < kw; kx++, tap++) {
                    uint32_t ix = ox * stride_w + kx * dil_w - pad_l;
                    uint32_t ok = row_ok & (uint32_t)(ix < w);
                    sum =
                        fma_f32(*tap, keep_if(ok, x[within((plane * h + iy) * w + ix, planes * h * w)]), sum);
                }
            }
            y[plane * oh * ow + i] = activate(activation, sum);
        }
    }
}
