// SPDX-License-Identifier: MIT
#include "heap.h"

#include "core/math.h"
#include "core/util.h"
#include "hal/mem.h"

#include <stdalign.h>

#define ARENA_BYTES (64 * PAGE_SIZE) // the smallest
#define LARGEST     (SIZE_MAX / 4)   // block: no sum of sizes below overflows

// Before each block. Behind it, at the end of `size`, is the seal once more.
struct head {
    alignas(POOL_UNIT) uintptr_t unused[2]; // so that the seal is right before the block
    size_t size;                            // bytes with this and what is behind, a multiple of POOL_UNIT
    uintptr_t seal;
};

#define SEAL     ((uintptr_t)0x5ea1ed0b10c5ea1e)
#define OVERHEAD (sizeof(struct head) + sizeof(uintptr_t))

_Static_assert(sizeof(struct head) == POOL_UNIT, "a block starts right after its head, aligned");

static uintptr_t *tail_of(struct head *head)
{
    return (uintptr_t *)((char *)head + head->size) - 1;
}

// Different for each block, so that a copied one is none.
static uintptr_t seal_of(const struct head *head)
{
    return SEAL ^ (uintptr_t)head ^ head->size;
}

static void seal(struct heap *heap, struct head *head, size_t size)
{
    head->size = size;
    head->seal = *tail_of(head) = seal_of(head);
    heap->used += size;
    heap->peak = MAX(heap->peak, heap->used);
}

static size_t whole_size(size_t size)
{
    return align_up(size + OVERHEAD, POOL_UNIT);
}

static bool grow(struct heap *heap, size_t bytes)
{
    size_t npages = MAX(div_round_up(bytes, PAGE_SIZE), ARENA_BYTES / PAGE_SIZE);
    void *pages = heap->page_alloc(npages);
    return pages && pool_give(&heap->pool, pages, npages * PAGE_SIZE);
}

void *heap_alloc(struct heap *heap, size_t size, size_t align)
{
    if (size > LARGEST || align > LARGEST)
        return NULL;
    size_t whole = whole_size(size);
    align = MAX(align, (size_t)POOL_UNIT);
    struct head *head = pool_take(&heap->pool, whole, align, sizeof(*head));
    if (!head && grow(heap, whole + align))
        head = pool_take(&heap->pool, whole, align, sizeof(*head));
    if (!head)
        return NULL;
    seal(heap, head, whole);
    return head + 1;
}

// The head of a block that the caller claims to own.
static struct head *owned(struct heap *heap, void *pointer)
{
    struct head *head = (struct head *)pointer - 1;
    if (!is_aligned((uintptr_t)pointer, POOL_UNIT))
        heap->broken("not a heap pointer", pointer);
    if (head->seal != seal_of(head))
        heap->broken("freed twice, or not a heap pointer", pointer);
    if (*tail_of(head) != head->seal)
        heap->broken("overrun: the seal at the end of the block is broken", pointer);
    return head;
}

// Whole pages go back where an arena's worth of them is free in a row, or nothing but whole pages: so all of
// them are back when nothing is in use, and one block more or less seldom asks for pages.
static void trim(struct heap *heap, const struct pool_run *run)
{
    uintptr_t first = align_up((uintptr_t)run, PAGE_SIZE);
    uintptr_t end = align_down((uintptr_t)run + run->size, PAGE_SIZE);
    if (first < end && (end - first == run->size || end - first >= ARENA_BYTES))
        heap->page_free(pool_take_at(&heap->pool, first, end - first), (end - first) / PAGE_SIZE);
}

void heap_free(struct heap *heap, void *pointer)
{
    if (!pointer)
        return;
    struct head *head = owned(heap, pointer);
    head->seal = 0;
    heap->used -= head->size;
    struct pool_run *run = pool_give(&heap->pool, head, head->size);
    if (!run)
        heap->broken("some of it is free already", pointer);
    trim(heap, run);
}

size_t heap_usable(struct heap *heap, void *pointer)
{
    return owned(heap, pointer)->size - OVERHEAD;
}
