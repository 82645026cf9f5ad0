/* SPDX-License-Identifier: MIT */
#include "op.h"

#define LOG_MODULE "gpgpu"
#include "core/log.h"

#include <inttypes.h>

static int check_shape(uint32_t in_dim, uint32_t out_dim, size_t *n_weight)
{
    if (in_dim == 0 || out_dim == 0) {
        log_error("fc_layer: %" PRIu32 " inputs, %" PRIu32 " outputs: needs 1 at least", in_dim, out_dim);
        return -EINVAL;
    }
    return op_elements(in_dim, out_dim, 1, n_weight);
}

int gpgpu_fc_layer(struct gpgpu_context *ctx, const int32_t *in, const int32_t *weight, const int32_t *bias,
                   int32_t *out, uint32_t in_dim, uint32_t out_dim)
{
    size_t n_weight;
    int err = check_shape(in_dim, out_dim, &n_weight);
    if (err)
        return err;
    GPGPU_BUFFER(int32_t) gpu_in = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_weight = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_bias = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_out = GPGPU_BUFFER_INIT;
    struct gpgpu_kernel kernel;
    err = gpgpu_upload_kernel(ctx, &gpgpu_image_fc_layer, "fc_layer", &kernel);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_in, in, in_dim);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_weight, weight, n_weight);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_bias, bias, out_dim);
    if (!err)
        err = gpgpu_buffer_new(ctx, &gpu_out, out_dim);
    if (!err)
        err = gpgpu_launch_kernel(ctx, &kernel, gpgpu_cover(out_dim, OP_BLOCK), gpgpu_dim(OP_BLOCK, 1, 1),
                                  &gpu_in.raw, &gpu_weight.raw, &gpu_bias.raw, &gpu_out.raw, in_dim, out_dim);
    if (!err)
        err = gpgpu_buffer_readback(&gpu_out, out);
    return err;
}
