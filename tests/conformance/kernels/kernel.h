/* SPDX-License-Identifier: MIT */
/*
 * What the kernels of the divergence corpus share. Each gets `out` (64 words per thread, zero), `scratch`
 * (1024 words for all, zero) and 4096 bytes of shared memory. What it leaves in memory must not depend on the
 * order in which threads run, since it is compared with threads run one at a time (scalar.h).
 */
#ifndef CONFORMANCE_KERNEL_H
#define CONFORMANCE_KERNEL_H

typedef unsigned u32;

#define CTRL     ((volatile const u32 *)0x80000000)
#define SHARED   ((volatile u32 *)0x90000000)
#define ENTRY    __attribute__((section(".text.entry")))
#define NOINLINE __attribute__((noinline))

/* Its value is unknown to the compiler, so that control flow stays as written. */
#define opaque(x)                                                                                            \
    __extension__({                                                                                          \
        u32 v_ = (x);                                                                                        \
        __asm__ volatile("" : "+r"(v_));                                                                     \
        v_;                                                                                                  \
    })

static inline void barrier(void)
{
    __asm__ volatile("" ::: "memory");
    *(volatile u32 *)0x80001000 = 0;
    __asm__ volatile("" ::: "memory");
}

static inline void thread_end(void)
{
    __asm__ volatile("ebreak" ::: "memory");
}

/* Linear index in the block, threads of the block, linear index in the grid. */
static inline u32 block_threads(void)
{
    return CTRL[8] * CTRL[9] * CTRL[10];
}

static inline u32 thread_index(void)
{
    return (CTRL[2] * CTRL[9] + CTRL[1]) * CTRL[8] + CTRL[0];
}

static inline u32 block_index(void)
{
    return (CTRL[6] * CTRL[13] + CTRL[5]) * CTRL[12] + CTRL[4];
}

static inline u32 global_index(void)
{
    return block_index() * block_threads() + thread_index();
}

static inline u32 hash(u32 x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

#define OUT_WORDS 64

#endif
