/* SPDX-License-Identifier: MIT */
/* Scheduling inside a compute unit: the warps of a block, the paths of a warp, the block barrier. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "soft.h"
#include "witness.h"

/* Instructions between two looks at the clock and the cancel flag: well below a millisecond, or a few of them
 * when every instruction is done lane by lane. */
#define POLL_INSNS 2048
/* What starting a path counts as, so that short ones cannot put the look off. */
#define PATH_COST 16

#define REG_RA 1
#define REG_SP 2
#define REG_A0 10

/* They are the same in all blocks of a launch, and mostly in the next launch. */
static void set_thread_ids(struct simt_cu *cu, struct simt_warp *w)
{
    const uint32_t *dim = cu->launch.block;
    if (memcmp(w->thread_dim, dim, sizeof(w->thread_dim)) == 0) {
        return;
    }
    memcpy(w->thread_dim, dim, sizeof(w->thread_dim));
    for (uint32_t l = 0; l < SIMT_LANES; l++) {
        uint32_t t = w->index * cu->warp_size + l;
        w->thread[0][l] = t % dim[0];
        w->thread[1][l] = t / dim[0] % dim[1];
        w->thread[2][l] = t / dim[0] / dim[1];
    }
}

static void fill_row(uint32_t *row, uint32_t value)
{
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        row[l] = value;
    }
}

/* Argument word i; words outside VRAM read 0. */
static uint32_t argument(const struct simt_cu *cu, unsigned i)
{
    uint64_t offset = cu->launch.args + 4ull * i;
    uint32_t word = 0;
    if (offset + 4 <= cu->vram_size) {
        memcpy(&word, cu->vram + offset, sizeof(word));
    }
    return word;
}

static uint32_t block_threads(const struct simt_cu *cu)
{
    return cu->launch.block[0] * cu->launch.block[1] * cu->launch.block[2];
}

uint32_t simt_warp_threads(const struct simt_cu *cu, const struct simt_warp *w)
{
    uint32_t threads = block_threads(cu) - w->index * cu->warp_size;
    threads = threads < cu->warp_size ? threads : cu->warp_size;
    return threads == 32 ? UINT32_MAX : (1u << threads) - 1;
}

static void clear_private(const struct simt_cu *cu, struct simt_warp *w)
{
    size_t words = cu->private_size / 4;
    if (w->priv_dirty < words) {
        memset(w->priv + w->priv_dirty * (size_t)SIMT_LANES, 0, (words - w->priv_dirty) * sizeof(simt_row));
        w->priv_dirty = (uint32_t)words;
    }
}

/* What must be so before anything of the warp's runs. */
static void prepare_warp(struct simt_cu *cu, struct simt_warp *w)
{
    w->begun = false;
    w->lean = 0;
    w->turns = 0;
    w->tree.used = 0;
    set_thread_ids(cu, w);
    clear_private(cu, w);
}

void simt_begin_path(struct simt_cu *cu, struct simt_warp *w)
{
    w->begun = true;
    memset(w->fflags, 0, sizeof(w->fflags));
    memset(w->frm, 0, sizeof(w->frm));
    memset(w->ballot, 0, sizeof(w->ballot));
    memset(w->exchange, 0, sizeof(w->exchange));
    w->reserved = 0;
    simt_update_rm_mode(cu, w);
    simt_tree_init(&w->tree, (uint32_t)cu->launch.kernel, simt_warp_threads(cu, w));
}

static void init_registers(struct simt_cu *cu, struct simt_warp *w)
{
    memset(w->x, 0, sizeof(w->x));
    memset(w->f, 0, sizeof(w->f));
    fill_row(w->x[REG_RA], SIMT_EXIT_PC);
    fill_row(w->x[REG_SP], SIMT_PRIVATE_BASE + cu->private_size);
    for (unsigned i = 0; i < SIMT_ARG_REGS; i++) {
        fill_row(w->x[REG_A0 + i], cu->args[i]);
    }
}

