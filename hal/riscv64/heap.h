// SPDX-License-Identifier: MIT
// A heap over a source of pages: what malloc() and its family are built from, testable in a process.
//
// Chunks with boundary tags in arenas of whole pages; free chunks in bins by power of two; neighbours are
// joined on free; an arena that becomes empty goes back to its source. Chunks are 16-byte aligned.
// Not re-entrant: interrupt handlers must not allocate.
#ifndef HAL_RISCV64_HEAP_H
#define HAL_RISCV64_HEAP_H

#include "hal/types.h"

#define HEAP_BINS 64

struct heap_chunk;

struct heap {
    void *(*page_alloc)(size_t npages);
    void (*page_free)(void *pages, size_t npages);
    // Called with a description when the caller broke the heap (double free, overrun); must not return.
    void (*broken)(const char *what, const void *pointer);
    struct heap_chunk *bins[HEAP_BINS]; // bin n: free chunks of 2^n bytes and more
    size_t used, peak;                  // bytes handed out, with headers
};

// `size` bytes aligned to `align` (a power of two, at least 16 is given), or NULL when there is no memory or
// the sum overflows. Size 0 gives a unique pointer.
void *heap_alloc(struct heap *heap, size_t size, size_t align);

// Frees what heap_alloc() or heap_resize() returned; NULL is ignored.
void heap_free(struct heap *heap, void *pointer);

// realloc(): grows in place when the neighbour is free. On NULL the old block is untouched.
void *heap_resize(struct heap *heap, void *pointer, size_t size);

#endif
