/* SPDX-License-Identifier: MIT */
#include "kernel.h"

static NOINLINE u32 twice(u32 x)
{
    return x * 2;
}

static NOINLINE u32 square(u32 x)
{
    return x * x;
}

static NOINLINE u32 count_bits(u32 x)
{
    u32 n = 0;

    for (; opaque(x); x &= x - 1)
        n++;
    return n;
}

static NOINLINE u32 twice_square(u32 x)
{
    return twice(opaque(x)) + square(opaque(x));
}

typedef u32 (*function)(u32);

static NOINLINE u32 apply(function f, u32 x)
{
    return f(x) + 1;
}

ENTRY void kernel(u32 *out, u32 *scratch)
{
    static function const functions[] = {twice, square, count_bits, twice_square, hash};
    u32 g = global_index(), r = g;

    (void)scratch;
    for (u32 i = 0; i < 6; i++) {
        r = functions[opaque(hash(g + i)) % 5](r);
        if (opaque(r) & 1)
            r = apply(functions[opaque(r) % 5], r);
    }
    out[g * OUT_WORDS] = r;
}
