/* SPDX-License-Identifier: MIT */
#include "gpgpu/runtime.h"

#define LOG_MODULE "gpgpu"
#include "core/errno.h"
#include "core/log.h"

#include <errno.h>
#include <stdlib.h>

/* An image that a context has put on its device. */
struct gpgpu_module {
    struct gpgpu_module *next;
    const struct gpgpu_kernel_image *image;
    gpgpu_module_t handle;
};

int gpgpu_context_open(struct gpgpu_context *ctx, unsigned index)
{
    struct gpgpu_device *device = gpgpu_device_get(index);
    *ctx = (struct gpgpu_context){0};
    if (!device) {
        log_error("no GPU %u: %u found; QEMU makes one of each -device gpgpu", index, gpgpu_device_count());
        return -ENODEV;
    }
    return gpgpu_context_open_device(ctx, device);
}

int gpgpu_context_open_device(struct gpgpu_context *ctx, struct gpgpu_device *device)
{
    *ctx = (struct gpgpu_context){.device = device};
    gpgpu_device_caps(device, &ctx->caps);
    return 0;
}

static void unload_modules(struct gpgpu_context *ctx)
{
    while (ctx->modules) {
        struct gpgpu_module *m = ctx->modules;
        ctx->modules = m->next;
        int err = gpgpu_device_module_unload(ctx->device, m->handle);
        if (err)
            log_error("%s: unload of module %s: %s", ctx->device->name, m->image->name, error_name(err));
        free(m);
    }
}

void gpgpu_context_close(struct gpgpu_context *ctx)
{
    if (!ctx->device)
        return;
    int err = gpgpu_wait(ctx);
    if (err)
        log_error("%s: work failed unnoticed: %s", ctx->device->name, error_name(err));
    unload_modules(ctx);
    *ctx = (struct gpgpu_context){0};
}

/* ---- memory -------------------------------------------------------------------------------------------- */

int gpgpu_malloc(struct gpgpu_context *ctx, size_t size, gpgpu_addr_t *out)
{
    int err = gpgpu_device_mem_alloc(ctx->device, size, out);
    if (err)
        log_error("%s: no %zu bytes left of %llu bytes of device memory: %s; free some, or -device "
                  "gpgpu,vram_size=SIZE",
                  ctx->device->name, size, (unsigned long long)ctx->caps.vram_bytes, error_name(err));
    return err;
}

int gpgpu_free(struct gpgpu_context *ctx, gpgpu_addr_t addr)
{
    int work = gpgpu_wait(ctx);
    int err = gpgpu_device_mem_free(ctx->device, addr);
    return err ? err : work;
}

/* A copy is done when it returns, as with cudaMemcpy. */
static int finish(struct gpgpu_context *ctx, int err)
{
    return err ? err : gpgpu_wait(ctx);
}

int gpgpu_memcpy_h2d(struct gpgpu_context *ctx, gpgpu_addr_t dst, const void *src, size_t size)
{
    return finish(ctx, gpgpu_device_copy_h2d(ctx->device, GPGPU_STREAM_DEFAULT, dst, src, size));
}

int gpgpu_memcpy_d2h(struct gpgpu_context *ctx, void *dst, gpgpu_addr_t src, size_t size)
{
    return finish(ctx, gpgpu_device_copy_d2h(ctx->device, GPGPU_STREAM_DEFAULT, dst, src, size));
}

int gpgpu_memcpy_d2d(struct gpgpu_context *ctx, gpgpu_addr_t dst, gpgpu_addr_t src, size_t size)
{
    return finish(ctx, gpgpu_device_copy_d2d(ctx->device, GPGPU_STREAM_DEFAULT, dst, src, size));
}

int gpgpu_wait(struct gpgpu_context *ctx)
{
    return gpgpu_device_sync(ctx->device, GPGPU_STREAM_DEFAULT);
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static int load_module(struct gpgpu_context *ctx, const struct gpgpu_kernel_image *image,
                       struct gpgpu_module **out)
{
    struct gpgpu_module *m = malloc(sizeof(*m));
    if (!m)
        return -ENOMEM;
    *m = (struct gpgpu_module){.next = ctx->modules, .image = image};
    int err = gpgpu_device_module_load(ctx->device, image, &m->handle);
    if (err) {
        free(m);
        return err;
    }
    ctx->modules = *out = m;
    return 0;
}

int gpgpu_upload_kernel(struct gpgpu_context *ctx, const struct gpgpu_kernel_image *image, const char *name,
                        struct gpgpu_kernel *out)
{
    struct gpgpu_module *m = ctx->modules;
    int err = 0;
    while (m && m->image != image)
        m = m->next;
    if (!m)
        err = load_module(ctx, image, &m);
    if (!err)
        err = gpgpu_device_kernel_get(ctx->device, m->handle, name, &out->handle);
    if (err)
        log_error("%s: kernel %s of module %s: %s", ctx->device->name, name, image->name, error_name(err));
    out->name = name;
    return err;
}
