/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Every amo, by all threads on the same words; results that do not depend on the order. lr/sc as a counter.
 */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), old;
    volatile u32 *s = SHARED;

    for (u32 i = 0; i < 2; i++) {
        volatile u32 *a = i ? scratch : s;

        __atomic_fetch_add(&a[0], h, __ATOMIC_SEQ_CST);
        __atomic_fetch_or(&a[1], 1u << (h & 31), __ATOMIC_SEQ_CST);
        __atomic_fetch_xor(&a[2], h, __ATOMIC_SEQ_CST);
        __asm__ volatile("amomax.w zero, %0, (%1)" ::"r"(h), "r"(&a[3]) : "memory");
        __asm__ volatile("amomin.w zero, %0, (%1)" ::"r"(h), "r"(&a[4]) : "memory");
        __asm__ volatile("amomaxu.w zero, %0, (%1)" ::"r"(h), "r"(&a[5]) : "memory");
        __asm__ volatile("amominu.w zero, %0, (%1)" ::"r"(~h), "r"(&a[6]) : "memory");
        if (opaque(h) & 1)
            __atomic_fetch_and(&a[7], ~(1u << (h >> 8 & 31)), __ATOMIC_SEQ_CST);
        old = a[8];
        while (!__atomic_compare_exchange_n(&a[8], &old, old + (h & 0xff), 0, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST))
            ;
    }
    barrier();
    for (u32 i = 0; i < 9; i++)
        out[g * OUT_WORDS + i] = s[i];
}
