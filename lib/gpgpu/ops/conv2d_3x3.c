/* SPDX-License-Identifier: MIT */
#include "op.h"

#define LOG_MODULE "gpgpu"
#include "core/log.h"

#include <inttypes.h>

static int check_shape(uint32_t in_h, uint32_t in_w, size_t *n_in, uint32_t out_c, size_t *n_out)
{
    if (in_h < 3 || in_w < 3 || out_c == 0) {
        log_error("conv2d_3x3: input %" PRIu32 "x%" PRIu32 ", %" PRIu32
                  " output channels: needs 3x3 and 1 at least",
                  in_h, in_w, out_c);
        return -EINVAL;
    }
    int err = op_elements(in_h, in_w, 1, n_in);
    return err ? err : op_elements(in_h - 2, in_w - 2, out_c, n_out);
}

int gpgpu_conv2d_3x3(struct gpgpu_context *ctx, const int32_t *in, const int32_t *weight, const int32_t *bias,
                     int32_t *out, uint32_t in_h, uint32_t in_w, uint32_t out_c)
{
    size_t n_in, n_out;
    int err = check_shape(in_h, in_w, &n_in, out_c, &n_out);
    if (err)
        return err;
    GPGPU_BUFFER(int32_t) gpu_in = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_weight = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_bias = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_out = GPGPU_BUFFER_INIT;
    struct gpgpu_kernel kernel;
    err = gpgpu_upload_kernel(ctx, &gpgpu_image_conv2d_3x3, "conv2d_3x3", &kernel);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_in, in, n_in);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_weight, weight, (size_t)out_c * 9);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_bias, bias, out_c);
    if (!err)
        err = gpgpu_buffer_new(ctx, &gpu_out, n_out);
    if (!err)
        err =
            gpgpu_launch_kernel(ctx, &kernel, gpgpu_cover(n_out, OP_BLOCK), gpgpu_dim(OP_BLOCK, 1, 1),
                                &gpu_in.raw, &gpu_weight.raw, &gpu_bias.raw, &gpu_out.raw, in_h, in_w, out_c);
    if (!err)
        err = gpgpu_buffer_readback(&gpu_out, out);
    return err;
}
