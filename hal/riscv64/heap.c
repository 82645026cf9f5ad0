// SPDX-License-Identifier: MIT
#include "heap.h"

#include <string.h>

#include "core/math.h"
#include "hal/mem.h"

#define ALIGN       16u
#define USED        1u
#define ARENA_PAGES 64u // smallest arena: 256 KiB

// The boundary tag before each block. The chunk after this one is at +size, the one before at -prev_size.
// An arena is: first chunk (prev_size 0) … last chunk, then a tag of size 0 in use: the end mark.
struct heap_chunk {
    size_t size_used; // bytes with this tag, a multiple of ALIGN, with USED in bit 0
    size_t prev_size;
    struct heap_chunk *next, *prev; // in its bin; only while free (the block's bytes otherwise)
};

#define TAG       offsetof(struct heap_chunk, next)
#define MIN_CHUNK sizeof(struct heap_chunk)

_Static_assert(TAG == ALIGN, "a block starts right after its tag, aligned");

static size_t size_of(const struct heap_chunk *c)
{
    return c->size_used & ~(size_t)USED;
}

static bool is_used(const struct heap_chunk *c)
{
    return c->size_used & USED;
}

static struct heap_chunk *at(void *base, size_t offset)
{
    return (struct heap_chunk *)((char *)base + offset);
}

static struct heap_chunk *next_of(struct heap_chunk *c)
{
    return at(c, size_of(c));
}

static struct heap_chunk *prev_of(struct heap_chunk *c)
{
    return at((char *)c - c->prev_size, 0);
}

static unsigned bin_of(size_t size)
{
    return log2_floor(size);
}

static void bin_insert(struct heap *heap, struct heap_chunk *c)
{
    unsigned bin = bin_of(size_of(c));
    c->prev = NULL;
    c->next = heap->bins[bin];
    if (c->next)
        c->next->prev = c;
    heap->bins[bin] = c;
    heap->bins_used |= UINT64_C(1) << bin;
}

static void bin_remove(struct heap *heap, struct heap_chunk *c)
{
    unsigned bin = bin_of(size_of(c));
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        heap->bins[bin] = c->next;
    if (!heap->bins[bin])
        heap->bins_used &= ~(UINT64_C(1) << bin);
}

// Sets the size of `c` and tells its neighbour.
static void set_size(struct heap_chunk *c, size_t size, unsigned used)
{
    c->size_used = size | used;
    at(c, size)->prev_size = size;
}

// A chunk of at least `size` bytes from the bins, or NULL. In the bin of its own size any chunk may be too
// small; in a higher one all are large enough.
static struct heap_chunk *bin_find(struct heap *heap, size_t size)
{
    unsigned bin = bin_of(size);
    for (struct heap_chunk *c = heap->bins[bin]; c; c = c->next)
        if (size_of(c) >= size)
            return c;
    uint64_t higher = bin + 1 < HEAP_BINS ? heap->bins_used >> (bin + 1) << (bin + 1) : 0;
    return higher ? heap->bins[__builtin_ctzll(higher)] : NULL;
}

// A new arena with one free chunk of at least `size` bytes, which is put in its bin.
static struct heap_chunk *grow(struct heap *heap, size_t size)
{
    size_t bytes;
    if (add_overflows(size, TAG + PAGE_SIZE - 1, &bytes))
        return NULL;
    size_t npages = bytes / PAGE_SIZE;
    if (npages < ARENA_PAGES)
        npages = ARENA_PAGES;
    struct heap_chunk *c = heap->page_alloc(npages);
    if (!c)
        return NULL;
    c->prev_size = 0;
    set_size(c, npages * PAGE_SIZE - TAG, 0);
    next_of(c)->size_used = USED;
    bin_insert(heap, c);
    return c;
}

// Cuts what `c` (not in a bin) has beyond `size` and makes it free.
static void trim(struct heap *heap, struct heap_chunk *c, size_t size)
{
    size_t rest = size_of(c) - size;
    if (rest < MIN_CHUNK)
        return;
    unsigned used = is_used(c);
    struct heap_chunk *after = next_of(c);
    struct heap_chunk *tail = at(c, size);
    if (!is_used(after)) {
        bin_remove(heap, after);
        rest += size_of(after);
    }
    set_size(c, size, used);
    set_size(tail, rest, 0);
    bin_insert(heap, tail);
}

// Moves the start of `c` (not in a bin) up by `skip` bytes, so that the block is aligned; the part before
// becomes a free chunk. What is before that is in use, as free neighbours are always joined.
static struct heap_chunk *skip_front(struct heap *heap, struct heap_chunk *c, size_t skip)
{
    if (skip == 0)
        return c;
    size_t size = size_of(c);
    struct heap_chunk *moved = at(c, skip);
    set_size(c, skip, 0);
    bin_insert(heap, c);
    set_size(moved, size - skip, 0);
    return moved;
}

