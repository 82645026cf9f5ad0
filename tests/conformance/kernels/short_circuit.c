/* SPDX-License-Identifier: MIT */
#include "kernel.h"

static NOINLINE u32 test(u32 *o, u32 bit, u32 h)
{
    o[bit]++;
    return opaque(h) >> bit & 1;
}

ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), *o = out + g * OUT_WORDS, r = 0;

    (void)scratch;
    if ((test(o, 0, h) && test(o, 1, h)) || (test(o, 2, h) && !(test(o, 3, h) || test(o, 4, h))))
        r |= 1;
    if (test(o, 5, h) || test(o, 6, h) || (test(o, 7, h) && test(o, 8, h) && test(o, 9, h)))
        r |= 2;
    r |= (test(o, 10, h) ? test(o, 11, h) && test(o, 12, h) : test(o, 13, h) || test(o, 14, h)) ? 4 : 8;
    while (test(o, 15, h) && r < 100 && (test(o, 16, h) || r < 50))
        r += 10, h = hash(h);
    o[20] = r;
}
