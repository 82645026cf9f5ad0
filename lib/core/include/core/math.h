// SPDX-License-Identifier: MIT
/* Integer arithmetic for sizes and addresses: what can overflow says so. */
#ifndef CORE_MATH_H
#define CORE_MATH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * *sum = a + b, *difference = a - b, *product = a * b, in the type of the result; true when the exact value
 * does not fit (the wrapped value is stored then). Any mix of integer types.
 */
#define add_overflows(a, b, sum)        __builtin_add_overflow(a, b, sum)
#define sub_overflows(a, b, difference) __builtin_sub_overflow(a, b, difference)
#define mul_overflows(a, b, product)    __builtin_mul_overflow(a, b, product)

static inline bool is_power_of_two(uint64_t x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

/* `align` is a power of two. */
static inline uint64_t align_down(uint64_t x, uint64_t align)
{
    return x & ~(align - 1);
}

static inline bool is_aligned(uint64_t x, uint64_t align)
{
    return (x & (align - 1)) == 0;
}

/* x rounded up to a multiple of `align` (a power of two); true when that does not fit in 64 bits. */
static inline bool align_up_overflows(uint64_t x, uint64_t align, uint64_t *up)
{
    bool overflow = add_overflows(x, align - 1, up);

    *up = align_down(*up, align);
    return overflow;
}

/* The same for an x that is known to be at least `align` below 2^64. */
static inline uint64_t align_up(uint64_t x, uint64_t align)
{
    return align_down(x + (align - 1), align);
}

/* x / y rounded up, without the overflow of (x + y - 1) / y. y is not 0. */
static inline uint64_t div_round_up(uint64_t x, uint64_t y)
{
    return x / y + (x % y != 0);
}

/* Largest n with 2^n <= x. x is not 0. */
static inline unsigned log2_floor(uint64_t x)
{
    return 63u - (unsigned)__builtin_clzll(x);
}

/* Smallest n with 2^n >= x. x is not 0; the result is 64 for x above 2^63. */
static inline unsigned log2_ceil(uint64_t x)
{
    return log2_floor(x) + !is_power_of_two(x);
}

/* Does [base, base + size) lie inside [outer, outer + outer_size)? No sum here can wrap. */
static inline bool range_inside(uint64_t base, uint64_t size, uint64_t outer, uint64_t outer_size)
{
    return base >= outer && base - outer <= outer_size && size <= outer_size - (base - outer);
}

#endif
