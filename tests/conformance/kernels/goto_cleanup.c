/* SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Nested calls that fail at different depths and unwind through cleanup code. */
static NOINLINE int inner(u32 *o, u32 h)
{
    if (opaque(h) % 4 == 0)
        return -1;
    o[0] += 1;
    return opaque(h) % 4 == 1 ? -2 : 0;
}

static NOINLINE int middle(u32 *o, u32 h)
{
    int err = inner(o, h);

    if (err)
        goto undo;
    err = inner(o, h >> 2);
    if (err)
        goto undo_both;
    o[1]++;
    return 0;
undo_both:
    o[2] += 10;
undo:
    o[3] -= 1;
    return err;
}

ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index(), h = hash(g), *o = out + g * OUT_WORDS;

    (void)scratch;
    for (u32 i = 0; i < 10; i++, h = hash(h))
        if (middle(o, h) == -2 && opaque(h) & 16)
            break;
    o[4] = h;
}
