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

/* The costly ones: a call, so that the unrolled tails of the callers stay small. */
static __attribute__((noinline)) float activate_transcendental(uint32_t kind, float v)
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

#endif
