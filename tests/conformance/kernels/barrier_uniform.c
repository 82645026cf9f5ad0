/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* A tree reduction in shared memory: a barrier inside a loop that every thread runs equally often. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 t = thread_index(), n = block_threads(), g = global_index();

    (void)scratch;
    SHARED[t] = hash(g);
    barrier();
    for (u32 step = 1; step < n; step *= 2) {
        if (t % (2 * step) == 0 && t + step < n)
            SHARED[t] += SHARED[t + step];
        barrier();
    }
    out[g * OUT_WORDS] = SHARED[0];
    for (u32 round = 0; round < 5; round++) {
        u32 value = SHARED[(t + 1) % n];

        barrier();
        SHARED[t] = value * 3 + round;
        barrier();
    }
    out[g * OUT_WORDS + 1] = SHARED[t];
}
