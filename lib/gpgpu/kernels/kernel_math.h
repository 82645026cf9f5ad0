/* SPDX-License-Identifier: MIT */
/*
 * Elementary functions for kernels: no libm, no table, no branch, the same formula on every target. Errors
 * are stated in ulp (2^-23 of the result's binade) or absolute, and tested against the host's libm over the
 * whole range (tests/unit/kernel_math).
 */
#ifndef KERNEL_MATH_H
#define KERNEL_MATH_H

#include "gpgpu_kernel.h"

static KERNEL_INLINE float fma_f32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

static KERNEL_INLINE float max_f32(float a, float b)
{
    return __builtin_fmaxf(a, b);
}

static KERNEL_INLINE float min_f32(float a, float b)
{
    return __builtin_fminf(a, b);
}

static KERNEL_INLINE float abs_f32(float v)
{
    return __builtin_fabsf(v);
}

/* v, or NaN where x is NaN: for formulas whose clamping loses it. */
static KERNEL_INLINE float keep_nan(float x, float v)
{
    return float_of_bits(bits_of_float(v) | -(uint32_t)(x != x));
}

/* 2^n for -126 <= n <= 127. */
static KERNEL_INLINE float exp2_int(int32_t n)
{
    return float_of_bits((uint32_t)(n + 127) << 23);
}

/* 1.5 * 2^23: adding it rounds to an integer in the low bits. */
#define ROUND_F32 12582912.0f

/* e^(x - n ln 2) for the integer n next to x / ln 2, rounded = n + ROUND_F32. ln 2 is split so that n times
 * its high part is exact (Cody & Waite); the rest r, |r| <= ln 2 / 2, by its Taylor series to r^7, whose
 * remainder r^8/8! is below 2^-27. */
static KERNEL_INLINE float exp_reduced(float x, float rounded)
{
    float nf = rounded - ROUND_F32;
    float r = fma_f32(nf, -0.693359375f, x);
    r = fma_f32(nf, 2.12194440e-4f, r);
    float p = fma_f32(r, 1.0f / 5040, 1.0f / 720);
    p = fma_f32(p, r, 1.0f / 120);
    p = fma_f32(p, r, 1.0f / 24);
    p = fma_f32(p, r, 1.0f / 6);
    p = fma_f32(p, r, 0.5f);
    p = fma_f32(p, r, 1.0f);
    return fma_f32(p, r, 1.0f);
}

/* e^x within 2 ulp; 0 below -104, infinity above 88.73, denormals included. */
static KERNEL_INLINE float exp_f32(float x)
{
    float clamped = min_f32(max_f32(x, -110.0f), 110.0f);
    float rounded = fma_f32(clamped, 1.44269504f, ROUND_F32);
    int32_t n = (int32_t)(bits_of_float(rounded) - bits_of_float(ROUND_F32));
    float p = exp_reduced(clamped, rounded);
    int32_t half = n >> 1; /* two factors, since 2^n itself may overflow where the result does not */
    return keep_nan(x, p * exp2_int(half) * exp2_int(n - half));
}

/* e^x for x <= 0 within 2 ulp where that is normal; 0 below -87.7. Half the work: 2^n is one factor, whose
 * bits come from the low ones of n + ROUND_F32, and 0 for n = -127. */
static KERNEL_INLINE float exp_below_one(float x)
{
    float clamped = max_f32(x, -88.0f);
    float rounded = fma_f32(clamped, 1.44269504f, ROUND_F32);
    float power = float_of_bits((bits_of_float(rounded) << 23) + bits_of_float(1.0f));
    return keep_nan(x, exp_reduced(clamped, rounded) * power);
}

/*
 * ln x for normal x > 0 within 2 ulp or 1e-7, whichever is larger.
 * x = 2^n m with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh(s), s = (m-1)/(m+1), |s| < 0.1716, by its series
 * to s^9, whose remainder is below 2^-28.
 */
static KERNEL_INLINE float log_f32(float x)
{
    uint32_t offset = bits_of_float(x) - 0x3f3504f3u; /* sqrt(1/2) */
    int32_t n = (int32_t)offset >> 23;
    float m = float_of_bits((offset & 0x007fffffu) + 0x3f3504f3u);
    float s = (m - 1.0f) / (m + 1.0f);
    float z = s * s;
    float p = fma_f32(z, 2.0f / 9, 2.0f / 7);
    p = fma_f32(p, z, 2.0f / 5);
    p = fma_f32(p, z, 2.0f / 3);
    float tail = fma_f32(p * z, s, (float)n * -2.12194440e-4f);
    return fma_f32((float)n, 0.693359375f, fma_f32(2.0f, s, tail));
}

/* 1 / (1 + e^-x) within 3 ulp where it is normal. */
static KERNEL_INLINE float sigmoid_f32(float x)
{
    return 1.0f / (1.0f + exp_f32(-x));
}

/*
 * tanh x within 4 ulp: below 1/4 its Taylor series to x^9 (remainder below 2^-26), above it through e^-2|x|.
 */
static KERNEL_INLINE float tanh_f32(float x)
{
    float a = abs_f32(x);
    float z = min_f32(x * x, 0.0625f);
    float p = fma_f32(z, 62.0f / 2835, -17.0f / 315);
    p = fma_f32(p, z, 2.0f / 15);
    p = fma_f32(p, z, -1.0f / 3);
    float small = fma_f32(p * z, a, a);
    float e = exp_f32(-2.0f * a);
    float large = (1.0f - e) / (1.0f + e);
    uint32_t is_small = a < 0.25f;
    uint32_t bits = (bits_of_float(small) & -is_small) | (bits_of_float(large) & (is_small - 1));
    return float_of_bits(bits | (bits_of_float(x) & 0x80000000u));
}

/* erf x with an absolute error of at most 6e-7: 1.5e-7 of the formula [Abramowitz & Stegun,
 * 7.1.26], the rest is rounding.
 */
static KERNEL_INLINE float erf_f32(float x)
{
    float a = abs_f32(x);
    float t = 1.0f / fma_f32(a, 0.3275911f, 1.0f);
    float p = fma_f32(t, 1.061405429f, -1.453152027f);
    p = fma_f32(p, t, 1.421413741f);
    p = fma_f32(p, t, -0.284496736f);
    p = fma_f32(p, t, 0.254829592f);
    float v = 1.0f - p * t * exp_f32(-a * a);
    return float_of_bits(bits_of_float(v) | (bits_of_float(x) & 0x80000000u));
}

#endif
