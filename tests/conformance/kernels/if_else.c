/* SPDX-License-Identifier: MIT */
#include "kernel.h"

ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), r = 0;

    (void)scratch;
    if (opaque(h) & 1)
        r = 10;
    else
        r = 20;
    if (opaque(h) & 2)
        r += 100;
    if (opaque(g) % 3 == 0)
        r += 1000;
    else if (g % 3 == 1)
        r += 2000;
    out[g * OUT_WORDS] = r + 1;
}
