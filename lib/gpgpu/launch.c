/* SPDX-License-Identifier: MIT */
#include "gpgpu/runtime.h"

#define LOG_MODULE "gpgpu"
#include "core/log.h"

#include <errno.h>

static void set_dims(uint32_t out[3], struct gpgpu_dim3 dims)
{
    out[0] = dims.x;
    out[1] = dims.y;
    out[2] = dims.z;
}

struct gpgpu_launcher gpgpu_launcher(struct gpgpu_context *ctx, const struct gpgpu_kernel *kernel)
{
    return (struct gpgpu_launcher){
        .ctx = ctx, .kernel = kernel, .launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
}

void gpgpu_launcher_grid(struct gpgpu_launcher *l, struct gpgpu_dim3 grid)
{
    set_dims(l->launch.grid, grid);
}

void gpgpu_launcher_block(struct gpgpu_launcher *l, struct gpgpu_dim3 block)
{
    set_dims(l->launch.block, block);
}

void gpgpu_launcher_shared(struct gpgpu_launcher *l, uint32_t bytes)
{
    l->launch.shared_bytes = bytes;
}

void gpgpu_launcher_add(struct gpgpu_launcher *l, struct gpgpu_arg arg)
{
    if (l->nargs < GPGPU_MAX_ARGS)
        l->args[l->nargs] = arg;
    l->nargs++;
}

int gpgpu_launcher_launch(struct gpgpu_launcher *l)
{
    if (l->nargs > GPGPU_MAX_ARGS) {
        log_error("%s: %zu arguments, at most %u", l->kernel->name, l->nargs, GPGPU_MAX_ARGS);
        return -EINVAL;
    }
    l->launch.args = l->args;
    l->launch.nargs = l->nargs;
    return gpgpu_device_launch(l->ctx->device, GPGPU_STREAM_DEFAULT, l->kernel->handle, &l->launch);
}

int gpgpu_launch_args(struct gpgpu_context *ctx, const struct gpgpu_kernel *kernel, struct gpgpu_dim3 grid,
                      struct gpgpu_dim3 block, uint32_t shared_bytes, const struct gpgpu_arg *args,
                      size_t nargs)
{
    struct gpgpu_launch launch = {.shared_bytes = shared_bytes, .args = args, .nargs = nargs};
    set_dims(launch.grid, grid);
    set_dims(launch.block, block);
    return gpgpu_device_launch(ctx->device, GPGPU_STREAM_DEFAULT, kernel->handle, &launch);
}
