/* SPDX-License-Identifier: MIT */
/* Control-flow graph analysis: immediate post-dominators of a directed graph. Pure. */
#ifndef SIMT_CFG_H
#define SIMT_CFG_H

#include <stdint.h>

/* A graph of nodes 0..n-1 plus the virtual exit n. The successors of i are succ[start[i]..start[i+1]-1];
 * values are 0..n. */
struct simt_graph {
    uint32_t n;
    const uint32_t *start;
    const uint32_t *succ;
};

/* ipdom[i] = immediate post-dominator of i, n for the virtual exit. Nodes from which the exit cannot be
 * reached (endless loops) are given a pseudo-edge to it, from the highest-numbered such node first. 0 or
 * -ENOMEM. Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph", TOPLAS 1 (1979),
 * the O(m log n) version, on the reversed graph: a guest must not be able to make this quadratic. */
int simt_cfg_ipdom(const struct simt_graph *g, uint32_t *ipdom);

/* order[i] = place of i, from 0, in a reverse postorder of a depth-first search that starts at entry, then at
 * whatever is left. 0 or -ENOMEM. */
int simt_cfg_order(const struct simt_graph *g, uint32_t entry, uint32_t *order);

#endif
