/* SPDX-License-Identifier: MIT */
/*
 * Random kernels that always end. Structured ones nest ifs, loops with per-thread trip counts, breaks, early
 * exits, switches through jump tables, calls, recursion and barriers; unstructured ones are a handful of
 * basic blocks that jump to one another at random. Each thread counts its fuel down at every back edge, call
 * and block, then stores all its registers, among them what it read of instret. No thread writes where
 * another one reads.
 */
#ifndef CONFORMANCE_PROGEN_H
#define CONFORMANCE_PROGEN_H

#include "code.h"
#include "rng.h"

#define PROGEN_OUT_STRIDE 128u /* bytes of results per thread, at args word 0 */

struct progen {
    bool structured;
    uint32_t fuel; /* a thread's */
};

/* Append a kernel to c. Its argument word 0 is the address of the results. csrs: it reads instret, cycle,
 * mhartid. */
struct progen progen_generate(struct code *c, struct rng *rng, bool csrs);

#endif
