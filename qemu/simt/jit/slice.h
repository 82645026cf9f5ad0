/* SPDX-License-Identifier: MIT */
/*
 * Loops that are compiled a slice of the warp's lanes at a time. 32 lanes of a float are four AVX2 registers
 * of sixteen, so the sums of a matrix product do not fit beside each other; for 8 lanes they do. Running a
 * loop to its end for some lanes before the others start is allowed when nobody can tell: it stores nothing,
 * its lanes stay together, and how often it runs depends on nothing that it loads.
 */
#ifndef SIMT_JIT_SLICE_H
#define SIMT_JIT_SLICE_H

#include "abs.h"

/* Lanes of a slice for loop l, given how many varying registers fit into the host's vector registers at one
 * vector of `lanes` each; 0: compile it for all lanes at once. */
unsigned jit_slice_lanes(const struct jit_graph *g, const struct jit_variant *v, const struct jit_state *full,
                         uint32_t l, unsigned lanes, unsigned registers);

#endif