/* The storage of a warp, made when a block first needs it. */
static struct simt_warp *get_warp(struct simt_cu *cu, uint32_t index)
{
    if (!cu->warps[index]) {
        struct simt_warp *w = aligned_alloc(alignof(struct simt_warp), sizeof(*w));
        uint32_t *priv = calloc(cu->private_size / 4, sizeof(simt_row));
        if (!w || !priv) {
            free(w);
            free(priv);
            return NULL;
        }
        memset(w, 0, sizeof(*w)); /* row x0 stays so */
        w->priv = priv;
        w->priv_dirty = cu->private_size / 4;
        w->index = index;
        cu->warps[index] = w;
    }
    return cu->warps[index];
}

static void end_warps(struct simt_cu *cu, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cu->warps[i]->begun = true;
        cu->warps[i]->tree.used = 0;
    }
}

void simt_sweep_to(struct simt_cu *cu, uint64_t blocks, uint32_t warp, uint64_t insns)
{
    cu->poll -= (int64_t)insns;
    cu->block_linear += blocks;
    cu->block[0] += (uint32_t)blocks;
    for (uint32_t i = 0; blocks > 0 && i < cu->warp_count; i++) {
        prepare_warp(cu, cu->warps[i]);
    }
    end_warps(cu, blocks > 0 ? 0 : cu->sweep.warp, warp);
    cu->sweep.warp = warp;
}

static int out_of_memory(struct simt_cu *cu)
{
    simt_log(cu->dev, "simt: out of memory while running block %llu", (unsigned long long)cu->block_linear);
    cu->fault = (struct simt_fault){.cause = SIMT_BAD_LAUNCH, .count = 1};
    return -EFAULT;
}

static int init_block(struct simt_cu *cu, uint64_t linear)
{
    const uint32_t *grid = cu->launch.grid;

    cu->block_linear = linear;
    cu->block[0] = (uint32_t)(linear % grid[0]);
    cu->block[1] = (uint32_t)(linear / grid[0] % grid[1]);
    cu->block[2] = (uint32_t)(linear / grid[0] / grid[1]);
    cu->warp_count = (block_threads(cu) + cu->warp_size - 1) / cu->warp_size;
    memset(cu->shared, 0, cu->shared_size);
    for (uint32_t i = 0; i < cu->warp_count; i++) {
        struct simt_warp *w = get_warp(cu, i);
        if (!w) {
            return out_of_memory(cu);
        }
        prepare_warp(cu, w);
    }
    for (unsigned i = 0; i < SIMT_ARG_REGS; i++) {
        cu->args[i] = argument(cu, i);
    }
    return 0;
}

static bool branch_to_next(const struct simt_insn *in)
{
    return in->imm == 4;
}

static const struct simt_insn *last_insn(const struct simt_cu *cu, const struct simt_block *blk)
{
    return &cu->prog->insns[blk->first + blk->count - 1];
}

static void split_branch(struct simt_cu *cu, struct simt_warp *w, int p)
{
    const struct simt_insn *in = last_insn(cu, cu->split_block);
    struct simt_path *path = &w->tree.path[p];
    uint32_t pcs[2] = {path->pc + (uint32_t)in->imm, path->pc + 4};
    uint32_t masks[2] = {cu->split_lanes, path->mask & ~cu->split_lanes};

    if (branch_to_next(in)) {
        path->pc += 4;
        return;
    }
    simt_count(&cu->counters.divergences, 1);
    simt_tree_split(&w->tree, p, cu->split_block->ipdom, 2, pcs, masks);
}

/* Sort the lanes of mask by target: pcs[] and masks[] per distinct target. Returns how many. */
static unsigned distinct_targets(const struct simt_warp *w, uint32_t mask, uint32_t *pcs, uint32_t *masks)
{
    unsigned n = 0;
    for (; mask; n++) {
        uint32_t target = w->target[__builtin_ctz(mask)];
        pcs[n] = target;
        masks[n] = 0;
        for (unsigned l = 0; l < SIMT_LANES; l++) {
            masks[n] |= (mask >> l & 1 && w->target[l] == target) ? 1u << l : 0;
        }
        mask &= ~masks[n];
    }
    return n;
}

