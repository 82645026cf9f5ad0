/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Threads that end inside one arm, by ebreak or by returning; the others must all go on. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), *o = out + g * OUT_WORDS;

    (void)scratch;
    o[0] = 1;
    if (opaque(h) % 5 == 0) {
        o[1] = 2;
        thread_end();
    }
    o[2] = 3;
    for (u32 i = 0; i < 8; i++) {
        if (opaque(h) >> i & 1) {
            o[3] += i;
            if (i > 4)
                return;
        } else if (i == 7) {
            thread_end();
        }
        o[4 + i] = i;
    }
    o[20] = 9;
}
