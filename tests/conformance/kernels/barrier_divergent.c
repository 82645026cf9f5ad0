/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Each arm has a barrier of its own; all threads arrive once for each round. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 t = thread_index(), n = block_threads(), g = global_index(), r = 0;

    (void)scratch;
    for (u32 round = 0; round < 4; round++) {
        SHARED[t] = hash(g + round);
        if (opaque(hash(t * 7 + round)) & 1) {
            r += 1;
            barrier();
            r += SHARED[(t + 1) % n];
        } else if (opaque(t) & 2) {
            r *= 3;
            barrier();
            r ^= SHARED[(t + 2) % n];
        } else {
            for (u32 i = 0; i < opaque(t % 7); i++)
                r += i;
            barrier();
            r -= SHARED[(t + n - 1) % n];
        }
        barrier();
    }
    out[g * OUT_WORDS] = r;
}
