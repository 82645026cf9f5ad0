// SPDX-License-Identifier: MIT
// Memory: whole pages, and the C library's heap on top of them.
//
// malloc, calloc, realloc, free, aligned_alloc and posix_memalign are the ordinary ones of <stdlib.h>: in the
// guest they are this layer's heap (16-byte aligned, coalescing, with checks that turn a double free or an
// overrun header into a panic).
#ifndef HAL_MEM_H
#define HAL_MEM_H

#include "hal/types.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE  ((size_t)1 << PAGE_SHIFT)

// `npages` physically contiguous pages, page aligned, content undefined. NULL when npages is 0 or no run of
// that length is free. Give them back with page_free() and the same count (or in parts).
void *page_alloc(size_t npages);

// Returns `npages` pages from page_alloc(). NULL is ignored. Panics on a page that is free already or was
// never the allocator's.
void page_free(void *pages, size_t npages);

struct mem_stats {
    size_t pages_total;     // pages the allocator was given at boot
    size_t pages_free;      // of those, free now
    size_t heap_bytes;      // bytes handed out by malloc and not yet freed (rounded up as allocated)
    size_t heap_peak_bytes; // highest value of heap_bytes so far
};

// With CONFIG_DEBUG_HEAP: looks at every heap block and panics at the first whose surroundings were
// overwritten, or which was written to after it was freed; freed blocks that were kept for this go back. Runs
// by itself when main() returns. Returns the number of blocks in use. Without it: does nothing and returns 0.
size_t mem_check(void);

// Fills `*out` with the present state.
void mem_get_stats(struct mem_stats *out);

#endif
