/* SPDX-License-Identifier: MIT */
#include "op.h"

int gpgpu_matmul_4x4(struct gpgpu_context *ctx, const int32_t *a, const int32_t *b, int32_t *out,
                     size_t count)
{
    if (count > UINT32_MAX / 16)
        return -ENOMEM;
    return op_binary(ctx, &gpgpu_image_matmul_4x4, "matmul_4x4", a, b, out, count * 16, (uint32_t)count);
}
