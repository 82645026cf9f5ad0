/* SPDX-License-Identifier: MIT */
/*
 * Reductions over a block whose thread count is a power of two. A butterfly: every thread reads its partner's
 * value at each step, so no lane diverges, and every thread ends with bit for bit the same result.
 */
#ifndef KERNEL_REDUCE_H
#define KERNEL_REDUCE_H

#include "kernel_math.h"

/* scratch: one float a thread. */
static KERNEL_INLINE float block_sum(SHARED float *scratch, float v)
{
    uint32_t t = thread_linear();
    for (uint32_t step = block_threads() >> 1; step != 0; step >>= 1) {
        scratch[t] = v;
        barrier();
        v += scratch[t ^ step];
        barrier();
    }
    return v;
}

static KERNEL_INLINE float block_max(SHARED float *scratch, float v)
{
    uint32_t t = thread_linear();
    for (uint32_t step = block_threads() >> 1; step != 0; step >>= 1) {
        scratch[t] = v;
        barrier();
        v = max_f32(v, scratch[t ^ step]);
        barrier();
    }
    return v;
}

/* The least v of the block; v < 2^24, which a float holds exactly. */
static KERNEL_INLINE uint32_t block_min_index(SHARED float *scratch, uint32_t v)
{
    return (uint32_t)-block_max(scratch, -(float)v);
}

#endif
