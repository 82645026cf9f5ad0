// SPDX-License-Identifier: MIT
// The page allocator as an object of its own, so that it is tested in a process on any aligned buffer.
#ifndef HAL_RISCV64_PAGE_ALLOC_H
#define HAL_RISCV64_PAGE_ALLOC_H

#include "hal/mem.h"

struct page_run;

// Free pages as runs in address order. Each run's length and link are kept in its own first page, so that
// nothing has to be set up for memory nobody uses. A zeroed pool is empty and valid.
struct page_pool {
    struct page_run *first;
    size_t total, free; // pages
};

// Adds [base, base + npages pages) to the pool. It must not overlap what the pool has (else -EEXIST).
int page_pool_add(struct page_pool *pool, void *base, size_t npages);

// First fit, lowest address. NULL when npages is 0 or no run is long enough.
void *page_pool_alloc(struct page_pool *pool, size_t npages);

// Gives pages back and joins them with their neighbours. Returns 0, -EINVAL (no address of a page, or count
// 0) or -EEXIST (some of them are free already).
int page_pool_free(struct page_pool *pool, void *pages, size_t npages);

#endif
