/* SPDX-License-Identifier: MIT */
#include "path.h"

#include <string.h>

#define UNKNOWN_PC 1u /* = SIMT_NO_PC, SIMT_MEET_AT_EXIT */

static int first_bit(uint64_t bits)
{
    return __builtin_ctzll(bits);
}

static int add(struct simt_tree *t, struct simt_path path)
{
    int i = first_bit(~t->used);
    path.queued = ++t->clock;
    t->path[i] = path;
    t->used |= 1ull << i;
    if (path.parent >= 0) {
        t->path[path.parent].children++;
    }
    return i;
}

static void discard(struct simt_tree *t, int i)
{
    t->path[i].state = SIMT_PATH_FREE;
    t->used &= ~(1ull << i);
}

/* Before a path's mask changes, its instruction count goes to its lanes. */
static void flush(struct simt_tree *t, struct simt_path *p)
{
    if (p->retired == 0) {
        return;
    }
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        t->instret[l] += p->retired & (0 - (uint64_t)(p->mask >> l & 1));
    }
    p->retired = 0;
}

static int only_child(const struct simt_tree *t, int join)
{
    int i;
    EACH_PATH (t, i) {
        if (t->path[i].parent == join) {
            return i;
        }
    }
    return -1;
}

/* After a join lost a child or its waiting lanes: run it, drop it or dissolve it as its emptiness asks. */
static void settle(struct simt_tree *t, int join)
{
    while (join >= 0) {
        struct simt_path *j = &t->path[join];
        int parent = j->parent;
        if (j->children == 0 && j->mask != 0) {
            j->state = SIMT_PATH_RUN;
            j->at_return = false;
            return;
        }
        if (j->children == 1 && j->mask == 0) {
            t->path[only_child(t, join)].parent = (int16_t)parent;
            discard(t, join);
            return;
        }
        if (j->children > 0) {
            return;
        }
        discard(t, join);
        if (parent >= 0) {
            t->path[parent].children--;
        }
        join = parent;
    }
}

static void leave_parent(struct simt_tree *t, int parent)
{
    if (parent >= 0) {
        t->path[parent].children--;
        settle(t, parent);
    }
}

void simt_tree_init(struct simt_tree *t, uint32_t pc, uint32_t mask)
{
    t->used = 0;
    t->clock = 0;
    memset(t->instret, 0, sizeof(t->instret));
    add(t, (struct simt_path){.pc = pc, .mask = mask, .parent = -1, .state = SIMT_PATH_RUN});
}

uint64_t simt_tree_runnable(const struct simt_tree *t)
{
    uint64_t runnable = 0;
    int i;
    EACH_PATH (t, i) {
        runnable |= (uint64_t)(t->path[i].state == SIMT_PATH_RUN) << i;
    }
    return runnable;
}

int simt_tree_pick(const struct simt_tree *t)
{
    int best = -1, i;
    EACH_PATH (t, i) {
        if (t->path[i].state == SIMT_PATH_RUN && (best < 0 || t->path[i].queued < t->path[best].queued)) {
            best = i;
        }
    }
    return best;
}

uint32_t simt_tree_live(const struct simt_tree *t)
{
    uint32_t live = 0;
    int i;
    EACH_PATH (t, i) {
        live |= t->path[i].mask;
    }
    return live;
}

uint32_t simt_tree_waiting(const struct simt_tree *t)
{
    uint32_t waiting = 0;
    int i;
    EACH_PATH (t, i) {
        if (t->path[i].state == SIMT_PATH_BARRIER) {
            waiting |= t->path[i].mask;
        }
    }
    return waiting;
}

/* The join that lanes leaving path p will meet at: its parent when that is the same place, else p itself
 * turned into a join. -1: they do not meet. */
static int join_for(struct simt_tree *t, int p, uint32_t meet)
{
    struct simt_path *path = &t->path[p];
    bool at_return = meet == SIMT_MEET_AT_EXIT;
    int32_t depth = at_return ? path->depth - 1 : path->depth;
    const struct simt_path *parent = path->parent >= 0 ? &t->path[path->parent] : NULL;

    if (meet == SIMT_MEET_NEVER || (at_return && path->depth <= 0)) {
        return path->parent;
    }
    if (parent && parent->depth == depth && (at_return ? parent->at_return : parent->pc == meet)) {
        return path->parent;
    }
    path->state = SIMT_PATH_JOIN;
    path->pc = at_return ? UNKNOWN_PC : meet;
    path->at_return = at_return;
    path->depth = depth;
    path->mask = 0;
    path->children = 0;
    return p;
}

