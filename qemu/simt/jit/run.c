/* SPDX-License-Identifier: MIT */
/* Running compiled code for a warp, and going on in the interpreter where it stops. */
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "../src/device.h"
#include "../src/fp.h"
#include "jit.h"
#include "../src/memory.h"
#include "../src/soft.h"

#define HOT_INSNS 0x10000u /* a launch that has issued so many on a compute unit is worth compiling */

/* Warps that begin one after the other issue so many instructions before the clock is looked at: some ten
 * microseconds, a millisecond if all of them wait for memory. */
#define SWEEP_INSNS 0x4000u

/* A launch that writes as much leaves nothing in a cache that is of use later. */
#define STREAM_BYTES (16u << 20)

struct jit_session {
    struct jit *jit;
    struct jit_entry *entry;
    double threads; /* of the launch */
    struct jit_frame frame;
    uint64_t runs, lefts; /* of compiled code; how many were left to the interpreter */
    uint64_t budget;      /* instructions until a NEW entry is queued; 0: it was */
};

/* ---- what compiled code calls ---- */

static uint32_t help_load(struct jit_frame *f, const struct simt_insn *in, uint32_t mask)
{
    struct simt_warp *w = f->warp;
    uint32_t *d = simt_op_format(in->op) == SIMT_FMT_FLOAD ? w->f[in->rd] : w->x[in->rd], bad;
    unsigned size = in->op == SIMT_OP_LB || in->op == SIMT_OP_LBU   ? 1
                    : in->op == SIMT_OP_LH || in->op == SIMT_OP_LHU ? 2
                                                                    : 4;
    if (simt_load(f->cu, w, mask, size, d, &bad) != SIMT_ACCESS_OK) {
        return 1;
    }
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        if (mask >> l & 1) {
            d[l] = in->op == SIMT_OP_LB   ? (uint32_t)(int8_t)d[l]
                   : in->op == SIMT_OP_LH ? (uint32_t)(int16_t)d[l]
                                          : d[l];
        }
    }
    return 0;
}

static uint32_t help_store(struct jit_frame *f, const struct simt_insn *in, uint32_t mask)
{
    struct simt_warp *w = f->warp;
    const uint32_t *src = simt_op_format(in->op) == SIMT_FMT_FSTORE ? w->f[in->rs2] : w->x[in->rs2];
    unsigned size = in->op == SIMT_OP_SB ? 1 : in->op == SIMT_OP_SH ? 2 : 4;
    uint32_t bad;

    for (unsigned l = 0; l < SIMT_LANES; l++) {
        if ((mask >> l & 1) && w->addr[l] == SIMT_SYNC_BASE) {
            return 1; /* a barrier: the scheduler's business */
        }
    }
    return simt_store(f->cu, w, mask, size, src, &bad) != SIMT_ACCESS_OK;
}

static uint32_t help_atomic(struct jit_frame *f, const struct simt_insn *in, uint32_t mask)
{
    struct simt_warp *w = f->warp;
    uint32_t bad;
    return simt_atomic(f->cu, w, mask, in->op, w->x[in->rs2], w->x[in->rd], &bad) != SIMT_ACCESS_OK;
}

uint32_t jit_help(struct jit_frame *f, uint32_t insn, uint32_t mask)
{
    const struct simt_insn *in = &f->prog->insns[insn];
    enum simt_format format = simt_op_format(in->op);
    struct simt_warp *w = f->warp;
    bool atomic = format == SIMT_FMT_AMO || format == SIMT_FMT_LR;

    if (format == SIMT_FMT_NARROW) {
        simt_soft_narrow(w, mask, in);
        return 0;
    }
    if (jit_is_soft(in)) {
        return simt_soft_fp(w, mask, in);
    }
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        w->addr[l] = w->x[in->rs1][l] + (atomic ? 0 : (uint32_t)in->imm);
    }
    if (atomic) {
        return help_atomic(f, in, mask);
    }
    return format == SIMT_FMT_LOAD || format == SIMT_FMT_FLOAD ? help_load(f, in, mask)
                                                               : help_store(f, in, mask);
}

void jit_count(struct jit_frame *f, uint32_t mask, uint32_t size)
{
    f->cu->transactions += simt_count_segments(f->cu, f->warp, mask, size);
}

/* A masked loop's fuel is used up: more, unless the launch is to stop or the warp's turn is over. 0: come
 * back. */
uint64_t jit_poll(struct jit_frame *f, uint64_t insns)
{
    bool go = insns < SIMT_TURN_INSNS && f->cu->turn_atomics < SIMT_TURN_ATOMICS &&
              simt_poll(f->cu) == SIMT_POLL_GO;
    return go ? insns + JIT_POLL_INSNS : 0;
}

/* ---- sessions ---- */

