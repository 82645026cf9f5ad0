/* SPDX-License-Identifier: MIT */
#include "vram.h"

#include "drivers/gpgpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct vram_block {
    uint64_t addr;
    uint64_t size;
    bool used;
};

static uint64_t align_down(uint64_t value)
{
    return value & ~(uint64_t)(GPGPU_ALIGNMENT - 1);
}

int vram_init(struct vram *v, uint64_t base, uint64_t size)
{
    uint64_t end, first;
    if (__builtin_add_overflow(base, size, &end) ||
        __builtin_add_overflow(base, (uint64_t)GPGPU_ALIGNMENT - 1, &first))
        return -EINVAL;
    first = align_down(first);
    end = align_down(end);
    if (first >= end)
        return -EINVAL;
    v->capacity = 16;
    v->blocks = malloc(v->capacity * sizeof(*v->blocks));
    if (!v->blocks)
        return -ENOMEM;
    v->blocks[0] = (struct vram_block){.addr = first, .size = end - first};
    v->count = 1;
    return 0;
}

void vram_destroy(struct vram *v)
{
    free(v->blocks);
    *v = (struct vram){0};
}

/* Index of the block that holds addr, or v->count when none does. */
static size_t find(const struct vram *v, uint64_t addr)
{
    size_t low = 0, high = v->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct vram_block *b = &v->blocks[mid];
        if (addr < b->addr)
            high = mid;
        else if (addr - b->addr >= b->size)
            low = mid + 1;
        else
            return mid;
    }
    return v->count;
}

static int make_room(struct vram *v)
{
    if (v->count < v->capacity)
        return 0;
    size_t capacity = v->capacity * 2;
    struct vram_block *blocks = realloc(v->blocks, capacity * sizeof(*blocks));
    if (!blocks)
        return -ENOMEM;
    v->blocks = blocks;
    v->capacity = capacity;
    return 0;
}

static void insert(struct vram *v, size_t at, struct vram_block block)
{
    memmove(&v->blocks[at + 1], &v->blocks[at], (v->count - at) * sizeof(*v->blocks));
    v->blocks[at] = block;
    v->count++;
}

static void remove_at(struct vram *v, size_t at)
{
    v->count--;
    memmove(&v->blocks[at], &v->blocks[at + 1], (v->count - at) * sizeof(*v->blocks));
}

static size_t first_fit(const struct vram *v, uint64_t size)
{
    size_t i = 0;
    while (i < v->count && (v->blocks[i].used || v->blocks[i].size < size))
        i++;
    return i;
}

int vram_alloc(struct vram *v, uint64_t size, uint64_t *addr)
{
    if (size == 0)
        return -EINVAL;
    if (size > UINT64_MAX - (GPGPU_ALIGNMENT - 1))
        return -ENOMEM;
    size = align_down(size + GPGPU_ALIGNMENT - 1);

    size_t at = first_fit(v, size);
    if (at == v->count || make_room(v) < 0)
        return -ENOMEM;
    struct vram_block *b = &v->blocks[at];
    *addr = b->addr;
    b->used = true;
    if (b->size > size) {
        struct vram_block rest = {.addr = b->addr + size, .size = b->size - size};
        b->size = size;
        insert(v, at + 1, rest);
    }
    return 0;
}

/* Merge block at + 1 into block at if both are free. */
static void merge(struct vram *v, size_t at)
{
    if (at + 1 >= v->count || v->blocks[at].used || v->blocks[at + 1].used)
        return;
    v->blocks[at].size += v->blocks[at + 1].size;
    remove_at(v, at + 1);
}

int vram_free(struct vram *v, uint64_t addr)
{
    size_t at = find(v, addr);
    if (at == v->count || !v->blocks[at].used || v->blocks[at].addr != addr)
        return -EINVAL;
    v->blocks[at].used = false;
    merge(v, at);
    if (at > 0)
        merge(v, at - 1);
    return 0;
}

bool vram_contains(const struct vram *v, uint64_t addr, uint64_t size)
{
    size_t at = find(v, addr);
    if (at == v->count || !v->blocks[at].used)
        return false;
    return size <= v->blocks[at].size - (addr - v->blocks[at].addr);
}

void vram_stats(const struct vram *v, struct vram_stats *out)
{
    *out = (struct vram_stats){0};
    for (size_t i = 0; i < v->count; i++) {
        const struct vram_block *b = &v->blocks[i];
        out->total += b->size;
        if (b->used) {
            out->used += b->size;
            out->allocations++;
        } else if (b->size > out->largest_free) {
            out->largest_free = b->size;
        }
    }
}
