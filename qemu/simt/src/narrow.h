/* SPDX-License-Identifier: MIT */
/*
 * Narrow floating-point formats: bfloat16; E4M3 and E5M2 of the OCP 8-bit Floating Point Specification 1.0;
 * E2M1 of the OCP Microscaling Formats Specification 1.0. Values are bit patterns, the narrow one in the low
 * bits; bits above it are ignored when widening and 0 when narrowing. No exception flags.
 *
 * Widening is exact; a NaN becomes the canonical NaN. Narrowing rounds to nearest, ties to even. The 8- and
 * 4-bit formats saturate: finite values and infinities beyond the largest finite value become it, with their
 * sign. A NaN becomes 0x7fc0 (bfloat16), 0x7f (E4M3 and E5M2) or +6 (E2M1, which has none). bfloat16 keeps
 * infinities, and values that round beyond its largest finite one become infinite.
 */
#ifndef SIMT_NARROW_H
#define SIMT_NARROW_H

#include <stdint.h>

uint32_t simt_bf16_to_f32(uint32_t a);
uint32_t simt_f32_to_bf16(uint32_t a);
uint32_t simt_e4m3_to_f32(uint32_t a);
uint32_t simt_f32_to_e4m3(uint32_t a);
uint32_t simt_e5m2_to_f32(uint32_t a);
uint32_t simt_f32_to_e5m2(uint32_t a);
uint32_t simt_e2m1_to_f32(uint32_t a);
uint32_t simt_f32_to_e2m1(uint32_t a);

#endif
