/* SPDX-License-Identifier: MIT */
#include "kernel.h"

ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), r = 0, n = 0;

    (void)scratch;
    for (u32 i = 0; i < 50; i++) {
        h = hash(h);
        if (opaque(h) % 3 == 0)
            continue;
        n++;
        if (opaque(h) % 17 == 1)
            break;
        do {
            r += h & 0xff;
            if (opaque(r) % 5 == 2)
                break;
            h >>= 1;
            if (opaque(h) & 1)
                continue;
            r ^= 0x10;
        } while (opaque(h) & 6);
    }
    out[g * OUT_WORDS] = r;
    out[g * OUT_WORDS + 1] = n;
}
