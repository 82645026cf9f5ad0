/* SPDX-License-Identifier: MIT */
#include "kernel.h"

static NOINLINE u32 fibonacci(u32 n)
{
    return opaque(n) < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* Mutual recursion with an early return. */
static NOINLINE u32 odd(u32 n, u32 h);

static NOINLINE u32 even(u32 n, u32 h)
{
    if (!opaque(n))
        return h;
    if (hash(h) % 7 == 0)
        return h + 1;
    return odd(n - 1, hash(h)) + 1;
}

static NOINLINE u32 odd(u32 n, u32 h)
{
    return opaque(n) ? even(n - 1, h ^ n) * 3 : h + 2;
}

ENTRY void kernel(u32 *out, u32 *scratch)
{
    u32 g = global_index();

    (void)scratch;
    out[g * OUT_WORDS] = fibonacci(g % 9);
    if (opaque(g) & 1)
        out[g * OUT_WORDS + 1] = even(g % 23, g);
    else
        out[g * OUT_WORDS + 1] = odd(g % 19, g);
}
