// SPDX-License-Identifier: MIT
// A heap over a source of pages: what malloc() and its family are built from, testable in a process.
//
// A pool of what is free, first fit, in arenas of whole pages; pages go back to their source when as many as
// an arena's are free in a row. Each block is sealed before and behind. Blocks are 16-byte aligned. Not
// re-entrant: interrupt handlers must not allocate.
#ifndef HAL_RISCV64_HEAP_H
#define HAL_RISCV64_HEAP_H

#include "pool.h"

struct heap {
    void *(*page_alloc)(size_t npages);
    void (*page_free)(void *pages, size_t npages);
    // Called with a description when the caller broke the heap (double free, overrun); must not return.
    void (*broken)(const char *what, const void *pointer);
    struct pool pool;
    size_t used, peak; // bytes handed out, with their seals
};

// `size` bytes aligned to `align` (a power of two, at least 16 is given), or NULL when there is no memory or
// the sum overflows. Size 0 gives a unique pointer.
void *heap_alloc(struct heap *heap, size_t size, size_t align);

// Frees what heap_alloc() returned; NULL is ignored.
void heap_free(struct heap *heap, void *pointer);

// Bytes that may be used at `pointer`, which heap_alloc() returned: at least what was asked for.
size_t heap_usable(struct heap *heap, void *pointer);

#endif
