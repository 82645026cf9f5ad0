// SPDX-License-Identifier: MIT
#include "heap.h"

#include <string.h>

#include "core/math.h"
#include "core/util.h"
#include "hal/mem.h"

#define ALIGN       16u
#define USED        1u
#define ARENA_PAGES 64u            // smallest arena: 256 KiB
#define LARGEST     (SIZE_MAX / 4) // of a block: no sum of sizes below overflows

// The boundary tag before each block. The chunk after this one is at +size, the one before at -prev_size.
// An arena is: first chunk (prev_size 0) … last chunk, then a tag of size 0 in use: the end mark.
struct heap_chunk {
    size_t size_used; // bytes with this tag, a multiple of ALIGN, with USED in bit 0
    size_t prev_size;
    struct heap_chunk *next, **link; // in its bin, and what points to it there; only while free
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

static struct heap_chunk *at(void *base, ptrdiff_t offset)
{
    return (struct heap_chunk *)((char *)base + offset);
}

static struct heap_chunk *next_of(struct heap_chunk *c)
{
    return at(c, (ptrdiff_t)size_of(c));
}

// Sets the size of `c` and tells its neighbour.
static void set_size(struct heap_chunk *c, size_t size, unsigned used)
{
    c->size_used = size | used;
    next_of(c)->prev_size = size;
}

static void bin_insert(struct heap *heap, struct heap_chunk *c)
{
    struct heap_chunk **bin = &heap->bins[log2_floor(size_of(c))];
    c->next = *bin;
    c->link = bin;
    if (c->next)
        c->next->link = &c->next;
    *bin = c;
}

static void bin_remove(struct heap_chunk *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
}

// A free chunk of at least `size` bytes, or NULL. Only in the bin of its own size may one be too small.
static struct heap_chunk *find(struct heap *heap, size_t size)
{
    for (unsigned bin = log2_floor(size); bin < HEAP_BINS; bin++)
        for (struct heap_chunk *c = heap->bins[bin]; c; c = c->next)
            if (size_of(c) >= size)
                return c;
    return NULL;
}

// A new arena: one chunk of at least `size` bytes, in no bin. NULL when there is no memory.
static struct heap_chunk *grow(struct heap *heap, size_t size)
{
    size_t npages = MAX(div_round_up(size + TAG, PAGE_SIZE), (size_t)ARENA_PAGES);
    struct heap_chunk *c = heap->page_alloc(npages);
    if (!c)
        return NULL;
    c->prev_size = 0;
    set_size(c, npages * PAGE_SIZE - TAG, USED);
    next_of(c)->size_used = USED;
    return c;
}

// Makes `c` free and one with what is free beside it. An arena with nothing else goes back to its source.
static void give(struct heap *heap, struct heap_chunk *c)
{
    struct heap_chunk *before = at(c, -(ptrdiff_t)c->prev_size), *after = next_of(c);
    size_t size = size_of(c);
    c->size_used = size; // inside a larger chunk, too, it tells who frees it twice
    if (!is_used(after)) {
        bin_remove(after);
        size += size_of(after);
    }
    if (before != c && !is_used(before)) {
        bin_remove(before);
        size += size_of(before);
        c = before;
    }
    set_size(c, size, 0);
    if (c->prev_size == 0 && size_of(next_of(c)) == 0)
        heap->page_free(c, (size + TAG) / PAGE_SIZE);
    else
        bin_insert(heap, c);
}

// Cuts `c`, which is in use, after `size` bytes. Returns the rest, in use too.
static struct heap_chunk *split(struct heap_chunk *c, size_t size)
{
    size_t rest = size_of(c) - size;
    set_size(c, size, USED);
    set_size(next_of(c), rest, USED);
    return next_of(c);
}

// Gives back what `c`, which is in use, has beyond `size` bytes.
static void trim(struct heap *heap, struct heap_chunk *c, size_t size)
{
    if (size_of(c) - size >= MIN_CHUNK)
        give(heap, split(c, size));
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

static void count_used(struct heap *heap, size_t more)
{
    heap->used += more;
    heap->peak = MAX(heap->peak, heap->used);
}

// Bytes of a chunk for a block of `size` bytes.
static size_t chunk_size(size_t size)
{
    return MAX(align_up(size + TAG, ALIGN), MIN_CHUNK);
}

void *heap_alloc(struct heap *heap, size_t size, size_t align)
{
    if (size > LARGEST || align > LARGEST)
        return NULL;
    size_t need = chunk_size(size), slack = align > ALIGN ? align + MIN_CHUNK : 0;
    struct heap_chunk *c = find(heap, need + slack);
    if (c)
        bin_remove(c);
    else
        c = grow(heap, need + slack);
    if (!c)
        return NULL;
    c->size_used |= USED;
    size_t gap = slack ? front_gap(c, align) : 0;
    if (gap) {
        struct heap_chunk *aligned = split(c, gap);
        give(heap, c);
        c = aligned;
    }
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
    struct heap_chunk *c = at(pointer, -(ptrdiff_t)TAG);
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
    heap->used -= size_of(c);
    give(heap, c);
}

void *heap_resize(struct heap *heap, void *pointer, size_t size)
{
    if (!pointer)
        return heap_alloc(heap, size, ALIGN);
    if (size > LARGEST)
        return NULL;
    struct heap_chunk *c = owned(heap, pointer), *after = next_of(c);
    size_t old = size_of(c), need = chunk_size(size);
    if (need > old && !is_used(after) && old + size_of(after) >= need) {
        bin_remove(after);
        set_size(c, old + size_of(after), USED);
    }
    if (size_of(c) >= need) {
        trim(heap, c, need);
        count_used(heap, size_of(c) - old);
        return pointer;
    }
    void *copy = heap_alloc(heap, size, ALIGN);
    if (copy) {
        memcpy(copy, pointer, old - TAG);
        heap_free(heap, pointer);
    }
    return copy;
}
