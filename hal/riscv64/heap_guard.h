// SPDX-License-Identifier: MIT
// With CONFIG_DEBUG_HEAP every block has red zones around it, knows who asked for it, and is kept for a while
// after it was freed, filled with a pattern. What was written where it must not be is told at free, when the
// kept block is let go, and in guard_check(). Without it these are the plain functions of heap.h.
#ifndef HAL_RISCV64_HEAP_GUARD_H
#define HAL_RISCV64_HEAP_GUARD_H

#include "heap.h"

#ifdef CONFIG_DEBUG_HEAP

// As their namesakes of heap.h; `caller` is a code address.
void *guard_alloc(struct heap *heap, size_t size, size_t align, const void *caller);
void guard_free(struct heap *heap, void *pointer);
size_t guard_usable(struct heap *heap, void *pointer);

// Looks at every block, in use and freed, and lets the freed ones go. Returns how many are in use.
size_t guard_check(struct heap *heap);

#else

#define guard_alloc(heap, size, align, caller) ((void)(caller), heap_alloc(heap, size, align))
#define guard_free(heap, pointer)              heap_free(heap, pointer)
#define guard_usable(heap, pointer)            heap_usable(heap, pointer)
#define guard_check(heap)                      ((size_t)0)

#endif
#endif