static bool linear_x(const struct simt_launch *l)
{
    return l->block[0] % SIMT_LANES == 0 || l->block[1] * l->block[2] == 1;
}

static uint32_t threads_of(const struct simt_launch *l)
{
    return l->block[0] * l->block[1] * l->block[2];
}

static struct jit_variant variant_of(const struct simt_cu *cu)
{
    const struct simt_launch *l = &cu->launch;
    return (struct jit_variant){
        .linear_x = linear_x(l),
        .full_warps = threads_of(l) % SIMT_LANES == 0,
        .hopes = true,
        .exact = simt_get_config(cu->dev)->max_insns != 0 || (cu->reads & SIMT_READS_COUNTERS),
        .private_top = SIMT_PRIVATE_BASE + cu->private_size,
    };
}

static void init_frame(struct jit_frame *f, struct simt_cu *cu, const struct simt_program *prog)
{
    f->vram = cu->vram;
    f->vram_size = cu->vram_size;
    f->shared = cu->shared;
    f->shared_size = cu->shared_size;
    f->private_size = cu->private_size;
    f->cu = cu;
    f->warps = cu->warps;
    f->prog = prog;
    f->help = jit_help;
    f->count = jit_count;
    f->poll = jit_poll;
    memcpy(&f->ctrl[0x20 / 4], cu->launch.block, sizeof(cu->launch.block));
    memcpy(&f->ctrl[0x30 / 4], cu->launch.grid, sizeof(cu->launch.grid));
    f->alone = threads_of(&cu->launch) == SIMT_LANES && !cu->witness; /* which wants to see each barrier */
    f->ctrl[0x48 / 4] = (uint32_t)cu->launch.args;
    f->ctrl[0x4c / 4] = cu->shared_size;
}

/* The entry for the launch; what did not meet the code's expectations last time gets code that has none. */
static struct jit_entry *find_entry(struct jit *j, struct simt_cu *cu)
{
    struct jit_variant v = variant_of(cu);
    struct jit_entry *entry = jit_entry_get(j, cu->prog, &v);

    if (entry && entry->misfit) {
        jit_entry_put(j, entry);
        v.hopes = false;
        entry = jit_entry_get(j, cu->prog, &v);
    }
    return entry;
}

struct jit_session *jit_join(struct jit *j, struct simt_cu *cu, bool wait)
{
    if (!j || cu->warp_size != SIMT_LANES || cu->track_flags) {
        return NULL;
    }
    struct jit_session *s = aligned_alloc(64, (sizeof(*s) + 63) / 64 * 64);
    if (!s) {
        return NULL;
    }
    *s = (struct jit_session){.jit = j, .entry = find_entry(j, cu), .budget = HOT_INSNS};
    s->threads =
        (double)cu->launch.grid[0] * cu->launch.grid[1] * cu->launch.grid[2] * threads_of(&cu->launch);
    if (!s->entry) {
        free(s);
        return NULL;
    }
    if (wait) {
        jit_entry_request(j, s->entry, true);
    }
    init_frame(&s->frame, cu, s->entry->prog);
    return s;
}

void jit_part(struct jit_session *s)
{
    if (s) {
        jit_entry_note(s->jit, s->entry, s->runs, s->lefts);
        jit_entry_put(s->jit, s->entry);
        free(s);
    }
}

uint64_t jit_ready_ns(const struct jit_session *s)
{
    bool ready = s && atomic_load_explicit(&s->entry->state, memory_order_acquire) == JIT_ENTRY_READY;
    return ready ? s->entry->ready_ns : UINT64_MAX;
}

/* ---- the executor ---- */

/* The entry point for path p, or -1. */
static int entry_of(const struct jit_compiled *code, const struct simt_path *p)
{
    for (uint32_t i = 0; i < code->entry_count; i++) {
        const struct jit_node *node = &code->graph->nodes[code->entries[i]];
        if (node->pc == p->pc && node->depth == p->depth) {
            return (int)i;
        }
    }
    return -1;
}

static void set_warp(struct jit_frame *f, struct simt_cu *cu, struct simt_warp *w)
{
    f->index = w->index;
    f->warp_count = cu->warp_count;
    f->hart_base = simt_mhartid(cu, cu->warps[0], 0);
    memcpy(&f->ctrl[0x10 / 4], cu->block, sizeof(cu->block));
}

static void take_counters(struct jit_frame *f, struct simt_cu *cu)
{
    simt_count(&cu->counters.insns, f->insns);
    simt_count(&cu->counters.compiled_insns, f->insns);
    simt_count(&cu->counters.lane_insns, f->lane_insns);
    simt_count(&cu->counters.divergences, f->divergences);
    simt_count(&cu->counters.barriers, f->barriers);
    cu->transactions += f->transactions;
    cu->bytes += f->bytes;
    cu->fuel -= (int64_t)(f->insns - f->begun);
}

