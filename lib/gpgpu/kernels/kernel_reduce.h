/* SPDX-License-Identifier: MIT */
/*
 * Reductions over a block. Every thread adds up all threads' values itself: the loads are uniform, no lane
 * diverges, every thread has bit for bit the same result, and it takes two barriers. A tree would take two a
 * level, which costs more than these additions for the small blocks used here.
 */
#ifndef KERNEL_REDUCE_H
#define KERNEL_REDUCE_H

#include "kernel_math.h"

/* scratch: one float a thread. */
static KERNEL_INLINE float block_sum(SHARED float *scratch, float v)
{
    uint32_t n = block_dim_x();
    scratch[thread_idx_x()] = v;
    barrier();
    float sum = 0.0f;
    for (uint32_t i = 0; i < n; i++)
        sum += scratch[i];
    barrier();
    return sum;
}

static KERNEL_INLINE float block_max(SHARED float *scratch, float v)
{
    uint32_t n = block_dim_x();
    scratch[thread_idx_x()] = v;
    barrier();
    float max = scratch[0];
    for (uint32_t i = 1; i < n; i++)
        max = max_f32(max, scratch[i]);
    barrier();
    return max;
}

/* The least v of the block; v < 2^24, which a float holds exactly. */
static KERNEL_INLINE uint32_t block_min_index(SHARED float *scratch, uint32_t v)
{
    return (uint32_t)-block_max(scratch, -(float)v);
}

#endif
