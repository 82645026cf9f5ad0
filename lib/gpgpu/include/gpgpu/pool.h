/* SPDX-License-Identifier: MIT */
/*
 * Pooled device memory. A freed block is kept and given out again without waiting for the device: everything
 * that uses a pool runs in the order of one stream, so the old user's work is done before the new user's
 * starts. Sizes are rounded up to classes, four a power of two, so that a block fits many requests.
 */
#ifndef GPGPU_POOL_H
#define GPGPU_POOL_H

#include "drivers/gpgpu.h"

struct gpgpu_pool_block;

struct gpgpu_pool {
    struct gpgpu_device *device;
    gpgpu_stream_t stream;
    struct gpgpu_pool_block *blocks; /* every block of the pool, in use or free */
    size_t used;                     /* bytes in use */
    size_t held;                     /* bytes taken from the device, in use or free */
    size_t peak;                     /* most bytes in use at a time */
};

/* An empty pool for work of that stream of the device. */
void gpgpu_pool_init(struct gpgpu_pool *pool, struct gpgpu_device *device, gpgpu_stream_t stream);

/* size > 0 bytes. When the device is full, free blocks are given back to it first; if that is not enough:
 * -ENOMEM, for which gpgpu_is_oom() is true. */
int gpgpu_pool_alloc(struct gpgpu_pool *pool, size_t size, gpgpu_addr_t *out);

/* Give a block back to the pool; does not wait. -EINVAL for an address the pool did not give out. */
int gpgpu_pool_free(struct gpgpu_pool *pool, gpgpu_addr_t addr);

/* Wait for the stream and give all free blocks back to the device. */
int gpgpu_pool_trim(struct gpgpu_pool *pool);

/* Trim, and forget the pool. -EBUSY when blocks are still in use: nothing is done. */
int gpgpu_pool_destroy(struct gpgpu_pool *pool);

/* Whether an error of this library means that memory ran out: a smaller batch may succeed. */
bool gpgpu_is_oom(int err);

#endif