static void add_place(struct simt_cu *cu, uint32_t pc, uint32_t mask, int32_t depth)
{
    if (mask) {
        cu->places[cu->place_count++] = (struct simt_place){pc, mask, depth};
    }
}

/* Where the lanes are that the code left. */
static void collect_places(const struct jit_compiled *code, struct jit_frame *f, struct simt_cu *cu)
{
    cu->place_count = 0;
    add_place(cu, f->pc, f->left, f->depth);
    for (uint32_t i = 0; i < code->graph->n; i++) {
        add_place(cu, code->graph->nodes[i].pc, f->pend[i], code->graph->nodes[i].depth);
        f->pend[i] = 0;
    }
}

static enum simt_stop leave(const struct jit_compiled *code, struct jit_frame *f, struct simt_cu *cu,
                            struct simt_warp *w, struct simt_path *p, enum jit_status status)
{
    collect_places(code, f, cu);
    if (cu->place_count != 1 || cu->places[0].mask != p->mask) {
        return SIMT_STOP_SCATTER;
    }
    p->pc = cu->places[0].pc;
    p->depth = cu->places[0].depth;
    if (status == JIT_FUEL || cu->fuel <= 0) {
        return SIMT_STOP_FUEL;
    }
    return simt_interpreter()->run(cu, w, p);
}

static void fill_rows(const struct jit_compiled *code, struct simt_warp *w)
{
    jit_rows_fill(&code->exits, &code->exits.exits[w->lean - 1], w->scalars, w->x, w->f);
    w->lean = 0;
}

uint64_t jit_live(const struct jit_session *s, uint32_t pc, int32_t depth)
{
    bool ready = atomic_load_explicit(&s->entry->state, memory_order_acquire) == JIT_ENTRY_READY;
    return ready ? jit_graph_live_at(s->entry->code.graph, pc, depth) : ~1ull;
}

void jit_registers(const struct jit_session *s, const struct simt_warp *w, struct simt_registers *out)
{
    simt_copy_registers(w, out);
    if (w->lean) {
        const struct jit_exits *exits = &s->entry->code.exits;
        jit_rows_fill(exits, &exits->exits[w->lean - 1], w->scalars, out->x, out->f);
    }
}

