/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Threads that have ended do not count: the others' barriers complete without them. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 t = thread_index(), n = block_threads(), g = global_index();

    (void)scratch;
    SHARED[t] = t + 1;
    barrier();
    for (u32 round = 0; round < 6; round++) {
        if (opaque(t) % 6 == round + 1)
            thread_end();
        barrier();
        out[g * OUT_WORDS + round] = SHARED[(t + round) % n];
        barrier();
        if (opaque(t) % 6 == 0)
            SHARED[t] += round;
    }
}
