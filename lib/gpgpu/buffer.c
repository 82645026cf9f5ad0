/* SPDX-License-Identifier: MIT */
#include "gpgpu/runtime.h"

#define LOG_MODULE "gpgpu"
#include "core/errno.h"
#include "core/log.h"
#include "core/math.h"

#include <errno.h>

int gpgpu_buffer_alloc(struct gpgpu_context *ctx, struct gpgpu_buffer *buf, size_t count, size_t elem_size)
{
    size_t size;
    if (count == 0 || buf->ctx)
        return -EINVAL;
    if (mul_overflows(count, elem_size, &size))
        return -ENOMEM;
    gpgpu_addr_t addr;
    int err = gpgpu_malloc(ctx, size, &addr);
    if (!err)
        *buf = (struct gpgpu_buffer){.ctx = ctx, .addr = addr, .count = count, .elem_size = elem_size};
    return err;
}

int gpgpu_buffer_alloc_from(struct gpgpu_context *ctx, struct gpgpu_buffer *buf, const void *src,
                            size_t count, size_t elem_size)
{
    int err = gpgpu_buffer_alloc(ctx, buf, count, elem_size);
    if (err)
        return err;
    err = gpgpu_buffer_fill(buf, src);
    if (err)
        gpgpu_buffer_free(buf);
    return err;
}

int gpgpu_buffer_read(const struct gpgpu_buffer *buf, void *dst)
{
    return buf->ctx ? gpgpu_memcpy_d2h(buf->ctx, dst, buf->addr, buf->count * buf->elem_size) : -EINVAL;
}

int gpgpu_buffer_fill(const struct gpgpu_buffer *buf, const void *src)
{
    return buf->ctx ? gpgpu_memcpy_h2d(buf->ctx, buf->addr, src, buf->count * buf->elem_size) : -EINVAL;
}

int gpgpu_buffer_free(struct gpgpu_buffer *buf)
{
    if (!buf->ctx)
        return 0;
    int err = gpgpu_free(buf->ctx, buf->addr);
    *buf = (struct gpgpu_buffer){0};
    return err;
}

void gpgpu_buffer_cleanup(void *buf)
{
    int err = gpgpu_buffer_free(buf);
    if (err)
        log_error("buffer left its scope: %s", error_name(err));
}
