// SPDX-License-Identifier: MIT
#include "pool.h"

#include "core/math.h"

#define GOLDEN_RATIO UINT64_C(0x9e3779b97f4a7c15)

static uintptr_t end_of(const struct pool_run *run)
{
    return (uintptr_t)run + run->size;
}

// Which of two runs is nearer to the root: the larger one, and of equals as if by lot, so that many of one
// size make no deep tree.
static bool outranks(const struct pool_run *a, const struct pool_run *b)
{
    if (a->size != b->size)
        return a->size > b->size;
    return (uintptr_t)a * GOLDEN_RATIO > (uintptr_t)b * GOLDEN_RATIO;
}

static struct pool_run **child_towards(struct pool_run *run, uintptr_t address)
{
    return address < (uintptr_t)run ? &run->low : &run->high;
}

// Takes the place of the first run that it outranks, whose tree is divided at its address.
static struct pool_run *insert(struct pool *pool, uintptr_t start, size_t size)
{
    struct pool_run *run = (struct pool_run *)start, **link = &pool->root;
    run->size = size;
    while (*link && outranks(*link, run))
        link = child_towards(*link, start);
    struct pool_run *rest = *link, **low = &run->low, **high = &run->high;
    *link = run;
    while (rest) {
        struct pool_run ***side = rest < run ? &low : &high;
        **side = rest;
        *side = child_towards(rest, start);
        rest = **side;
    }
    *low = *high = NULL;
    return run;
}

// Its two trees become one in its place.
static void take_out(struct pool *pool, struct pool_run *run)
{
    struct pool_run **link = &pool->root, *low = run->low, *high = run->high;
    while (*link != run)
        link = child_towards(*link, (uintptr_t)run);
    while (low && high) {
        struct pool_run **higher = outranks(low, high) ? &low : &high;
        *link = *higher;
        link = higher == &low ? &low->high : &high->low;
        *higher = *link;
    }
    *link = low ? low : high;
}

struct pool_run *pool_give(struct pool *pool, void *at, size_t size)
{
    uintptr_t start = (uintptr_t)at, end;
    if (start == 0 || size == 0 || !is_aligned(start | size, POOL_UNIT) || add_overflows(start, size, &end))
        return NULL;
    struct pool_run *before = NULL, *after = NULL;
    for (struct pool_run *run = pool->root; run; run = *child_towards(run, start))
        *((uintptr_t)run < start ? &before : &after) = run;
    if ((before && end_of(before) > start) || (after && (uintptr_t)after < end))
        return NULL;
    pool->free += size;
    if (before && end_of(before) == start) {
        take_out(pool, before);
        start = (uintptr_t)before;
    }
    if (after && (uintptr_t)after == end) {
        take_out(pool, after);
        end = end_of(after);
    }
    return insert(pool, start, end - start);
}

// Takes [start, start + size) out of the run, which contains it.
static void *cut(struct pool *pool, struct pool_run *run, uintptr_t start, size_t size)
{
    uintptr_t first = (uintptr_t)run, end = end_of(run);
    take_out(pool, run);
    if (first < start)
        insert(pool, first, start - first);
    if (start + size < end)
        insert(pool, start + size, end - start - size);
    pool->free -= size;
    return (void *)start;
}

struct wish {
    size_t size, align, offset;
};

static uintptr_t place_in(const struct pool_run *run, const struct wish *w)
{
    return align_up((uintptr_t)run + w->offset, w->align) - w->offset;
}

// The lowest run below and with this one that has room. What is too small has nothing larger below it.
static struct pool_run *lowest(struct pool_run *run, const struct wish *w)
{
    if (!run || run->size < w->size)
        return NULL;
    struct pool_run *found = lowest(run->low, w);
    if (!found && range_inside(place_in(run, w), w->size, (uintptr_t)run, run->size))
        found = run;
    return found ? found : lowest(run->high, w);
}

void *pool_take(struct pool *pool, size_t size, size_t align, size_t offset)
{
    struct wish wish = {.size = size, .align = align, .offset = offset};
    struct pool_run *run = size ? lowest(pool->root, &wish) : NULL;
    return run ? cut(pool, run, place_in(run, &wish), size) : NULL;
}

void *pool_take_at(struct pool *pool, uintptr_t start, size_t size)
{
    struct pool_run *run = pool->root;
    while (start < (uintptr_t)run || start >= end_of(run))
        run = *child_towards(run, start);
    return cut(pool, run, start, size);
}
