// SPDX-License-Identifier: MIT
/* Random numbers of tests: from WEFT_SEED, else from the clock; the seed is printed, so that a failure can be
 * had again. */
#ifndef TESTS_UNIT_RANDOM_H
#define TESTS_UNIT_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t random_state;

static inline void random_seed(void)
{
    const char *seed = getenv("WEFT_SEED");

    random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
    printf("WEFT_SEED=%llu\n", (unsigned long long)random_state);
}

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
static inline uint64_t random_u64(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 … n - 1 */
static inline uint64_t random_below(uint64_t n)
{
    return random_u64() % n;
}

#endif
