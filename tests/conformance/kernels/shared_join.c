/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Several branches and loops that end at the same place. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), r = 1;

    (void)scratch;
    if (opaque(h) & 1)
        goto join;
    r += 2;
    if (opaque(h) & 2)
        goto join;
    r += 4;
    for (u32 i = 0; i < 9; i++) {
        r += 16;
        if (i == opaque(h >> 2 & 15))
            goto join;
        if (opaque(h) >> i & 1) {
            r += 1000;
            if (opaque(h) & 64)
                goto join;
        }
    }
    r += 100000;
join:
    out[g * OUT_WORDS] = r;
}
