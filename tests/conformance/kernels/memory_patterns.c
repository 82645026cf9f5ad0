/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Private arrays with lane-dependent indices, uniform and unit-stride reads, shared memory by own slot. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), t = thread_index(), *o = out + g * OUT_WORDS, sum = 0;
    volatile u32 stack[40];
    volatile unsigned char small[64];

    for (u32 i = 0; i < 40; i++)
        stack[i] = i * g;
    for (u32 i = 0; i < 64; i++)
        small[i] = (unsigned char)(i + g);
    for (u32 i = 0; i < 20; i++) {
        u32 at = hash(g + i) % 40;

        if (opaque(at) & 1)
            stack[at] += small[at] + 1;
        sum += stack[(at * 7) % 40] + small[hash(at) % 64];
        sum += ((volatile u32 *)scratch)[i] + *(volatile u32 *)((volatile char *)small + hash(sum) % 60);
    }
    SHARED[t] = sum;
    if (opaque(g) & 1)
        SHARED[t] += 5;
    o[0] = SHARED[t];
    for (u32 i = 0; i < 40; i++)
        o[1 + i] = stack[i];
}
