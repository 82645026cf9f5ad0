// SPDX-License-Identifier: MIT
#include "pool.h"

#include "core/math.h"

static char *end_of(const struct pool_run *run)
{
    return (char *)run + run->size;
}

// Joins `run` with the one after it when they touch.
static void join_next(struct pool_run *run)
{
    struct pool_run *next = run->next;
    if (!next || end_of(run) != (char *)next)
        return;
    run->size += next->size;
    run->next = next->next;
}

struct pool_run *pool_give(struct pool *pool, void *start, size_t size)
{
    uintptr_t first = (uintptr_t)start, end;
    if (first == 0 || size == 0 || !is_aligned(first | size, POOL_UNIT) || add_overflows(first, size, &end))
        return NULL;
    struct pool_run *before = NULL, *after = pool->first;
    while (after && (uintptr_t)after < first) {
        before = after;
        after = after->next;
    }
    if ((before && (uintptr_t)end_of(before) > first) || (after && (uintptr_t)after < end))
        return NULL;
    struct pool_run *run = start;
    *run = (struct pool_run){.next = after, .size = size};
    pool->free += size;
    join_next(run);
    if (!before) {
        pool->first = run;
        return run;
    }
    before->next = run;
    join_next(before);
    return before->next == run ? run : before;
}

// Takes [start, start + size) out of the run at *link, which contains it.
static void *cut(struct pool *pool, struct pool_run **link, uintptr_t start, size_t size)
{
    struct pool_run *run = *link, *after = run->next;
    size_t gap = start - (uintptr_t)run, rest = run->size - gap - size;
    if (rest) {
        after = (struct pool_run *)(start + size);
        *after = (struct pool_run){.next = run->next, .size = rest};
    }
    if (gap)
        *run = (struct pool_run){.next = after, .size = gap};
    else
        *link = after;
    pool->free -= size;
    return (void *)start;
}

void *pool_take(struct pool *pool, size_t size, size_t align, size_t offset)
{
    for (struct pool_run **link = &pool->first; *link && size; link = &(*link)->next) {
        uintptr_t start = align_up((uintptr_t)*link + offset, align) - offset;
        if (range_inside(start, size, (uintptr_t)*link, (*link)->size))
            return cut(pool, link, start, size);
    }
    return NULL;
}

void *pool_take_at(struct pool *pool, uintptr_t start, size_t size)
{
    struct pool_run **link = &pool->first;
    while ((uintptr_t)end_of(*link) <= start)
        link = &(*link)->next;
    return cut(pool, link, start, size);
}
