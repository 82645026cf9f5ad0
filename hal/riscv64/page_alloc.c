// SPDX-License-Identifier: MIT
#include "page_alloc.h"

#include <errno.h>

#include "core/math.h"

struct page_run {
    struct page_run *next; // in address order; runs never touch
    size_t npages;
};

static char *end_of(const struct page_run *run)
{
    return (char *)run + run->npages * PAGE_SIZE;
}

// Joins `run` with the one after it when they touch.
static void join_next(struct page_run *run)
{
    struct page_run *next = run->next;
    if (!next || end_of(run) != (char *)next)
        return;
    run->npages += next->npages;
    run->next = next->next;
}

int page_pool_free(struct page_pool *pool, void *pages, size_t npages)
{
    uintptr_t start = (uintptr_t)pages, bytes, end;
    if (start == 0 || !is_aligned(start, PAGE_SIZE) || npages == 0 ||
        mul_overflows(npages, PAGE_SIZE, &bytes) || add_overflows(start, bytes, &end))
        return -EINVAL;

    struct page_run *before = NULL, *after = pool->first;
    while (after && (uintptr_t)after < start) {
        before = after;
        after = after->next;
    }
    if ((before && (uintptr_t)end_of(before) > start) || (after && (uintptr_t)after < end))
        return -EEXIST;

    struct page_run *run = pages;
    *run = (struct page_run){.next = after, .npages = npages};
    if (before)
        before->next = run;
    else
        pool->first = run;
    join_next(run);
    if (before)
        join_next(before);
    pool->free += npages;
    return 0;
}

int page_pool_add(struct page_pool *pool, void *base, size_t npages)
{
    int error = page_pool_free(pool, base, npages);
    if (error == 0)
        pool->total += npages;
    return error;
}

void *page_pool_alloc(struct page_pool *pool, size_t npages)
{
    struct page_run **link = &pool->first;
    while (*link && (*link)->npages < npages)
        link = &(*link)->next;
    struct page_run *run = *link;
    if (!run || npages == 0)
        return NULL;
    if (run->npages == npages) {
        *link = run->next;
    } else {
        struct page_run *rest = (struct page_run *)((char *)run + npages * PAGE_SIZE);
        *rest = (struct page_run){.next = run->next, .npages = run->npages - npages};
        *link = rest;
    }
    pool->free -= npages;
    return run;
}
