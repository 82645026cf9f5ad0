/* SPDX-License-Identifier: MIT */
#include "op.h"

#define LOG_MODULE "gpgpu"
#include "core/log.h"

#include <inttypes.h>

static int check_shape(uint32_t h, uint32_t w, uint32_t c, size_t *n_in, size_t *n_out)
{
    if (h < 2 || w < 2 || c == 0) {
        log_error("max_pool_2x2: input %" PRIu32 "x%" PRIu32 "x%" PRIu32 ": needs 1x2x2 at least", c, h, w);
        return -EINVAL;
    }
    int err = op_elements(h, w, c, n_in);
    return err ? err : op_elements(h / 2, w / 2, c, n_out);
}

int gpgpu_max_pool_2x2(struct gpgpu_context *ctx, const int32_t *in, int32_t *out, uint32_t h, uint32_t w,
                       uint32_t c)
{
    size_t n_in, n_out;
    int err = check_shape(h, w, c, &n_in, &n_out);
    if (err)
        return err;
    GPGPU_BUFFER(int32_t) gpu_in = GPGPU_BUFFER_INIT;
    GPGPU_BUFFER(int32_t) gpu_out = GPGPU_BUFFER_INIT;
    struct gpgpu_kernel kernel;
    err = gpgpu_upload_kernel(ctx, &gpgpu_image_max_pool_2x2, "max_pool_2x2", &kernel);
    if (!err)
        err = gpgpu_buffer_from_host(ctx, &gpu_in, in, n_in);
    if (!err)
        err = gpgpu_buffer_new(ctx, &gpu_out, n_out);
    if (!err)
        err = gpgpu_launch_kernel(ctx, &kernel, gpgpu_cover(n_out, OP_BLOCK), gpgpu_dim(OP_BLOCK, 1, 1),
                                  &gpu_in.raw, &gpu_out.raw, h, w, c);
    if (!err)
        err = gpgpu_buffer_readback(&gpu_out, out);
    return err;
}