/* Newly found code may be the first that reads fflags: arithmetic keeps them from now on. */
static void update_flag_tracking(struct simt_cu *cu)
{
    if (cu->track_flags || !(cu->prog->reads & SIMT_READS_FLAGS)) {
        return;
    }
    cu->track_flags = true;
    for (uint32_t i = 0; i < cu->warp_count; i++) {
        simt_update_rm_mode(cu, cu->warps[i]);
    }
}

static uint32_t meet_after_jump(struct simt_cu *cu, uint32_t pc, unsigned n, const uint32_t *pcs)
{
    struct simt_edge edges[SIMT_LANES];
    uint32_t offset;

    for (unsigned i = 0; i < n; i++) {
        edges[i] = (struct simt_edge){.from = pc, .to = pcs[i]};
    }
    simt_learn_edges(cu, edges, n);
    update_flag_tracking(cu);
    return simt_program_find(cu->prog, pc, &offset)->ipdom;
}

static void split_indirect(struct simt_cu *cu, struct simt_warp *w, int p)
{
    struct simt_insn in = *last_insn(cu, cu->split_block); /* learning replaces the program */
    struct simt_path *path = &w->tree.path[p];
    uint32_t pcs[SIMT_LANES], masks[SIMT_LANES];
    unsigned n = distinct_targets(w, path->mask, pcs, masks);
    uint32_t meet = SIMT_MEET_AT_EXIT; /* a call: where the functions return to */

    if (simt_is_return(&in)) {
        meet = SIMT_MEET_NEVER; /* unless further out they do */
    } else if (simt_is_indirect_jump(&in)) {
        meet = meet_after_jump(cu, path->pc, n, pcs);
    }
    simt_count(&cu->counters.divergences, 1);
    simt_tree_split(&w->tree, p, meet, n, pcs, masks);
}

/* Lanes of path p are where the engine says, or have ended. */
static void scatter(struct simt_cu *cu, struct simt_warp *w, int p)
{
    uint32_t pcs[SIMT_LANES], masks[SIMT_LANES], live = 0;
    int32_t depths[SIMT_LANES];

    for (uint32_t i = 0; i < cu->place_count; i++) {
        pcs[i] = cu->places[i].pc;
        masks[i] = cu->places[i].mask;
        depths[i] = cu->places[i].depth;
        live |= masks[i];
    }
    if (live == 0) {
        simt_tree_exit(&w->tree, p, w->tree.path[p].mask);
        return;
    }
    simt_tree_scatter(&w->tree, p, cu->place_count, pcs, masks, depths);
}

/* Path p is at an address outside the program. */
static int resolve_pc(struct simt_cu *cu, struct simt_warp *w, int p)
{
    struct simt_path *path = &w->tree.path[p];
    uint32_t pc = path->pc;

    if (pc == SIMT_EXIT_PC) {
        simt_tree_exit(&w->tree, p, path->mask);
        return 0;
    }
    if ((pc & 3) != 0 || (uint64_t)pc + 4 > cu->vram_size) {
        simt_raise(cu, w, path, SIMT_FETCH_FAULT, path->mask, pc, 0, pc);
        return -EFAULT;
    }
    if (simt_learn_pc(cu, pc) != 0) {
        return out_of_memory(cu);
    }
    update_flag_tracking(cu);
    return 0;
}

