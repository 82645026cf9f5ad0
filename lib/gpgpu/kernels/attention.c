/* SPDX-License-Identifier: MIT */
/* Reordering around multi-head attention; the products are batched sgemm, the weights attn_softmax. */
#include "kernel_math.h"

/* y [3][batch][heads][steps][dim] = x [batch][steps][3][heads][dim]: queries, keys, values by head. */
KERNEL(attn_split, IN(x), OUT(y), U32(n), DIVISOR(dim), DIVISOR(steps), DIVISOR(heads), DIVISOR(batch))
{
    FOR_EACH (i, n) {
        uint32_t r = DIVIDE(i, dim);
        uint32_t d = i - r * dim;
        uint32_t q = DIVIDE(r, steps);
        uint32_t step = r - q * steps;
        uint32_t p = DIVIDE(q, heads);
        uint32_t head = q - p * heads;
        uint32_t which = DIVIDE(p, batch);
        uint32_t item = p - which * batch;
        y[i] = x[(((item * steps + step) * 3 + which) * heads + head) * dim + d];
    }
}

/* y [batch][steps][heads][dim] = x [batch][heads][steps][dim]. */
KERNEL(attn_merge, IN(x), OUT(y), U32(n), DIVISOR(dim), DIVISOR(heads), DIVISOR(steps))
{
    FOR_EACH (i, n) {
        uint32_t r = DIVIDE(i, dim);
        uint32_t d = i - r * dim;
        uint32_t q = DIVIDE(r, heads);
        uint32_t head = r - q * heads;
        uint32_t item = DIVIDE(q, steps);
        uint32_t step = q - item * steps;
        y[i] = x[((item * heads + head) * steps + step) * dim + d];
    }
}
