/* SPDX-License-Identifier: MIT */
/*
 * The divergence tree of a warp: which lanes are where, and where they wait for each other.
 *
 * The live lanes of a warp are partitioned among paths, so no lane can get lost whatever the control-flow
 * graph says; post-dominators only decide where lanes meet again. A path is running, waiting at a block
 * barrier, or a join: lanes that wait at a pc until the children of the join have arrived there or ended. An
 * empty join with one child is dissolved at once, so leaves and non-empty joins hold disjoint non-empty sets
 * of lanes (at most 32 of them) and empty joins have at least two children (at most 31): 63 paths, whatever
 * the nesting.
 */
#ifndef SIMT_PATH_H
#define SIMT_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "simt/simt.h"

#define SIMT_MAX_PATHS 64 /* the bound above, plus one while a join is being taken apart */

enum simt_path_state {
    SIMT_PATH_FREE,
    SIMT_PATH_RUN,
    SIMT_PATH_BARRIER,
    SIMT_PATH_JOIN,
};

struct simt_path {
    uint32_t pc; /* SIMT_NO_PC in a join at return that nobody has reached yet */
    uint32_t mask;
    int32_t depth;    /* calls minus returns since the kernel's start */
    int16_t parent;   /* the join its lanes will meet at, -1 for none */
    int16_t children; /* of a join */
    uint8_t state;
    bool at_return;   /* join: meets where the function returns to */
    uint64_t queued;  /* when its last turn ended, or it was made */
    uint64_t retired; /* instructions since the mask last changed, not yet in instret */
};

struct simt_tree {
    struct simt_path path[SIMT_MAX_PATHS];
    uint64_t used;                /* bit per path */
    uint64_t clock;               /* counts paths made and turns ended */
    uint64_t instret[SIMT_LANES]; /* instructions retired by a lane */
};

/* One running path at pc with the lanes of mask. */
void simt_tree_init(struct simt_tree *t, uint32_t pc, uint32_t mask);

/* The runnable paths, a bit each. */
uint64_t simt_tree_runnable(const struct simt_tree *t);

/* The runnable path that has waited longest for a turn, -1 when there is none. */
int simt_tree_pick(const struct simt_tree *t);

/* Indices of the paths in use; paths that the body adds are not seen. */
#define EACH_PATH(t, i)                                                                                      \
    for (uint64_t todo_##i = (t)->used; todo_##i != 0 && (i = __builtin_ctzll(todo_##i), true);              \
         todo_##i &= todo_##i - 1)

/* Merge into path p every runnable path that stands at the same place. */
void simt_tree_merge(struct simt_tree *t, int p);

/* Lanes that have not ended, in any state. */
uint32_t simt_tree_live(const struct simt_tree *t);
/* Lanes waiting at the barrier. */
uint32_t simt_tree_waiting(const struct simt_tree *t);

/* What simt_tree_split() takes beside a pc where the lanes meet again. */
#define SIMT_MEET_AT_EXIT 1u /* the virtual exit (= SIMT_NO_PC): at return from this call, or never */
#define SIMT_MEET_NEVER   2u /* the lanes go separate ways */

/* Path p goes on at n >= 2 distinct places, masks[i] of its lanes at pcs[i]; meet is where they meet again.
 */
void simt_tree_split(struct simt_tree *t, int p, uint32_t meet, unsigned n, const uint32_t *pcs,
                     const uint32_t *masks);

/* Lanes go separate ways, n >= 1 places: split with SIMT_MEET_NEVER where the places may differ in depth. */
void simt_tree_scatter(struct simt_tree *t, int p, unsigned n, const uint32_t *pcs, const uint32_t *masks,
                       const int32_t *depths);

/* If path p stands where its join is, merge it. True when p is gone. */
bool simt_tree_arrive(struct simt_tree *t, int p);

/* Lanes of path p end. */
void simt_tree_exit(struct simt_tree *t, int p, uint32_t lanes);

/* Lanes of path p wait at the block barrier, to go on at pc, where its other lanes go on now. */
void simt_tree_wait(struct simt_tree *t, int p, uint32_t lanes, uint32_t pc);

/* The barrier is complete. */
void simt_tree_barrier_done(struct simt_tree *t);

/* Let the lanes that wait in joins go on. True if there were any. */
bool simt_tree_release(struct simt_tree *t);

/* Path p has had a turn: it queues up behind all others. */
void simt_tree_end_turn(struct simt_tree *t, int p);

#endif