static int handle_stop(struct simt_cu *cu, struct simt_warp *w, int p, enum simt_stop stop)
{
    struct simt_path *path = &w->tree.path[p];

    switch (stop) {
    case SIMT_STOP_JOIN:
        simt_tree_arrive(&w->tree, p);
        return 0;
    case SIMT_STOP_FUEL:
    case SIMT_STOP_NOT_BEGUN:
        return 0;
    case SIMT_STOP_BRANCH:
        split_branch(cu, w, p);
        return 0;
    case SIMT_STOP_INDIRECT:
        split_indirect(cu, w, p);
        return 0;
    case SIMT_STOP_SCATTER:
        scatter(cu, w, p);
        return 0;
    case SIMT_STOP_EXIT:
        simt_tree_exit(&w->tree, p, path->mask);
        return 0;
    case SIMT_STOP_BARRIER:
        simt_tree_wait(&w->tree, p, cu->split_lanes, path->pc);
        return 0;
    case SIMT_STOP_MISS:
        return resolve_pc(cu, w, p);
    case SIMT_STOP_FAULT:
        if (cu->witness) {
            simt_witness_fault(cu, w, path);
        }
        break;
    }
    return -EFAULT;
}

/* A path of the block that waits at the barrier, and its warp; NULL if there is none. */
static const struct simt_path *waiting_path(const struct simt_cu *cu, const struct simt_warp **warp)
{
    for (uint32_t i = 0; i < cu->warp_count; i++) {
        for (unsigned p = 0; p < SIMT_MAX_PATHS; p++) {
            const struct simt_path *path = &cu->warps[i]->tree.path[p];
            if ((cu->warps[i]->tree.used >> p & 1) && path->state == SIMT_PATH_BARRIER) {
                *warp = cu->warps[i];
                return path;
            }
        }
    }
    return NULL;
}

static uint32_t word_at(const struct simt_cu *cu, uint32_t pc)
{
    uint32_t offset;
    const struct simt_block *blk = simt_program_find(cu->prog, pc, &offset);
    return blk ? cu->prog->insns[blk->first + offset].word : 0;
}

static int raise_deadlock(struct simt_cu *cu, const struct simt_warp *w, const struct simt_path *p)
{
    simt_raise(cu, w, p, SIMT_BARRIER_DEADLOCK, p->mask, p->pc - 4, word_at(cu, p->pc - 4), SIMT_SYNC_BASE);
    return -EFAULT;
}

/* The budget or the time is used up: the record names where the path that ran then is. */
static int raise_limit(struct simt_cu *cu, const struct simt_warp *w, const struct simt_path *p)
{
    simt_raise(cu, w, p, SIMT_LIMIT, p->mask, p->pc, word_at(cu, p->pc), 0);
    return -EFAULT;
}

/* Instructions until a lane of the path reaches the budget of the launch. */
static int64_t budget_left(const struct simt_cu *cu, const struct simt_warp *w, const struct simt_path *p)
{
    uint64_t most = 0, limit = simt_get_config(cu->dev)->max_insns;

    if (limit == 0) {
        return INT64_MAX;
    }
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        uint64_t n = (p->mask >> l & 1) ? w->tree.instret[l] : 0;
        most = n > most ? n : most;
    }
    most += p->retired;
    return most >= limit ? 0 : limit - most < INT64_MAX ? (int64_t)(limit - most) : INT64_MAX;
}

/* Where the code at pc comes in the program; code not known yet comes first. */
static uint32_t order_at(const struct simt_cu *cu, uint32_t pc)
{
    uint32_t offset;
    const struct simt_block *blk = simt_program_find(cu->prog, pc, &offset);
    return blk ? blk->order : 0;
}

/* Every other turn of a warp is a short one for the path that has waited longest, as the one that would
 * otherwise go on may be spinning until that one moves. */
static bool fair_turn(const struct simt_warp *w)
{
    return w->turns & 1;
}

/* The paths in runnable, and the joins that wait for them. */
static uint64_t with_joins(const struct simt_tree *t, uint64_t runnable)
{
    uint64_t active = 0;

    for (; runnable != 0; runnable &= runnable - 1) {
        for (int i = __builtin_ctzll(runnable); i >= 0 && !(active >> i & 1); i = t->path[i].parent) {
            active |= 1ull << i;
        }
    }
    return active;
}

/* Of two children of a join (or roots), which goes on first: the one inside more calls, then the one that
 * comes first in the program, then the one that others are still to arrive at. */
