/* SPDX-License-Identifier: MIT */
/* A seeded generator (SplitMix64): every random test prints its seed and can be run again from it. */
#ifndef CONFORMANCE_RNG_H
#define CONFORMANCE_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_u64(struct rng *r)
{
    uint64_t z = (r->state += 0x9E3779B97F4A7C15ull);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static inline uint32_t rng_u32(struct rng *r)
{
    return (uint32_t)(rng_u64(r) >> 32);
}

/* Uniform in [0, n), n > 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)(((uint64_t)rng_u32(r) * n) >> 32);
}

/* Uniform in [lo, hi]. */
static inline int32_t rng_range(struct rng *r, int32_t lo, int32_t hi)
{
    return lo + (int32_t)rng_below(r, (uint32_t)(hi - lo) + 1);
}

/* True once in n. */
static inline bool rng_one_in(struct rng *r, uint32_t n)
{
    return rng_below(r, n) == 0;
}

#endif