void simt_tree_split(struct simt_tree *t, int p, uint32_t meet, unsigned n, const uint32_t *pcs,
                     const uint32_t *masks)
{
    int32_t depth = t->path[p].depth;

    flush(t, &t->path[p]);
    int join = join_for(t, p, meet);
    if (join != p) {
        discard(t, p);
        if (join >= 0) {
            t->path[join].children--;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (join >= 0 && t->path[join].pc == pcs[i] && t->path[join].depth == depth) {
            t->path[join].mask |= masks[i];
        } else {
            add(t, (struct simt_path){.pc = pcs[i],
                                      .mask = masks[i],
                                      .depth = depth,
                                      .parent = (int16_t)join,
                                      .state = SIMT_PATH_RUN});
        }
    }
}

void simt_tree_scatter(struct simt_tree *t, int p, unsigned n, const uint32_t *pcs, const uint32_t *masks,
                       const int32_t *depths)
{
    int parent = t->path[p].parent;

    flush(t, &t->path[p]);
    discard(t, p);
    if (parent >= 0) {
        t->path[parent].children--;
    }
    for (unsigned i = 0; i < n; i++) {
        add(t, (struct simt_path){.pc = pcs[i],
                                  .mask = masks[i],
                                  .depth = depths[i],
                                  .parent = (int16_t)parent,
                                  .state = SIMT_PATH_RUN});
    }
}

bool simt_tree_arrive(struct simt_tree *t, int p)
{
    struct simt_path *path = &t->path[p];

    while (path->parent >= 0) {
        int join = path->parent;
        struct simt_path *j = &t->path[join];
        if (j->depth != path->depth) {
            return false;
        }
        if (j->at_return && j->pc == UNKNOWN_PC) {
            j->pc = path->pc;
        }
        if (j->pc == path->pc) {
            flush(t, path);
            j->mask |= path->mask;
            discard(t, p);
            leave_parent(t, join);
            return true;
        }
        if (!j->at_return) {
            return false;
        }
        /* Others returned elsewhere: no meeting with them, perhaps further out. */
        path->parent = j->parent;
        if (j->parent >= 0) {
            t->path[j->parent].children++;
        }
        leave_parent(t, join);
    }
    return false;
}

void simt_tree_exit(struct simt_tree *t, int p, uint32_t lanes)
{
    struct simt_path *path = &t->path[p];
    int parent = path->parent;

    flush(t, path);
    path->mask &= ~lanes;
    if (path->mask == 0) {
        discard(t, p);
        leave_parent(t, parent);
    }
}

void simt_tree_wait(struct simt_tree *t, int p, uint32_t lanes, uint32_t pc)
{
    struct simt_path *path = &t->path[p];

    path->pc = pc;
    if (lanes == path->mask) {
        path->state = SIMT_PATH_BARRIER;
        return;
    }
    flush(t, path);
    path->mask &= ~lanes;
    add(t, (struct simt_path){.pc = pc,
                              .mask = lanes,
                              .depth = path->depth,
                              .parent = path->parent,
                              .state = SIMT_PATH_BARRIER});
}

static bool same_place(const struct simt_path *a, const struct simt_path *b)
{
    return b->state == SIMT_PATH_RUN && a->pc == b->pc && a->depth == b->depth && a->parent == b->parent;
}

void simt_tree_merge(struct simt_tree *t, int p)
{
    struct simt_path *a = &t->path[p];
    int k;
    EACH_PATH (t, k) {
        struct simt_path *b = &t->path[k];
        if (k != p && same_place(a, b)) {
            flush(t, a);
            flush(t, b);
            a->mask |= b->mask;
            discard(t, k);
            leave_parent(t, b->parent);
        }
    }
}

static void merge_siblings(struct simt_tree *t)
{
    int i;
    EACH_PATH (t, i) {
        if (t->path[i].state == SIMT_PATH_RUN) {
            simt_tree_merge(t, i);
        }
    }
}

void simt_tree_barrier_done(struct simt_tree *t)
{
    int i;
    EACH_PATH (t, i) {
        if (t->path[i].state == SIMT_PATH_BARRIER) {
            t->path[i].state = SIMT_PATH_RUN;
        }
    }
    merge_siblings(t);
}

bool simt_tree_release(struct simt_tree *t)
{
    bool any = false;
    int i;
    EACH_PATH (t, i) {
        struct simt_path *j = &t->path[i];
        if (j->state == SIMT_PATH_JOIN && j->mask != 0) {
            add(t, (struct simt_path){.pc = j->pc,
                                      .mask = j->mask,
                                      .depth = j->depth,
                                      .parent = j->parent,
                                      .state = SIMT_PATH_RUN});
            j->mask = 0;
            settle(t, i);
            any = true;
        }
    }
    return any;
}

void simt_tree_end_turn(struct simt_tree *t, int p)
{
    t->path[p].queued = ++t->clock;
    merge_siblings(t);
}