/* What went past the caches is seen before anything that this thread does later. */
static void stream_fence(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* Call the code for the lanes of mask; what the frame says of the path and of a sweep is set. */
static enum jit_status call(struct jit_session *s, struct simt_cu *cu, struct simt_warp *w, uint32_t entry,
                            uint32_t mask, uint64_t limit)
{
    struct jit_frame *f = &s->frame;

    set_warp(f, cu, w);
    f->mask = mask;
    f->entry = entry;
    f->exit = 0;
    f->limit = limit;
    f->left = 0;
    f->stream = s->threads * s->entry->code.streamed * sizeof(uint32_t) >= STREAM_BYTES;
    uint64_t blocks = f->blocks;
    enum jit_status status = s->entry->code.fn(f);
    if (f->stream) {
        stream_fence();
    }
    if (status != JIT_REJECTED) {
        s->runs += (blocks - f->blocks) * f->warp_count + f->index - w->index + 1;
        s->lefts += status == JIT_LEFT;
        take_counters(f, cu);
    }
    return status;
}

/* Compiled code has run path p and come back. */
static enum simt_stop come_back(struct jit_session *s, struct simt_cu *cu, struct simt_warp *w,
                                struct simt_path *p, enum jit_status status)
{
    const struct jit_compiled *code = &s->entry->code;
    struct jit_frame *f = &s->frame;

    p->retired += f->insns - f->begun;
    w->lean = f->exit;
    if (w->lean && code->exits.exits[w->lean - 1].node == JIT_NO_NODE) {
        fill_rows(code, w);
    }
    switch (status) {
    case JIT_DONE:
        return SIMT_STOP_EXIT;
    case JIT_BARRIER:
        p->pc = f->pc;
        p->depth = f->depth;
        cu->split_lanes = p->mask;
        return SIMT_STOP_BARRIER;
    default:
        return leave(code, f, cu, w, p, status);
    }
}

/* Make the rows what an entry point at path p takes: the entry for the frame, or 0 when there is none. */
static uint32_t find_way_in(const struct jit_compiled *code, struct simt_cu *cu, struct simt_warp *w,
                            const struct simt_path *p)
{
    uint32_t top = cu->private_size / 4;
    int entry = entry_of(code, p);

    if (entry < 0) {
        return 0;
    }
    uint32_t node = code->entries[entry], full = (uint32_t)entry | JIT_LEAN;
    if (w->lean && code->exits.exits[w->lean - 1].node == node) {
        return full;
    }
    if (w->lean) {
        fill_rows(code, w);
    }
    if (p->mask == UINT32_MAX && code->full[node].reg[0].kind != JIT_UNSEEN &&
        jit_rows_pack(w, p->mask, &code->full[node], code->graph->nodes[node].live_in, top)) {
        return full;
    }
    if (code->masked->entry[node].reg[0].kind != JIT_UNSEEN &&
        jit_rows_pack(w, p->mask, &code->masked->entry[node], code->masked->live_entry[node], top)) {
        return (uint32_t)entry | JIT_MASKED;
    }
    return 0;
}

/* Instructions compiled code may issue before it looks at the limit; a budget is not to be overrun. */
static uint64_t limit_of(const struct jit_session *s, const struct simt_cu *cu)
{
    uint64_t fuel = cu->fuel > 0 ? (uint64_t)cu->fuel : 0, margin = s->entry->code.longest;

    if (!s->entry->variant.exact) {
        return fuel;
    }
    return fuel > margin ? fuel - margin : 0;
}

static void note_heat(struct jit_session *s, int64_t insns)
{
    uint64_t n = insns > 0 ? (uint64_t)insns : 0;
    if (s->budget > n) {
        s->budget -= n;
    } else if (s->budget > 0) {
        s->budget = 0;
        jit_entry_request(s->jit, s->entry, false);
    }
}

static enum simt_stop run(struct simt_cu *cu, struct simt_warp *w, struct simt_path *p)
{
    struct jit_session *s = cu->jit;
    int state = atomic_load_explicit(&s->entry->state, memory_order_acquire);

    if (state == JIT_ENTRY_READY && p->parent < 0 && w->rm_mode[SIMT_RM_DYN] == SIMT_RNE) {
        uint64_t limit = limit_of(s, cu);
        bool whole = simt_tree_live(&w->tree) == p->mask;
        uint32_t entry = whole && limit > 0 ? find_way_in(&s->entry->code, cu, w, p) : 0;
        if (entry) {
            s->frame.instret = w->tree.instret;
            s->frame.retired = p->retired;
            s->frame.sweep_limit = s->frame.blocks = 0;
            return come_back(s, cu, w, p, call(s, cu, w, entry, p->mask, limit));
        }
    }
    if (w->lean) {
        fill_rows(&s->entry->code, w);
    }
    uint64_t before = p->retired;
    enum simt_stop stop = simt_interpreter()->run(cu, w, p);
    if (state == JIT_ENTRY_NEW) {
        note_heat(s, (int64_t)(p->retired - before));
    }
    return stop;
}

/* Whether warps may follow one another, and blocks: not while instructions are counted a thread, nor where
 * what is made for one warp, a path to look at or clean private memory, is needed for each. */
static void allow_sweep(struct jit_session *s, const struct simt_cu *cu)
{
    const struct jit_entry *entry = s->entry;
    bool many = cu->sweep.many && entry->variant.full_warps && !entry->variant.exact && !entry->code.helps;

    s->frame.sweep_limit = many ? SWEEP_INSNS : 0;
    s->frame.blocks = many && !entry->code.dirties ? cu->sweep.blocks : 0;
}

/* What jit_help may look at exists before, if there is a call of it; else only when the warp goes on. */
static enum simt_stop begin(struct simt_cu *cu)
{
    static const uint64_t none[SIMT_LANES];
    struct simt_warp *w = cu->warps[cu->sweep.warp];
    struct jit_session *s = cu->jit;
    int state = atomic_load_explicit(&s->entry->state, memory_order_acquire);
    uint64_t limit;

    if (state != JIT_ENTRY_READY || cu->track_flags || simt_warp_threads(cu, w) != UINT32_MAX ||
        (limit = limit_of(s, cu)) == 0) {
        return SIMT_STOP_NOT_BEGUN;
    }
    bool helps = s->entry->code.helps;
    if (helps) {
        simt_begin_path(cu, w);
    }
    memcpy(s->frame.args, cu->args, sizeof(cu->args));
    s->frame.instret = none;
    s->frame.retired = 0;
    allow_sweep(s, cu);
    uint64_t blocks = s->frame.blocks;
    enum jit_status status = call(s, cu, w, JIT_BEGIN, UINT32_MAX, limit);
    if (status == JIT_REJECTED) { /* never behind the first warp: it depends on the arguments */
        return SIMT_STOP_NOT_BEGUN;
    }
    simt_sweep_to(cu, blocks - s->frame.blocks, s->frame.index, s->frame.begun);
    w = cu->warps[s->frame.index];
    if (status == JIT_DONE) {
        w->tree.used = 0;
        return SIMT_STOP_EXIT;
    }
    if (!helps) {
        simt_begin_path(cu, w);
    }
    return come_back(s, cu, w, &w->tree.path[0], status);
}

static const struct simt_executor executor = {.name = "jit", .run = run, .begin = begin};

const struct simt_executor *jit_executor(void)
{
    return &executor;
}
