/* SPDX-License-Identifier: MIT */
/*
 * IEEE 754 binary32 arithmetic in integers, as the RISC-V F extension defines it: all five rounding modes,
 * exception flags, canonical NaN, tininess detected after rounding. Slow and plain: the fast host paths of
 * the interpreter are tested against it. Values are bit patterns. Source: Unprivileged ISA 20191213,
 * chapter 11.
 */
#ifndef SIMT_FP_H
#define SIMT_FP_H

#include <stdbool.h>
#include <stdint.h>

/* Rounding modes, table 11.1. */
enum simt_rm {
    SIMT_RNE = 0, /* nearest, ties to even */
    SIMT_RTZ = 1, /* towards zero */
    SIMT_RDN = 2, /* down */
    SIMT_RUP = 3, /* up */
    SIMT_RMM = 4, /* nearest, ties away from zero */
};

/* Exception flags, table 11.2. */
enum {
    SIMT_NX = 1,  /* inexact */
    SIMT_UF = 2,  /* underflow */
    SIMT_OF = 4,  /* overflow */
    SIMT_DZ = 8,  /* divide by zero */
    SIMT_NV = 16, /* invalid */
};

#define SIMT_F32_NAN  0x7fc00000u
#define SIMT_F32_SIGN 0x80000000u
#define SIMT_F32_INF  0x7f800000u

static inline bool simt_f32_is_nan(uint32_t a)
{
    return (a & ~SIMT_F32_SIGN) > SIMT_F32_INF;
}

/* Each ORs what it raises into *flags. rm is 0..4. */
uint32_t simt_f32_add(uint32_t a, uint32_t b, enum simt_rm rm, uint32_t *flags);
uint32_t simt_f32_sub(uint32_t a, uint32_t b, enum simt_rm rm, uint32_t *flags);
uint32_t simt_f32_mul(uint32_t a, uint32_t b, enum simt_rm rm, uint32_t *flags);
uint32_t simt_f32_div(uint32_t a, uint32_t b, enum simt_rm rm, uint32_t *flags);
uint32_t simt_f32_sqrt(uint32_t a, enum simt_rm rm, uint32_t *flags);
uint32_t simt_f32_fma(uint32_t a, uint32_t b, uint32_t c, enum simt_rm rm, uint32_t *flags); /* a * b + c */

uint32_t simt_f32_min(uint32_t a, uint32_t b, uint32_t *flags); /* minimumNumber, -0 < +0 */
uint32_t simt_f32_max(uint32_t a, uint32_t b, uint32_t *flags);
uint32_t simt_f32_eq(uint32_t a, uint32_t b, uint32_t *flags); /* quiet */
uint32_t simt_f32_lt(uint32_t a, uint32_t b, uint32_t *flags); /* signalling */
uint32_t simt_f32_le(uint32_t a, uint32_t b, uint32_t *flags);
uint32_t simt_f32_class(uint32_t a); /* table 11.5 */

uint32_t simt_f32_to_i32(uint32_t a, enum simt_rm rm, uint32_t *flags); /* saturates, table 11.4 */
uint32_t simt_f32_to_u32(uint32_t a, enum simt_rm rm, uint32_t *flags);
uint32_t simt_i32_to_f32(uint32_t a, enum simt_rm rm, uint32_t *flags);
uint32_t simt_u32_to_f32(uint32_t a, enum simt_rm rm, uint32_t *flags);

#endif
