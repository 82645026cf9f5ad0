/* SPDX-License-Identifier: MIT */
#include "op.h"

int op_binary(struct gpgpu_context *ctx, const struct gpgpu_kernel_image *image, const char *name,
              const int32_t *a, const int32_t *b, int32_t *out, size_t n, uint32_t count)
{
    if (n == 0)
        return 0;
    GPGPU_BUFFER(int32_t) gpu_a = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_b = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_out = GPGPU_BUFFER_INIT;
    struct gpgpu_kernel kernel;
    int err = gpgpu_upload_kernel(ctx, image, name, &kernel);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_a, a, n);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_b, b, n);
    if (!err)
        err = gpgpu_buffer_new(ctx, &gpu_out, n);
    if (!err)
        err = gpgpu_launch_kernel(ctx, &kernel, gpgpu_cover(n, OP_BLOCK), gpgpu_dim(OP_BLOCK, 1, 1),
                                  &gpu_a.raw, &gpu_b.raw, &gpu_out.raw, count);
    if (!err)
        err = gpgpu_buffer_readback(&gpu_out, out);
    return err;
}

int gpgpu_vec_add(struct gpgpu_context *ctx, const int32_t *a, const int32_t *b, int32_t *out, size_t n)
{
    return op_binary(ctx, &gpgpu_image_vec_add, "vec_add", a, b, out, n, (uint32_t)n);
}

int gpgpu_relu(struct gpgpu_context *ctx, const int32_t *in, int32_t *out, size_t n)
{
    if (n == 0)
        return 0;
    GPGPU_BUFFER(int32_t) gpu_in = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_out = GPGPU_BUFFER_INIT;
    struct gpgpu_kernel kernel;
    int err = gpgpu_upload_kernel(ctx, &gpgpu_image_relu, "relu", &kernel);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_in, in, n);
    if (!err)
        err = gpgpu_buffer_new(ctx, &gpu_out, n);
    if (!err)
        err = gpgpu_launch_kernel(ctx, &kernel, gpgpu_cover(n, OP_BLOCK), gpgpu_dim(OP_BLOCK, 1, 1),
                                  &gpu_in.raw, &gpu_out.raw, (uint32_t)n);
    if (!err)
        err = gpgpu_buffer_readback(&gpu_out, out);
    return err;
}
