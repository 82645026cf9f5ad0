/* SPDX-License-Identifier: MIT */
/* Pooled device memory: see gpgpu/pool.h. */
#define LOG_MODULE "pool"
#include <errno.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/math.h"
#include "gpgpu/pool.h"

#define SMALLEST_CLASS 256u

struct gpgpu_pool_block {
    struct gpgpu_pool_block *next;
    gpgpu_addr_t addr;
    size_t size; /* of its class */
    bool in_use;
};

/* The smallest class that holds size: 4 evenly spaced ones from each power of two to the next. 0: too large.
 */
static size_t size_class(size_t size)
{
    if (size <= SMALLEST_CLASS)
        return SMALLEST_CLASS;
    if (size > SIZE_MAX / 2)
        return 0;
    return align_up(size, 1ull << (log2_floor(size - 1) - 2));
}

void gpgpu_pool_init(struct gpgpu_pool *pool, struct gpgpu_device *device, gpgpu_stream_t stream)
{
    *pool = (struct gpgpu_pool){.device = device, .stream = stream};
}

static struct gpgpu_pool_block *find_free(struct gpgpu_pool *pool, size_t size)
{
    for (struct gpgpu_pool_block *b = pool->blocks; b; b = b->next)
        if (!b->in_use && b->size == size)
            return b;
    return NULL;
}

/* Memory from the device; when it is full, once more after giving back what is free. */
static int alloc_from_device(struct gpgpu_pool *pool, size_t size, gpgpu_addr_t *out)
{
    int err = gpgpu_device_mem_alloc(pool->device, size, out);
    if (err != -ENOMEM || pool->used == pool->held)
        return err;
    err = gpgpu_pool_trim(pool);
    return err ? err : gpgpu_device_mem_alloc(pool->device, size, out);
}

static int add_block(struct gpgpu_pool *pool, size_t size, struct gpgpu_pool_block **out)
{
    struct gpgpu_pool_block *block = calloc(1, sizeof *block);
    if (!block)
        return -ENOMEM;
    int err = alloc_from_device(pool, size, &block->addr);
    if (err) {
        free(block);
        return err;
    }
    block->size = size;
    block->next = pool->blocks;
    pool->blocks = block;
    pool->held += size;
    *out = block;
    return 0;
}

int gpgpu_pool_alloc(struct gpgpu_pool *pool, size_t size, gpgpu_addr_t *out)
{
    if (size == 0)
        return -EINVAL;
    size_t rounded = size_class(size);
    if (rounded == 0)
        return -ENOMEM;
    struct gpgpu_pool_block *block = find_free(pool, rounded);
    int err = block ? 0 : add_block(pool, rounded, &block);
    if (err) {
        log_error("%zu bytes do not fit: %zu in use, %zu held", size, pool->used, pool->held);
        return err;
    }
    block->in_use = true;
    pool->used += block->size;
    if (pool->used > pool->peak)
        pool->peak = pool->used;
    *out = block->addr;
    return 0;
}

int gpgpu_pool_free(struct gpgpu_pool *pool, gpgpu_addr_t addr)
{
    for (struct gpgpu_pool_block *b = pool->blocks; b; b = b->next) {
        if (b->addr == addr && b->in_use) {
            b->in_use = false;
            pool->used -= b->size;
            return 0;
        }
    }
    return -EINVAL;
}

int gpgpu_pool_trim(struct gpgpu_pool *pool)
{
    int err = gpgpu_device_sync(pool->device, pool->stream);
    struct gpgpu_pool_block **link = &pool->blocks;
    while (*link) {
        struct gpgpu_pool_block *b = *link;
        if (b->in_use) {
            link = &b->next;
            continue;
        }
        int freed = gpgpu_device_mem_free(pool->device, b->addr);
        err = err ? err : freed;
        pool->held -= b->size;
        *link = b->next;
        free(b);
    }
    return err;
}

int gpgpu_pool_destroy(struct gpgpu_pool *pool)
{
    if (pool->used != 0) {
        log_error("destroyed with %zu bytes in use", pool->used);
        return -EBUSY;
    }
    return gpgpu_pool_trim(pool);
}

bool gpgpu_is_oom(int err)
{
    return err == -ENOMEM;
}
