// SPDX-License-Identifier: MIT
#include "core/bitmap.h"
#include "core/math.h"

/* Ones at the bits of word `word` that lie in [first, end). */
static uint64_t word_mask(size_t word, size_t first, size_t end)
{
    size_t base = word * 64;
    uint64_t mask = UINT64_MAX;

    if (first > base)
        mask &= UINT64_MAX << (first - base);
    if (end < base + 64)
        mask &= UINT64_MAX >> (base + 64 - end);
    return mask;
}

void bitmap_set_range(uint64_t *map, size_t first, size_t count)
{
    for (size_t w = first / 64; w * 64 < first + count; w++)
        map[w] |= word_mask(w, first, first + count);
}

void bitmap_clear_range(uint64_t *map, size_t first, size_t count)
{
    for (size_t w = first / 64; w * 64 < first + count; w++)
        map[w] &= ~word_mask(w, first, first + count);
}

size_t bitmap_count(const uint64_t *map, size_t nbits)
{
    size_t count = 0;

    for (size_t w = 0; w * 64 < nbits; w++)
        count += (size_t)__builtin_popcountll(map[w] & word_mask(w, 0, nbits));
    return count;
}

/* First one of (map ^ invert) in [from, nbits). */
static size_t find(const uint64_t *map, size_t nbits, size_t from, uint64_t invert)
{
    for (size_t w = from / 64; w * 64 < nbits; w++) {
        uint64_t word = (map[w] ^ invert) & word_mask(w, from, nbits);

        if (word != 0)
            return w * 64 + (size_t)__builtin_ctzll(word);
    }
    return BITMAP_NONE;
}

size_t bitmap_find_zero(const uint64_t *map, size_t nbits, size_t from)
{
    return from < nbits ? find(map, nbits, from, UINT64_MAX) : BITMAP_NONE;
}

size_t bitmap_find_one(const uint64_t *map, size_t nbits, size_t from)
{
    return from < nbits ? find(map, nbits, from, 0) : BITMAP_NONE;
}

size_t bitmap_find_zero_range(const uint64_t *map, size_t nbits, size_t count, size_t align)
{
    size_t start = 0;

    while (start < nbits && count <= nbits - start) {
        size_t zero = bitmap_find_zero(map, nbits, start);
        size_t one;

        if (zero == BITMAP_NONE || nbits - zero < count)
            break;
        if (!is_aligned(zero, align)) {
            start = align_up(zero, align);
            continue;
        }
        one = bitmap_find_one(map, zero + count, zero);
        if (one == BITMAP_NONE)
            return zero;
        start = one + 1;
    }
    return BITMAP_NONE;
}
