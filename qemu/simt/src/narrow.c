/* SPDX-License-Identifier: MIT */
#include "narrow.h"

#include "fp.h"

/* Magnitude layout of a format: exponent field above man_bits of significand. */
struct format {
    int exp_bits, man_bits, bias;
    uint32_t max; /* largest finite magnitude */
    uint32_t inf; /* magnitude of infinity; UINT32_MAX when there is none. Above it, and above max: NaN */
    uint32_t nan; /* what a NaN becomes */
};

static const struct format e4m3 = {4, 3, 7, 0x7e, UINT32_MAX, 0x7f};
static const struct format e5m2 = {5, 2, 15, 0x7b, 0x7c, 0x7f};
static const struct format e2m1 = {2, 1, 1, 0x7, UINT32_MAX, 0x7};

static uint32_t widen(const struct format *f, uint32_t a)
{
    int bits = f->exp_bits + f->man_bits;
    uint32_t sign = (a >> bits & 1) << 31;
    uint32_t magnitude = a & ((1u << bits) - 1);
    int exp = (int)(magnitude >> f->man_bits);
    uint32_t man = magnitude & ((1u << f->man_bits) - 1);

    if (magnitude > f->max) {
        return magnitude == f->inf ? sign | SIMT_F32_INF : SIMT_F32_NAN;
    }
    if (magnitude == 0) {
        return sign;
    }
    if (exp == 0) { /* subnormal: shift the leading one to the hidden bit's place */
        int shift = f->man_bits - (31 - __builtin_clz(man));
        man = man << shift & ((1u << f->man_bits) - 1);
        exp = 1 - shift;
    }
    return sign | (uint32_t)(exp - f->bias + 127) << 23 | man << (23 - f->man_bits);
}

static uint32_t narrow(const struct format *f, uint32_t a)
{
    uint32_t sign = (a >> 31) << (f->exp_bits + f->man_bits);
    int exp =
        (int)(a >> 23 & 0xff) - 127 + f->bias; /* the exponent field, before subnormals are considered */
    uint32_t sig = (a & 0x7fffffu) | 0x800000u;
    int shift = 23 - f->man_bits;

    if (simt_f32_is_nan(a)) {
        return f->nan;
    }
    if (exp < 1) {
        shift += 1 - exp;
        exp = 0;
    }
    if (shift > 25) { /* below half of the least subnormal, binary32 subnormals included */
        return sign;
    }
    uint32_t half = 1u << (shift - 1), q = sig >> shift, rest = sig & (2 * half - 1);
    q += rest > half || (rest == half && (q & 1));
    uint32_t magnitude = exp == 0 ? q : ((uint32_t)exp << f->man_bits) + q - (1u << f->man_bits);
    return sign | (magnitude > f->max ? f->max : magnitude);
}

uint32_t simt_bf16_to_f32(uint32_t a)
{
    uint32_t wide = a << 16;
    return simt_f32_is_nan(wide) ? SIMT_F32_NAN : wide;
}

uint32_t simt_f32_to_bf16(uint32_t a)
{
    return simt_f32_is_nan(a) ? SIMT_F32_NAN >> 16 : (a + 0x7fff + (a >> 16 & 1)) >> 16;
}

uint32_t simt_e4m3_to_f32(uint32_t a)
{
    return widen(&e4m3, a);
}

uint32_t simt_f32_to_e4m3(uint32_t a)
{
    return narrow(&e4m3, a);
}

uint32_t simt_e5m2_to_f32(uint32_t a)
{
    return widen(&e5m2, a);
}

uint32_t simt_f32_to_e5m2(uint32_t a)
{
    return narrow(&e5m2, a);
}

uint32_t simt_e2m1_to_f32(uint32_t a)
{
    return widen(&e2m1, a);
}

uint32_t simt_f32_to_e2m1(uint32_t a)
{
    return narrow(&e2m1, a);
}
