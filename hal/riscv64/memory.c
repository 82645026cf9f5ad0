// SPDX-License-Identifier: MIT
// The kernel's one page pool and one heap, and the C library's allocation functions on top.
#include "boot.h"
#include "heap_guard.h"
#include "pool.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "core/math.h"
#include "core/util.h"
#include "hal/dma.h"
#include "hal/machine.h"
#include "hal/mem.h"
#include "hal/paging.h"
#include "hal/panic.h"
#include "hal/spinlock.h"

static struct pool pool;
static size_t pages_total;
static struct spinlock pool_lock;

static void add_free(uint64_t start, uint64_t end)
{
    if (!pool_give(&pool, (void *)start, end - start))
        panic("memory [%#lx, %#lx) is listed twice", start, end);
    paging_add(start, start, end - start, PAGING_READ | PAGING_WRITE);
}

// Takes the whole pages of [start, end) that nothing is reserved in: those up to the first reserved range,
// and then those behind it.
static void add_unreserved(uint64_t start, uint64_t end)
{
    const struct machine *m = &boot_machine;
    while (start < end) {
        uint64_t stop = end, behind = end;
        for (unsigned i = 0; i < m->nreserved; i++) {
            uint64_t first = align_down(m->reserved[i].base.value, PAGE_SIZE);
            uint64_t after = align_up(m->reserved[i].base.value + m->reserved[i].size, PAGE_SIZE);
            if (first < stop && after > start) {
                stop = first;
                behind = after;
            }
        }
        if (start < stop)
            add_free(start, stop);
        start = behind;
    }
}

void memory_init(void)
{
    const struct machine *m = &boot_machine;
    uint64_t image = (uint64_t)image_start;
    for (const struct machine_range *ram = m->ram; ram < m->ram + m->nram; ram++) {
        uint64_t start = align_up(ram->base.value, PAGE_SIZE),
                 end = align_down(ram->base.value + ram->size, PAGE_SIZE);
        // The image is in use; what lies below it in its own piece of RAM is the firmware's, listed or not.
        add_unreserved(start <= image && image < end ? (uint64_t)image_end : start, end);
    }
    pages_total = pool.free / PAGE_SIZE;
    if (pages_total == 0)
        panic("no memory behind the image");
}

void *page_alloc(size_t npages)
{
    size_t bytes;
    if (mul_overflows(npages, PAGE_SIZE, &bytes))
        return NULL;
    spin_lock(&pool_lock);
    void *pages = pool_take(&pool, bytes, PAGE_SIZE, 0);
    spin_unlock(&pool_lock);
    return pages;
}

void page_free(void *pages, size_t npages)
{
    size_t bytes;
    if (!pages)
        return;
    spin_lock(&pool_lock);
    bool freed = !mul_overflows(npages, PAGE_SIZE, &bytes) && is_aligned((uintptr_t)pages, PAGE_SIZE) &&
                 dma_able(pages, bytes) && pool_give(&pool, pages, bytes);
    spin_unlock(&pool_lock);
    if (!freed)
        panic("page_free: %zu pages at %p are not allocated pages", npages, pages);
}

static void heap_broken(const char *what, const void *pointer)
{
    panic("heap: block %p: %s", pointer, what);
}

static struct heap heap = {.page_alloc = page_alloc, .page_free = page_free, .broken = heap_broken};
static struct spinlock heap_lock; // taken before pool_lock

static void *alloc(size_t size, size_t align, const void *caller)
{
    spin_lock(&heap_lock);
    void *block = guard_alloc(&heap, size, align, caller);
    spin_unlock(&heap_lock);
    if (!block)
        errno = ENOMEM;
    return block;
}

void mem_get_stats(struct mem_stats *out)
{
    *out = (struct mem_stats){.pages_total = pages_total,
                              .pages_free = pool.free / PAGE_SIZE,
                              .heap_bytes = heap.used,
                              .heap_peak_bytes = heap.peak};
}

void *malloc(size_t size)
{
    return alloc(size, 0, __builtin_return_address(0));
}

void free(void *pointer)
{
    spin_lock(&heap_lock);
    guard_free(&heap, pointer);
    spin_unlock(&heap_lock);
}

// The block always moves: what follows it is seldom free, and a stale pointer is found the sooner.
void *realloc(void *pointer, size_t size)
{
    void *copy = alloc(size, 0, __builtin_return_address(0));
    if (copy && pointer) {
        memcpy(copy, pointer, MIN(size, guard_usable(&heap, pointer)));
        free(pointer);
    }
    return copy;
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (mul_overflows(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = alloc(bytes, 0, __builtin_return_address(0));
    return block ? memset(block, 0, bytes) : NULL;
}

// The C library's posix_memalign() calls it.
void *memalign(size_t align, size_t size)
{
    if (!is_power_of_two(align)) {
        errno = EINVAL;
        return NULL;
    }
    return alloc(size, align, __builtin_return_address(0));
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

// The C library has one that would read its own heap's heads.
size_t malloc_usable_size(void *pointer)
{
    return pointer ? guard_usable(&heap, pointer) : 0;
}

size_t mem_check(void)
{
    spin_lock(&heap_lock);
    size_t count = guard_check(&heap);
    spin_unlock(&heap_lock);
    return count;
}
