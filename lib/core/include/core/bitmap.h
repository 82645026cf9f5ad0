// SPDX-License-Identifier: MIT
/* Bit sets in arrays of 64-bit words: bit n is bit n % 64 of word n / 64. */
#ifndef CORE_BITMAP_H
#define CORE_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITMAP_WORDS(nbits) (((size_t)(nbits) + 63) / 64)

/* No such bit: the result of a search that found nothing. */
#define BITMAP_NONE SIZE_MAX

static inline bool bitmap_test(const uint64_t *map, size_t bit)
{
    return map[bit / 64] >> (bit % 64) & 1;
}

static inline void bitmap_set(uint64_t *map, size_t bit)
{
    map[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static inline void bitmap_clear(uint64_t *map, size_t bit)
{
    map[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

/* Bits first … first + count - 1. */
void bitmap_set_range(uint64_t *map, size_t first, size_t count);
void bitmap_clear_range(uint64_t *map, size_t first, size_t count);

/* Number of ones among bits 0 … nbits - 1. */
size_t bitmap_count(const uint64_t *map, size_t nbits);

/* First bit at or after `from` and below `nbits` that is zero (is one); BITMAP_NONE if there is none. */
size_t bitmap_find_zero(const uint64_t *map, size_t nbits, size_t from);
size_t bitmap_find_one(const uint64_t *map, size_t nbits, size_t from);

/* First of `count` (at least 1) zero bits in a row, at a multiple of `align` (a power of two); BITMAP_NONE if
 * none. */
size_t bitmap_find_zero_range(const uint64_t *map, size_t nbits, size_t count, size_t align);

#endif
