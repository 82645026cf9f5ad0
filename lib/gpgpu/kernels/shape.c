/* SPDX-License-Identifier: MIT */
/* Kernels that move data: padding, cropping, concatenation, resizing, reordering. */
#include "kernel_defs.h"
#include "kernel_math.h"

KERNEL(fill, OUT(y), U32(n), F32(value))
{
    FOR_EACH (i, n)
        y[i] = value;
}

/* Clear columns at and past valid[item] of x [items][...][w], in place. */
KERNEL(zero_cols, OUT(x), INT_IN(valid), U32(n), DIVISOR(item_size), DIVISOR(w))
{
    FOR_EACH (i, n) {
        uint32_t col = i - DIVIDE(i, w) * w;
        x[i] = keep_if((int32_t)col < valid[DIVIDE(i, item_size)], x[i]);
    }
}

/* y [planes][oh][ow] = x [planes][h][w] with zeros to the right and below. */
KERNEL(pad_rb, IN(x), OUT(y), U32(n), U32(h), U32(w), DIVISOR(pixels), DIVISOR(ow))
{
    FOR_EACH (i, n) {
        uint32_t plane = DIVIDE(i, pixels);
        uint32_t pixel = i - plane * pixels;
        uint32_t oy = DIVIDE(pixel, ow);
        uint32_t ox = pixel - oy * ow;
        uint32_t ok = (uint32_t)(oy < h) & (uint32_t)(ox < w);
        y[i] = keep_if(ok, x[((plane * h + oy) * w + ox) & -ok]);
    }
}

static KERNEL_INLINE int32_t clamp_i32(int32_t v, int32_t low, int32_t high)
{
    v = v < low ? low : v;
    return v > high ? high : v;
}

/* Position a padded coordinate shows under a mode that repeats the input: mirrored once, or the edge. */
static KERNEL_INLINE int32_t pad_source(int32_t v, int32_t size, uint32_t mode)
{
    if (mode == PAD_REFLECT) {
        v = v < 0 ? -v : v;
        v = v >= size ? 2 * (size - 1) - v : v;
    }
    return clamp_i32(v, 0, size - 1);
}

/* Padding (or, where negative, cropping) on any side. */
KERNEL(pad_all, IN(x), OUT(y), U32(n), I32(h), I32(w), DIVISOR(pixels), DIVISOR(ow), I32(top), I32(left),
       U32(mode), F32(value))
{
    FOR_EACH (i, n) {
        uint32_t plane = DIVIDE(i, pixels);
        uint32_t pixel = i - plane * pixels;
        uint32_t oy = DIVIDE(pixel, ow);
        int32_t sy = (int32_t)oy - top;
        int32_t sx = (int32_t)(pixel - oy * ow) - left;
        int32_t iy = pad_source(sy, h, mode);
        int32_t ix = pad_source(sx, w, mode);
        float v = x[((int32_t)plane * h + iy) * w + ix];
        uint32_t outside = (uint32_t)(iy != sy) | (uint32_t)(ix != sx);
        y[i] = outside && mode == PAD_CONSTANT ? value : v;
    }
}

/* y [rows][ow] = columns left.. of x [rows][w]. */
KERNEL(crop_cols, IN(x), OUT(y), U32(n), U32(w), DIVISOR(ow), U32(left))
{
    FOR_EACH (i, n) {
        uint32_t row = DIVIDE(i, ow);
        y[i] = x[row * w + left + (i - row * ow)];
    }
}

/* Concatenation and slicing: `part` consecutive elements of each of n / part rows. */
KERNEL(copy_part, IN(x), OUT(y), U32(n), DIVISOR(part), U32(x_stride), U32(x_offset), U32(y_stride),
       U32(y_offset))
{
    FOR_EACH (i, n) {
        uint32_t row = DIVIDE(i, part);
        uint32_t at = i - row * part;
        y[row * y_stride + y_offset + at] = x[row * x_stride + x_offset + at];
    }
}

/* floor(v) or ceil(v), clamped to 0 .. size-1. |v| is far below 2^22: adding 1.5 * 2^23 rounds it to nearest,
 * and one comparison corrects that. */
static KERNEL_INLINE uint32_t round_into(float v, uint32_t size, uint32_t ceiling)
{
    const float magic = 12582912.0f;
    float shifted = v + magic;
    int32_t k = (int32_t)(bits_of_float(shifted) - bits_of_float(magic));
    float rounded = shifted - magic;
    k += ceiling ? (int32_t)(rounded < v) : -(int32_t)(rounded > v);
    return (uint32_t)clamp_i32(k, 0, (int32_t)size - 1);
}

/* Position (o + before) / factor + after, rounded down or up: struct resize_shape. */
KERNEL(interp_nearest, IN(x), OUT(y), U32(n), U32(h), U32(w), DIVISOR(pixels), DIVISOR(ow), F32(factor_y),
       F32(factor_x), F32(before), F32(after), U32(ceiling))
{
    FOR_EACH (i, n) {
        uint32_t plane = DIVIDE(i, pixels);
        uint32_t pixel = i - plane * pixels;
        uint32_t oy = DIVIDE(pixel, ow);
        uint32_t ox = pixel - oy * ow;
        uint32_t iy = round_into(((float)oy + before) / factor_y + after, h, ceiling);
        uint32_t ix = round_into(((float)ox + before) / factor_x + after, w, ceiling);
        y[i] = x[(plane * h + iy) * w + ix];
    }
}

/* y [pixels][channels] = x [channels][pixels] transposed, a square tile a block of 32 x any threads so that
 * both sides are touched with unit stride. Shared memory: 32 x 33 floats. z: batch item. */
KERNEL(chw_to_seq, IN(x), OUT(y), U32(channels), U32(pixels))
{
    SHARED float *tile = shared_floats();
    uint32_t item = block_idx_z() * channels * pixels;
    uint32_t pixel0 = block_idx_x() * TRANSPOSE_TILE, channel0 = block_idx_y() * TRANSPOSE_TILE;
    for (uint32_t r = thread_idx_y(); r < TRANSPOSE_TILE; r += block_dim_y()) {
        uint32_t ch = channel0 + r, pixel = pixel0 + thread_idx_x();
        uint32_t ok = (uint32_t)(ch < channels) & (uint32_t)(pixel < pixels);
        tile[r * (TRANSPOSE_TILE + 1) + thread_idx_x()] =
            keep_if(ok, x[item + ((ch * pixels + pixel) & -ok)]);
    }
    barrier();
    for (uint32_t r = thread_idx_y(); r < TRANSPOSE_TILE; r += block_dim_y()) {
        uint32_t pixel = pixel0 + r, ch = channel0 + thread_idx_x();
        if (pixel < pixels && ch < channels)
            y[item + pixel * channels + ch] = tile[thread_idx_x() * (TRANSPOSE_TILE + 1) + r];
    }
}
