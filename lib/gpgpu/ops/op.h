/* SPDX-License-Identifier: MIT */
/* What the operators share. */
#ifndef GPGPU_OP_H
#define GPGPU_OP_H

#include "gpgpu/images.h"
#include "gpgpu/ops.h"

#include "core/math.h"

#include <errno.h>

#define OP_BLOCK 256u /* threads of a block: eight warps */

/* *n = a * b * c; -ENOMEM when that many elements cannot be numbered by 32 bits, as kernels do. */
static inline int op_elements(uint32_t a, uint32_t b, uint32_t c, size_t *n)
{
    uint32_t product;
    if (mul_overflows(a, b, &product) || mul_overflows(product, c, &product))
        return -ENOMEM;
    *n = product;
    return 0;
}

/* out = KERNEL(a, b), n elements each, a thread an element; count is what the kernel counts by. n 0: nothing
 * to do. */
int op_binary(struct gpgpu_context *ctx, const struct gpgpu_kernel_image *image, const char *name,
              const int32_t *a, const int32_t *b, int32_t *out, size_t n, uint32_t count);

#endif
