/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Four arms, each with its own way to the end; nothing after the switch. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), *o = out + g * OUT_WORDS;

    (void)scratch;
    if (opaque(h) & 1) {
        for (u32 i = 0; i < opaque(h >> 4 & 15); i++)
            o[0] += i + 1;
        thread_end();
    } else if (opaque(h) & 2) {
        o[1] = h;
        if (opaque(h) & 8)
            thread_end();
        o[2] = 4;
        thread_end();
    } else if (opaque(h) & 4) {
        for (u32 i = 0;; i++) {
            o[3] = i;
            if (hash(h + i) % 9 == 0)
                thread_end();
        }
    }
    o[4] = 5;
    thread_end();
    __builtin_unreachable();
}
