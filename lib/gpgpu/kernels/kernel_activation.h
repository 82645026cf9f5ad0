/* SPDX-License-Identifier: MIT */
/* Activations fused into other kernels. */
#ifndef KERNEL_ACTIVATION_H
#define KERNEL_ACTIVATION_H

#include "kernel_defs.h"
#include "kernel_math.h"

/* gelu(x) = x/2 (1 + erf(x / sqrt 2)): absolute error at most 3e-7 |x| and 4 ulp. */
static KERNEL_INLINE float gelu_f32(float x)
{
    return 0.5f * x * (1.0f + erf_f32(0.707106781f * x));
}

/* The costly ones. */
static KERNEL_INLINE float activate_transcendental(uint32_t kind, float v)
{
    if (kind == ACT_GELU)
        return gelu_f32(v);
    if (kind == ACT_TANH)
        return tanh_f32(v);
    float s = sigmoid_f32(v);
    return kind == ACT_SILU ? v * s : s;
}

static KERNEL_INLINE float activate(uint32_t kind, float v)
{
    if (kind == ACT_NONE)
        return v;
    if (kind == ACT_RELU)
        return max_f32(v, 0.0f);
    return activate_transcendental(kind, v);
}

/* The cheap part of activate(), for results in unrolled code; activate_stored() does the rest. */
static KERNEL_INLINE float activate_cheap(uint32_t kind, float v)
{
    return kind == ACT_RELU ? max_f32(v, 0.0f) : v;
}

/* The costly part, in place over what this thread has just stored: rows x cols results. One copy of the code
 * instead of one a result, for a second visit to the cache. */
static KERNEL_INLINE void activate_stored(uint32_t kind, float *out, uint32_t rows, uint32_t row_step,
                                          uint32_t cols, uint32_t col_step)
{
    if (kind == ACT_NONE || kind == ACT_RELU)
        return;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < cols; j++)
            out[i * row_step + j * col_step] =
                activate_transcendental(kind, out[i * row_step + j * col_step]);
}

#endif