// Distance from the chunk `c` to the first place where a block is aligned to `align` and room for a free
// chunk is left before it.
static size_t front_gap(const struct heap_chunk *c, size_t align)
{
    uintptr_t block = (uintptr_t)c + TAG;
    if (is_aligned(block, align))
        return 0;
    return align_up(block + MIN_CHUNK, align) - block;
}

static void count_used(struct heap *heap, size_t size)
{
    heap->used += size;
    if (heap->used > heap->peak)
        heap->peak = heap->used;
}

// Bytes of a chunk for a block of `size` bytes; false when that overflows.
static bool chunk_size(size_t size, size_t *out)
{
    if (add_overflows(size, TAG + ALIGN - 1, out))
        return false;
    *out = align_down(*out, ALIGN);
    if (*out < MIN_CHUNK)
        *out = MIN_CHUNK;
    return true;
}

void *heap_alloc(struct heap *heap, size_t size, size_t align)
{
    size_t need, search;
    if (!chunk_size(size, &need))
        return NULL;
    size_t slack = align > ALIGN ? align + MIN_CHUNK : 0;
    if (add_overflows(need, slack, &search))
        return NULL;
    struct heap_chunk *c = bin_find(heap, search);
    if (!c)
        c = grow(heap, search);
    if (!c)
        return NULL;
    bin_remove(heap, c);
    c = skip_front(heap, c, slack ? front_gap(c, align) : 0);
    c->size_used |= USED;
    trim(heap, c, need);
    count_used(heap, size_of(c));
    return (char *)c + TAG;
}

// The chunk of a block that the caller claims to own. A free chunk's tag stays readable inside the chunk it
// was joined to, so a double free is seen as long as nothing else lives there.
static struct heap_chunk *owned(struct heap *heap, void *pointer)
{
    if (!is_aligned((uintptr_t)pointer, ALIGN))
        heap->broken("not a heap pointer", pointer);
    struct heap_chunk *c = at((char *)pointer - TAG, 0);
    if (!is_used(c))
        heap->broken("freed twice, or not a heap pointer", pointer);
    if (size_of(c) < MIN_CHUNK || !is_aligned(size_of(c), ALIGN) || next_of(c)->prev_size != size_of(c))
        heap->broken("overrun: the tag at the end of the block was overwritten", pointer);
    return c;
}

void heap_free(struct heap *heap, void *pointer)
{
    if (!pointer)
        return;
    struct heap_chunk *c = owned(heap, pointer);
    size_t size = size_of(c);
    heap->used -= size;
    c->size_used = size;

    struct heap_chunk *after = next_of(c);
    if (!is_used(after)) {
        bin_remove(heap, after);
        size += size_of(after);
    }
    if (c->prev_size && !is_used(prev_of(c))) {
        c = prev_of(c);
        bin_remove(heap, c);
        size += size_of(c);
    }
    set_size(c, size, 0);
    bool whole_arena = c->prev_size == 0 && size_of(next_of(c)) == 0;
    if (whole_arena)
        heap->page_free(c, (size + TAG) / PAGE_SIZE);
    else
        bin_insert(heap, c);
}

size_t heap_usable(struct heap *heap, void *pointer)
{
    return pointer ? size_of(owned(heap, pointer)) - TAG : 0;
}

// Makes `c` at least `need` bytes long where it is. False when what follows is in use or too short.
static bool grow_in_place(struct heap *heap, struct heap_chunk *c, size_t need)
{
    struct heap_chunk *after = next_of(c);
    if (size_of(c) >= need)
        return true;
    if (is_used(after) || size_of(c) + size_of(after) < need)
        return false;
    bin_remove(heap, after);
    set_size(c, size_of(c) + size_of(after), USED);
    return true;
}

void *heap_resize(struct heap *heap, void *pointer, size_t size)
{
    size_t need;
    if (!pointer)
        return heap_alloc(heap, size, ALIGN);
    if (!chunk_size(size, &need))
        return NULL;
    struct heap_chunk *c = owned(heap, pointer);
    size_t old = size_of(c);
    if (grow_in_place(heap, c, need)) {
        trim(heap, c, need);
        heap->used -= old;
        count_used(heap, size_of(c));
        return pointer;
    }
    void *copy = heap_alloc(heap, size, ALIGN);
    if (!copy)
        return NULL;
    memcpy(copy, pointer, old - TAG);
    heap_free(heap, pointer);
    return copy;
}