static bool goes_first(const struct simt_path *a, uint32_t order_a, const struct simt_path *b,
                       uint32_t order_b)
{
    if (a->depth != b->depth) {
        return a->depth > b->depth;
    }
    return order_a != order_b ? order_a < order_b : a->state == SIMT_PATH_JOIN && b->state == SIMT_PATH_RUN;
}

/* The active child of parent that goes first; in cu->frontier the order of the one after it. */
static int first_child(struct simt_cu *cu, const struct simt_tree *t, uint64_t active, int parent)
{
    uint32_t least = 0;
    int first = -1;

    cu->frontier = UINT32_MAX;
    for (; active != 0; active &= active - 1) {
        int i = __builtin_ctzll(active);
        const struct simt_path *p = &t->path[i];
        if (p->parent != parent) {
            continue;
        }
        uint32_t order = order_at(cu, p->pc);
        if (first < 0 || goes_first(p, order, &t->path[first], least)) {
            cu->frontier = first >= 0 && t->path[first].depth == p->depth ? least : UINT32_MAX;
            first = i;
            least = order;
        } else if (p->depth == t->path[first].depth && order < cu->frontier) {
            cu->frontier = order;
        }
    }
    return first;
}

/* The path to run, -1 when there is none. Among paths with the same join the one that comes first in the
 * program goes on until it has passed the next one, so that lanes also meet where no post-dominator says so
 * (the body of "if (a || b)", a loop left by return). Diamos et al., "SIMD Re-Convergence At Thread
 * Frontiers", MICRO 2011. */
