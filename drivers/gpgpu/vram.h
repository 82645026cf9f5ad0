/* SPDX-License-Identifier: MIT */
/*
 * Allocator of device memory. Pure bookkeeping: it never touches the memory it gives out, so it serves a
 * device whose memory the CPU cannot see as well as one it can.
 *
 * The managed range is kept as one array of blocks, sorted by address and without gaps; neighbours are never
 * both free (they are merged when freed). Finding a block is a binary search, allocation is first fit.
 */
#ifndef DRIVERS_GPGPU_VRAM_H
#define DRIVERS_GPGPU_VRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vram_block;

struct vram {
    struct vram_block *blocks;
    size_t count;
    size_t capacity;
};

struct vram_stats {
    uint64_t total;        /* bytes managed */
    uint64_t used;         /* bytes allocated, rounding included */
    uint64_t largest_free; /* bytes of the largest free block */
    size_t allocations;    /* live */
};

/* Manage [base, base + size): both are cut to multiples of GPGPU_ALIGNMENT. -EINVAL if nothing is left or the
 * range wraps, -ENOMEM. */
int vram_init(struct vram *v, uint64_t base, uint64_t size);
void vram_destroy(struct vram *v);

/* size bytes, rounded up to GPGPU_ALIGNMENT, at a multiple of it. -EINVAL: size 0; -ENOMEM: no free block is
 * large enough, or no host memory for the bookkeeping. */
int vram_alloc(struct vram *v, uint64_t size, uint64_t *addr);

/* Give back what vram_alloc gave. -EINVAL: addr is not the start of a live allocation (double free, foreign
 * address). Needs no host memory. */
int vram_free(struct vram *v, uint64_t addr);

/* Whether [addr, addr + size) lies inside one live allocation. */
bool vram_contains(const struct vram *v, uint64_t addr, uint64_t size);

void vram_stats(const struct vram *v, struct vram_stats *out);

#endif
