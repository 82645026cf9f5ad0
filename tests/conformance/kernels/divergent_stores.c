/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Bytes, halves and words side by side in memory, backwards, strided and misaligned, by some of the lanes. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), n = block_threads() * CTRL[12] * CTRL[13] * CTRL[14];
    volatile unsigned char *bytes = (volatile unsigned char *)(out + n * OUT_WORDS / 2);
    volatile unsigned short *halves = (volatile unsigned short *)(bytes + 4 * n);
    volatile u32 *words = (volatile u32 *)(bytes + 8 * n);

    (void)scratch;
    if (opaque(h) & 1)
        bytes[g] = (unsigned char)h;
    else
        bytes[2 * n - g] = (unsigned char)(h >> 8);
    if (opaque(h) & 2)
        halves[g] = (unsigned short)(bytes[g] + h);
    words[g] = h;
    if (opaque(h) & 12) {
        words[3 * n - g] = words[g] ^ 1;
        if (opaque(h) & 16)
            *(volatile u32 *)((volatile char *)words + 12 * n + 16 + 5 * g) =
                h; /* the lanes' words do not touch */
    }
}
