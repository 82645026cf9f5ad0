/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Each lane its own trip count, loops inside loops, and a loop of zero trips. */
ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), sum = 0, inner = 0;

    (void)scratch;
    for (u32 i = 0; i < opaque(g % 37); i++) {
        sum += i * i;
        for (u32 k = 0; k < opaque((g + i) % 5); k++)
            inner = inner * 3 + k;
        sum ^= inner;
    }
    out[g * OUT_WORDS] = sum;
    out[g * OUT_WORDS + 1] = inner;
}
