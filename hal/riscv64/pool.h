// SPDX-License-Identifier: MIT
// Free memory as a tree of runs: by address, and none is larger than the one above it (a Cartesian tree; C.
// J. Stephenson, "Fast Fits", 1983), so giving and taking look at a few of many. A run is kept in its own
// first bytes, so that nothing has to be set up for memory that nobody uses. An object of its own, so that it
// is tested in a process.
#ifndef HAL_RISCV64_POOL_H
#define HAL_RISCV64_POOL_H

#include "hal/types.h"

#define POOL_UNIT 32u // what sizes and places are multiples of

struct pool_run {
    struct pool_run *low, *high; // those at lower and at higher addresses, none of which touches this one
    size_t size;                 // bytes
};

// A zeroed pool is empty and valid.
struct pool {
    struct pool_run *root;
    size_t free; // bytes
};

// Makes [start, start + size) free and joins it with its neighbours. Returns the run it is part of now; NULL
// when that cannot be: not a multiple of POOL_UNIT, nothing at all, or some of it is free already.
struct pool_run *pool_give(struct pool *pool, void *start, size_t size);

// First fit: the lowest `size` bytes (a multiple of POOL_UNIT) whose byte `offset` lies at a multiple of
// `align`. NULL when there is no such place, or size is 0.
void *pool_take(struct pool *pool, size_t size, size_t align, size_t offset);

// Takes [start, start + size), all of which is free. Returns its start.
void *pool_take_at(struct pool *pool, uintptr_t start, size_t size);

#endif
