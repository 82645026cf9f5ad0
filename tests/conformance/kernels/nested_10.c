/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#define LEVEL(n, inside)                                                                                     \
    if (opaque(h) >> (n) & 1) {                                                                              \
        r = r * 3 + (n);                                                                                     \
        inside r ^= 1u << (n);                                                                               \
    } else {                                                                                                 \
        r = r * 5 + 1;                                                                                       \
    }                                                                                                        \
    o[n] = r;

ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g) | hash(g + 77), r = g, *o = out + g * OUT_WORDS;

    (void)scratch;
    LEVEL(0, LEVEL(1, LEVEL(2, LEVEL(3, LEVEL(4, LEVEL(5, LEVEL(6, LEVEL(7, LEVEL(8, LEVEL(9, ))))))))))
    o[10] = r;
}