static int choose_path(struct simt_cu *cu, struct simt_warp *w)
{
    struct simt_tree *t = &w->tree;
    uint64_t runnable = simt_tree_runnable(t);
    int p = -1;

    cu->frontier = UINT32_MAX;
    if ((runnable & (runnable - 1)) == 0) {
        return runnable ? __builtin_ctzll(runnable) : -1;
    }
    if (fair_turn(w)) {
        return simt_tree_pick(t);
    }
    for (uint64_t active = with_joins(t, runnable); p < 0 || t->path[p].state == SIMT_PATH_JOIN;) {
        p = first_child(cu, t, active, p);
    }
    if (cu->frontier == order_at(cu, t->path[p].pc)) {
        simt_tree_merge(t, p);
    }
    return p;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The warp has had its turn, and path p with it. */
static void end_turn(const struct simt_cu *cu, struct simt_warp *w, int p)
{
    if (++w->turns % SIMT_TURNS_TO_RELEASE == 0 || cu->turn_atomics >= SIMT_TURN_ATOMICS) {
        simt_tree_release(&w->tree);
    }
    simt_tree_end_turn(&w->tree, p);
}

/* Run the warp until none of its paths can go on or its turn ends. 0, -EFAULT, or -ECANCELED to stop quietly.
 */
static int run_turn(struct simt_cu *cu, const struct simt_executor *engine, struct simt_warp *w)
{
    int64_t turn = fair_turn(w) ? SIMT_FAIR_INSNS : SIMT_TURN_INSNS, poll = 0;
    int p;

    cu->turn_atomics = 0;
    while ((p = choose_path(cu, w)) >= 0) {
        struct simt_path *path = &w->tree.path[p];
        if (simt_tree_arrive(&w->tree, p)) {
            continue;
        }
        if (poll <= 0) {
            enum simt_poll told = simt_poll(cu);
            if (told != SIMT_POLL_GO) {
                return told == SIMT_POLL_STOP ? -ECANCELED : raise_limit(cu, w, path);
            }
            poll = POLL_INSNS;
        }
        int64_t budget = budget_left(cu, w, path);
        if (budget <= 0) {
            return raise_limit(cu, w, path);
        }
        if (turn <= 0 || cu->turn_atomics >= SIMT_TURN_ATOMICS) {
            end_turn(cu, w, p);
            return 0;
        }
        uint64_t before = path->retired;
        cu->fuel = min64(min64(turn, poll), budget);
        enum simt_stop stop = engine->run(cu, w, path);
        int64_t retired = (int64_t)(path->retired - before);
        turn -= retired;
        poll -= retired + PATH_COST;
        int r = handle_stop(cu, w, p, stop);
        if (r != 0) {
            return r;
        }
    }
    return 0;
}

/* Every running path of the warp is a jump to itself: it will never do anything else. */
static bool only_self_jumps(const struct simt_cu *cu, const struct simt_warp *w)
{
    for (unsigned p = 0; p < SIMT_MAX_PATHS; p++) {
        const struct simt_path *path = &w->tree.path[p];
        if (!(w->tree.used >> p & 1) || path->state == SIMT_PATH_BARRIER) {
            continue;
        }
        uint32_t offset;
        const struct simt_block *blk = simt_program_find(cu->prog, path->pc, &offset);
        if (path->state != SIMT_PATH_RUN || !blk || cu->prog->insns[blk->first + offset].op != SIMT_OP_JAL ||
            cu->prog->insns[blk->first + offset].imm != 0) {
            return false;
        }
    }
    return true;
}

static bool is_stuck(const struct simt_cu *cu)
{
    for (uint32_t i = 0; i < cu->warp_count; i++) {
        if (!only_self_jumps(cu, cu->warps[i])) {
            return false;
        }
    }
    return true;
}

/* engine=check: all live threads are at the barrier. */
static void witness_barrier(struct simt_cu *cu)
{
    for (uint32_t i = 0; cu->witness && i < cu->warp_count; i++) {
        const struct simt_tree *t = &cu->warps[i]->tree;
        int p;
        EACH_PATH (t, p) {
            if (t->path[p].state == SIMT_PATH_BARRIER) {
                simt_witness_barrier(cu, cu->warps[i], &t->path[p]);
            }
        }
    }
}

/* After each warp had its turn: complete the barrier if all live threads wait there. 0, 1 when the block has
 * ended, or -EFAULT when they wait for threads that can never come. */
static int settle_block(struct simt_cu *cu)
{
    uint32_t live = 0, waiting = 0;

    for (uint32_t i = 0; i < cu->warp_count; i++) {
        struct simt_warp *w = cu->warps[i];
        if (w->tree.used == 0) {
            continue;
        }
        uint32_t warp_waiting = simt_tree_waiting(&w->tree), warp_live = simt_tree_live(&w->tree);
        live += (uint32_t)__builtin_popcount(warp_live);
        waiting += (uint32_t)__builtin_popcount(warp_waiting);
    }
    if (live == 0) {
        return 1;
    }
    if (waiting == live) {
        simt_count(&cu->counters.barriers, 1);
        witness_barrier(cu);
        for (uint32_t i = 0; i < cu->warp_count; i++) {
            simt_tree_barrier_done(&cu->warps[i]->tree);
        }
        return 0;
    }
    if (waiting > 0 && is_stuck(cu)) {
        const struct simt_warp *w = NULL;
        const struct simt_path *p = waiting_path(cu, &w);
        return raise_deadlock(cu, w, p);
    }
    return 0;
}

/* Let the engine begin the warp if it can, and if this is no time to look at the clock; and those behind it,
 * with other blocks, too, if all before it have ended. */
static enum simt_stop begin_quickly(struct simt_cu *cu, const struct simt_executor *engine,
                                    struct simt_warp *w, uint64_t blocks)
{
    uint64_t budget = simt_get_config(cu->dev)->max_insns;
    int64_t fuel = budget && budget < POLL_INSNS ? (int64_t)budget : POLL_INSNS;

    if (!engine->begin) {
        return SIMT_STOP_NOT_BEGUN;
    }
    if (cu->poll <= 0) {
        if (simt_poll(cu) != SIMT_POLL_GO) {
            return SIMT_STOP_NOT_BEGUN;
        }
        cu->poll = POLL_INSNS;
    }
    cu->turn_atomics = 0;
    cu->frontier = UINT32_MAX;
    cu->fuel = fuel;
    cu->sweep.warp = w->index;
    cu->sweep.many = !cu->timeline;
    cu->sweep.blocks = cu->shared_size == 0 ? blocks : 0; /* shared memory is cleared for each */
    enum simt_stop stop = engine->begin(cu);
    cu->poll -= fuel - cu->fuel + PATH_COST;
    return stop;
}

/* Begin warp *w and perhaps others; *w becomes the last of them. */
static int begin_warp(struct simt_cu *cu, const struct simt_executor *engine, struct simt_warp **w,
                      uint64_t blocks)
{
    enum simt_stop stop = begin_quickly(cu, engine, *w, blocks);

    if (stop == SIMT_STOP_NOT_BEGUN) {
        simt_begin_path(cu, *w);
        init_registers(cu, *w);
        return 0;
    }
    *w = cu->warps[cu->sweep.warp];
    (*w)->begun = true;
    return (*w)->tree.used ? handle_stop(cu, *w, 0, stop) : 0;
}

static bool can_run(struct simt_warp *w)
{
    return simt_tree_pick(&w->tree) >= 0 ||
           simt_tree_release(&w->tree); /* not ended, nor all at the barrier */
}

static int take_turn(struct simt_cu *cu, const struct simt_executor *engine, struct simt_warp **w,
                     uint64_t blocks)
{
    if (!(*w)->begun) {
        int r = begin_warp(cu, engine, w, blocks);
        if (r != 0 || !can_run(*w)) {
            return r;
        }
    }
    return run_turn(cu, engine, *w);
}

static int run_recorded_turn(struct simt_cu *cu, const struct simt_executor *engine, struct simt_warp **w,
                             uint64_t blocks)
{
    if (!cu->timeline) {
        return take_turn(cu, engine, w, blocks);
    }
    uint64_t begin = simt_timeline_clock(cu->timeline);
    int r = take_turn(cu, engine, w, blocks);
    simt_timeline_turn(cu, (*w)->index, begin);
    return r;
}

/* A turn for each warp. Those that begin may take the unit to one of the blocks behind this one, where the
 * warps before the last one that began have ended, too. */
static int run_warps(struct simt_cu *cu, const struct simt_executor *engine, uint64_t blocks)
{
    bool ended = true; /* all warps before this one */

    for (uint32_t i = 0; i < cu->warp_count; i++) {
        struct simt_warp *w = cu->warps[i];
        if (!w->begun || can_run(w)) {
            uint64_t block = cu->block_linear;
            int r = run_recorded_turn(cu, engine, &w, ended ? blocks : 0);
            if (r != 0) {
                return r;
            }
            blocks -= cu->block_linear - block;
            i = w->index;
        }
        ended &= w->tree.used == 0;
    }
    return 0;
}

/* Run a block, and perhaps blocks behind it, as far as the row of the grid goes: the unit is at the last. */
static int run_block(struct simt_cu *cu, const struct simt_executor *engine, uint64_t linear, uint64_t count)
{
    uint64_t begin = cu->timeline ? simt_timeline_clock(cu->timeline) : 0;
    int r = init_block(cu, linear);
    uint64_t more = r == 0 ? min64((int64_t)count, cu->launch.grid[0] - cu->block[0]) - 1 : 0;

    while (r == 0) {
        r = run_warps(cu, engine, more);
        more = 0;
        if (r == 0) {
            r = settle_block(cu);
        }
    }
    simt_count(&cu->counters.transactions, cu->transactions);
    simt_count(&cu->counters.bytes, cu->bytes);
    cu->transactions = cu->bytes = 0;
    if (cu->timeline) {
        simt_timeline_block(cu, begin);
    }
    return r == 1 ? 0 : r;
}

int simt_run_blocks(struct simt_cu *cu, const struct simt_executor *engine, uint64_t first, uint64_t count)
{
    int r = 0;
    for (uint64_t block = first; r == 0 && block < first + count; block = cu->block_linear + 1) {
        r = run_block(cu, engine, block, first + count - block);
    }
    return r;
}
