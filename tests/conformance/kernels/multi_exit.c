/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* A loop left by five ways to three places, and a path that would abort by looping for ever. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), r = g;

    (void)scratch;
    for (u32 i = 0;; i++) {
        h = hash(h + i);
        if (opaque(h) % 11 == 0)
            goto first;
        if (opaque(h) % 13 == 0) {
            r += 5;
            goto second;
        }
        if (opaque(r) == 0xffffffff)
            for (;;)
                __asm__ volatile("");
        r = r * 7 + h;
        if (opaque(h) % 19 == 0)
            break;
        if (i == 40)
            goto second;
    }
    r ^= 0xaaaa;
first:
    r += 3;
    if (opaque(r) & 1)
        r *= 3;
second:
    out[g * OUT_WORDS] = r;
}
