/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cfg.h"

#define NEARBY_BYTES 0x10000u

/* A growing array of pcs. */
struct pc_list {
    uint32_t *v;
    uint32_t n, room;
};

static bool pc_list_push(struct pc_list *l, uint32_t pc)
{
    if (l->n == l->room) {
        uint32_t room = l->room ? 2 * l->room : 64;
        uint32_t *v = realloc(l->v, room * sizeof(*v));
        if (!v) {
            return false;
        }
        l->v = v;
        l->room = room;
    }
    l->v[l->n++] = pc;
    return true;
}

/* A set of pcs: open addressing, entries are pc | 1 because 0 means empty. */
struct pc_set {
    uint32_t *slot;
    uint32_t mask, n;
};

static uint32_t *pc_set_slot(const struct pc_set *s, uint32_t pc)
{
    uint32_t i = (pc >> 2) * 2654435769u >> 7;
    while (s->slot[i & s->mask] != 0 && s->slot[i & s->mask] != (pc | 1)) {
        i++;
    }
    return &s->slot[i & s->mask];
}

static bool pc_set_has(const struct pc_set *s, uint32_t pc)
{
    return s->slot && *pc_set_slot(s, pc) != 0;
}

static bool pc_set_grow(struct pc_set *s)
{
    struct pc_set bigger = {.mask = s->slot ? 2 * s->mask + 1 : 255, .n = s->n};
    bigger.slot = calloc((size_t)bigger.mask + 1, sizeof(uint32_t));
    if (!bigger.slot) {
        return false;
    }
    for (uint32_t i = 0; s->slot && i <= s->mask; i++) {
        if (s->slot[i]) {
            *pc_set_slot(&bigger, s->slot[i] & ~1u) = s->slot[i];
        }
    }
    free(s->slot);
    *s = bigger;
    return true;
}

static bool pc_set_add(struct pc_set *s, uint32_t pc)
{
    if ((!s->slot || s->n >= s->mask / 2) && !pc_set_grow(s)) {
        return false;
    }
    uint32_t *slot = pc_set_slot(s, pc);
    s->n += *slot == 0;
    *slot = pc | 1;
    return true;
}

struct run {
    uint32_t pc, count;
};

struct builder {
    struct simt_program *p;
    const struct simt_program *old;
    const struct simt_code *code;
    struct pc_list todo;   /* pcs to explore from */
    struct pc_set seen;    /* pcs explored */
    struct pc_set leaders; /* pcs that start a block */
    struct run *runs;      /* consecutive pcs explored, disjoint */
    uint32_t run_count, run_room;
};

static bool in_vram(const struct simt_code *code, uint32_t pc)
{
    return (pc & 3) == 0 && (uint64_t)pc + 4 <= code->vram_size;
}

static bool known_word(const struct simt_program *p, uint32_t pc, uint32_t *word)
{
    uint32_t offset;
    const struct simt_block *b = p ? simt_program_find(p, pc, &offset) : NULL;
    if (!b) {
        return false;
    }
    *word = p->insns[b->first + offset].word;
    return true;
}

static uint32_t fetch(const struct builder *b, uint32_t pc)
{
    uint32_t word;
    if (!known_word(b->old, pc, &word)) {
        memcpy(&word, b->code->vram + pc, sizeof(word));
    }
    return word;
}

static bool add_leader(struct builder *b, uint32_t pc)
{
    if (!in_vram(b->code, pc)) {
        return true; /* a lane that gets there faults or ends */
    }
    return pc_set_add(&b->leaders, pc) && pc_list_push(&b->todo, pc);
}

static bool falls_through(const struct simt_insn *in)
{
    return !simt_is_terminator(in->op) || simt_is_branch(in->op) || simt_is_call(in);
}

/* Queue the places other than pc + 4 where the instruction can continue, and what must start a block. */
static bool follow(struct builder *b, const struct simt_insn *in, uint32_t pc)
{
    if ((simt_is_branch(in->op) || in->op == SIMT_OP_JAL) && !add_leader(b, pc + (uint32_t)in->imm)) {
        return false;
    }
    if (simt_is_terminator(in->op) && falls_through(in) && !add_leader(b, pc + 4)) {
        return false;
    }
    return true;
}

static bool add_run(struct builder *b, uint32_t pc, uint32_t count)
{
    if (count == 0) {
        return true;
    }
    if (b->run_count == b->run_room) {
        uint32_t room = b->run_room ? 2 * b->run_room : 64;
        struct run *runs = realloc(b->runs, room * sizeof(*runs));
        if (!runs) {
            return false;
        }
        b->runs = runs;
        b->run_room = room;
    }
    b->runs[b->run_count++] = (struct run){pc, count};
    b->p->word_count += count;
    return true;
}

static unsigned reads(const struct simt_insn *in)
{
    return (simt_reads_flags(in) ? SIMT_READS_FLAGS : 0) |
           (simt_reads_counters(in) ? SIMT_READS_COUNTERS : 0);
}

/* Explore straight on from pc until known code, a transfer, or the end of VRAM. */
static bool explore(struct builder *b, uint32_t start)
{
    uint32_t pc = start, budget = SIMT_PROGRAM_MAX_INSNS - b->p->word_count;

    while (budget-- > 0 && in_vram(b->code, pc) && !pc_set_has(&b->seen, pc)) {
        struct simt_insn in = simt_decode(fetch(b, pc));
        if (!pc_set_add(&b->seen, pc) || !follow(b, &in, pc)) {
            return false;
        }
        b->p->reads |= reads(&in);
        pc += 4;
        if (simt_is_terminator(in.op)) {
            break;
        }
    }
    return add_run(b, start, (pc - start) / 4);
}

static int compare_runs(const void *a, const void *b)
{
    uint32_t x = ((const struct run *)a)->pc, y = ((const struct run *)b)->pc;
    return (x > y) - (x < y);
}

static bool discover(struct builder *b)
{
    struct simt_program *p = b->p;

    for (uint32_t i = p->root_count; i-- > 0;) { /* the newest root is explored first if there are many */
        if (!pc_set_add(&b->leaders, p->roots[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->edge_count; i++) {
        if (!add_leader(b, p->edges[i].to)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->root_count; i++) {
        if (!pc_list_push(&b->todo, p->roots[i])) {
            return false;
        }
    }
    while (b->todo.n > 0) {
        if (!explore(b, b->todo.v[--b->todo.n])) {
            return false;
        }
    }
    qsort(b->runs, b->run_count, sizeof(struct run), compare_runs);
    return true;
}

/* Ranges and words from the sorted runs. */
static bool make_ranges(struct builder *b)
{
    struct simt_program *p = b->p;
    uint32_t rank = 0;

    p->ranges = calloc(b->run_count, sizeof(*p->ranges));
    p->words = calloc(p->word_count, sizeof(*p->words));
    p->block_of = calloc(p->word_count, sizeof(*p->block_of));
    if (!p->ranges || !p->words || !p->block_of) {
        return false;
    }
    for (uint32_t i = 0; i < b->run_count; i++) {
        struct run *run = &b->runs[i];
        struct simt_range *last = p->range_count ? &p->ranges[p->range_count - 1] : NULL;
        if (last && last->pc + 4 * last->count == run->pc) {
            last->count += run->count;
        } else {
            p->ranges[p->range_count++] = (struct simt_range){run->pc, run->count, rank};
        }
        for (uint32_t j = 0; j < run->count; j++) {
            p->words[rank++] = fetch(b, run->pc + 4 * j);
        }
    }
    return true;
}

static void redirect_x0(struct simt_insn *in)
{
    if (in->rd == 0 && simt_writes_x(in)) {
        in->rd = SIMT_X_SINK;
    }
}

struct emitter {
    struct simt_program *p;
    uint32_t insn_count;
    struct simt_block *open; /* block being filled */
};

static void close_block(struct emitter *e)
{
    if (e->open) {
        e->p->insns[e->insn_count++] = (struct simt_insn){.op = SIMT_OP_END};
    }
    e->open = NULL;
}

static void emit(struct emitter *e, uint32_t pc, uint32_t rank, bool leader)
{
    struct simt_program *p = e->p;
    struct simt_insn in = simt_decode(p->words[rank]);

    if (e->open && (leader || e->open->count == p->block_limit)) {
        close_block(e);
    }
    if (!e->open) {
        e->open = &p->blocks[p->block_count++];
        *e->open = (struct simt_block){.pc = pc, .first = e->insn_count};
    }
    redirect_x0(&in);
    p->insns[e->insn_count++] = in;
    p->block_of[rank] = p->block_count - 1;
    e->open->count++;
    if (simt_is_terminator(in.op)) {
        e->open = NULL;
    }
}

/* Cut the words into blocks. Worst case every instruction is a block of its own. */
static bool make_blocks(struct builder *b)
{
    struct simt_program *p = b->p;
    struct emitter e = {.p = p};

    p->blocks = calloc(p->word_count, sizeof(*p->blocks));
    p->insns = calloc(2 * (size_t)p->word_count, sizeof(*p->insns));
    if (!p->blocks || !p->insns) {
        return false;
    }
    for (uint32_t r = 0; r < p->range_count; r++) {
        for (uint32_t i = 0; i < p->ranges[r].count; i++) {
            uint32_t pc = p->ranges[r].pc + 4 * i;
            emit(&e, pc, p->ranges[r].first + i, pc_set_has(&b->leaders, pc));
        }
        close_block(&e);
    }
    return true;
}

static const struct simt_insn *last_insn(const struct simt_program *p, const struct simt_block *blk)
{
    return &p->insns[blk->first + blk->count - 1];
}

static uint32_t last_pc(const struct simt_block *blk)
{
    return blk->pc + 4 * (blk->count - 1);
}

/* Index of the block that starts at pc. */
static uint32_t block_at(const struct simt_program *p, uint32_t pc)
{
    uint32_t offset;
    const struct simt_block *blk = simt_program_find(p, pc, &offset);
    return blk && offset == 0 ? (uint32_t)(blk - p->blocks) : SIMT_NO_BLOCK;
}

static void link_blocks(struct simt_program *p)
{
    for (uint32_t i = 0; i < p->block_count; i++) {
        struct simt_block *blk = &p->blocks[i];
        const struct simt_insn *in = last_insn(p, blk);
        bool jumps = simt_is_branch(in->op) || in->op == SIMT_OP_JAL;
        blk->taken = jumps ? block_at(p, last_pc(blk) + (uint32_t)in->imm) : SIMT_NO_BLOCK;
        blk->fall = falls_through(in) ? block_at(p, last_pc(blk) + 4) : SIMT_NO_BLOCK;
    }
}

static uint32_t node_of(const struct simt_program *p, uint32_t block)
{
    return block == SIMT_NO_BLOCK ? p->block_count : block;
}

/* Edges of the indirect jump at pc; edges are sorted by from. */
static const struct simt_edge *edges_of(const struct simt_program *p, uint32_t pc, uint32_t *count)
{
    uint32_t lo = 0, hi = p->edge_count;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->edges[mid].from < pc) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    for (*count = 0; lo + *count < p->edge_count && p->edges[lo + *count].from == pc;) {
        ++*count;
    }
    return p->edges + lo;
}

/* Graph successors of a block into out (room for 2 or its learned edges); returns how many. A call counts as
 * falling through, a return and an indirect jump of unknown target as leaving. */
static uint32_t successors(const struct simt_program *p, const struct simt_block *blk, uint32_t *out)
{
    const struct simt_insn *in = last_insn(p, blk);
    uint32_t n = 0, edge_count;

    if (simt_is_indirect_jump(in)) {
        const struct simt_edge *edges = edges_of(p, last_pc(blk), &edge_count);
        for (uint32_t i = 0; i < edge_count; i++) {
            out[n++] = node_of(p, block_at(p, edges[i].to));
        }
    } else if (simt_is_branch(in->op)) {
        out[n++] = node_of(p, blk->taken);
        out[n++] = node_of(p, blk->fall);
    } else if (in->op == SIMT_OP_JAL && !simt_is_call(in)) {
        out[n++] = node_of(p, blk->taken);
    } else {
        out[n++] = node_of(p, blk->fall);
    }
    if (n == 0) {
        out[n++] = p->block_count;
    }
    return n;
}

/* Post-dominators and order of the blocks. */
static int analyse(struct simt_program *p)
{
    uint32_t n = p->block_count;
    size_t room = 2 * (size_t)n + p->edge_count;
    uint32_t *start = malloc(((size_t)n + 1 + room + 2 * (size_t)n) * sizeof(uint32_t));
    if (!start) {
        return -ENOMEM;
    }
    uint32_t *succ = start + n + 1, *ipdom = succ + room, *order = ipdom + n;
    uint32_t edges = 0;
    for (uint32_t i = 0; i < n; i++) {
        start[i] = edges;
        edges += successors(p, &p->blocks[i], succ + edges);
    }
    start[n] = edges;

    struct simt_graph g = {.n = n, .start = start, .succ = succ};
    int r = simt_cfg_ipdom(&g, ipdom);
    if (r == 0) {
        r = simt_cfg_order(&g, block_at(p, p->roots[0]), order);
    }
    for (uint32_t i = 0; r == 0 && i < n; i++) {
        p->blocks[i].order = order[i];
        p->blocks[i].ipdom = ipdom[i] == n ? SIMT_NO_PC : p->blocks[ipdom[i]].pc;
    }
    free(start);
    return r;
}

static void program_free(struct simt_program *p)
{
    free(p->insns);
    free(p->blocks);
    free(p->ranges);
    free(p->words);
    free(p->block_of);
    free(p->roots);
    free(p->edges);
    free(p);
}

/* Fill p, whose roots, edges and block_limit are set; takes ownership of it. */
static int build(struct simt_program *p, const struct simt_program *old, const struct simt_code *code)
{
    struct builder b = {.p = p, .old = old, .code = code};
    int r = -ENOMEM;

    if (discover(&b) && make_ranges(&b) && make_blocks(&b)) {
        link_blocks(p);
        r = analyse(p);
    }
    free(b.todo.v);
    free(b.seen.slot);
    free(b.leaders.slot);
    free(b.runs);
    return r;
}

static struct simt_program *program_new(uint32_t roots, uint32_t edges, uint32_t block_limit)
{
    struct simt_program *p = calloc(1, sizeof(*p));
    if (!p) {
        return NULL;
    }
    atomic_init(&p->refs, 1);
    p->block_limit = block_limit;
    p->roots = calloc(roots, sizeof(*p->roots));
    p->edges = calloc(edges + 1, sizeof(*p->edges));
    if (!p->roots || !p->edges) {
        program_free(p);
        return NULL;
    }
    return p;
}

static int finish(struct simt_program **out, struct simt_program *p, const struct simt_program *old,
                  const struct simt_code *code)
{
    int r = build(p, old, code);
    if (r != 0) {
        program_free(p);
        return r;
    }
    *out = p;
    return 0;
}

int simt_program_build(struct simt_program **out, const struct simt_code *code, uint32_t pc,
                       uint32_t block_limit)
{
    struct simt_program *p = program_new(1, 0, block_limit);
    if (!p) {
        return -ENOMEM;
    }
    p->roots[p->root_count++] = pc;
    return finish(out, p, NULL, code);
}

static int compare_edges(const void *a, const void *b)
{
    const struct simt_edge *x = a, *y = b;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return (x->to > y->to) - (x->to < y->to);
}

static void copy_edges(struct simt_program *p, const struct simt_program *old, const struct simt_edge *edges,
                       uint32_t edge_count)
{
    memcpy(p->edges, old->edges, old->edge_count * sizeof(*edges));
    p->edge_count = old->edge_count;
    for (uint32_t i = 0; i < edge_count && p->edge_count < SIMT_PROGRAM_MAX_EDGES; i++) {
        if (!simt_program_has_edge(old, edges[i].from, edges[i].to)) {
            p->edges[p->edge_count++] = edges[i];
        }
    }
    qsort(p->edges, p->edge_count, sizeof(*edges), compare_edges);
}

int simt_program_extend(struct simt_program **out, const struct simt_program *old,
                        const struct simt_code *code, uint32_t pc, const struct simt_edge *edges,
                        uint32_t edge_count)
{
    if (pc != SIMT_NO_PC && old->word_count >= SIMT_PROGRAM_MAX_INSNS) {
        return simt_program_build(out, code, pc, old->block_limit);
    }
    struct simt_program *p = program_new(old->root_count + 1, old->edge_count + edge_count, old->block_limit);
    if (!p) {
        return -ENOMEM;
    }
    memcpy(p->roots, old->roots, old->root_count * sizeof(*p->roots));
    p->root_count = old->root_count;
    if (pc != SIMT_NO_PC) {
        p->roots[p->root_count++] = pc;
    }
    copy_edges(p, old, edges, edge_count);
    return finish(out, p, old, code);
}

struct simt_program *simt_program_ref(struct simt_program *p)
{
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void simt_program_unref(struct simt_program *p)
{
    if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1) {
        program_free(p);
    }
}

bool simt_program_matches(const struct simt_program *p, const struct simt_code *code)
{
    for (uint32_t i = 0; i < p->range_count; i++) {
        const struct simt_range *r = &p->ranges[i];
        if (memcmp(code->vram + r->pc, p->words + r->first, 4 * (size_t)r->count) != 0) {
            return false;
        }
    }
    return true;
}

/* Whether any word of n looks like a CSR instruction that reads() tells of. Each launch asks, so without a
 * branch for each word. */
static bool may_read(const uint8_t *words, size_t n)
{
    uint32_t hit = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t word, csr;
        memcpy(&word, words + 4 * i, sizeof(word));
        csr = word >> 20;
        hit |= ((word & 0x7f) == 0x73) & /* SYSTEM */
               ((csr == SIMT_CSR_FFLAGS) | (csr == SIMT_CSR_FCSR) |
                ((csr & ~(SIMT_CSR_INSTRETH & ~SIMT_CSR_CYCLE)) == SIMT_CSR_CYCLE));
    }
    return hit != 0;
}

unsigned simt_program_reads_nearby(const struct simt_program *p, const struct simt_code *code)
{
    const struct simt_range *last = &p->ranges[p->range_count - 1];
    uint64_t from = (uint64_t)last->pc + 4 * (uint64_t)last->count;
    uint64_t to = from + NEARBY_BYTES < code->vram_size ? from + NEARBY_BYTES : code->vram_size & ~3ull;
    unsigned found = 0;

    if (from >= to || !may_read(code->vram + from, (to - from) / 4)) {
        return 0;
    }
    for (uint64_t pc = from; pc < to; pc += 4) {
        uint32_t word;
        memcpy(&word, code->vram + pc, sizeof(word));
        if ((word & 0x7f) == 0x73) { /* SYSTEM */
            struct simt_insn in = simt_decode(word);
            found |= reads(&in);
        }
    }
    return found;
}

const struct simt_block *simt_program_find(const struct simt_program *p, uint32_t pc, uint32_t *offset)
{
    uint32_t lo = 0, hi = p->range_count;

    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->ranges[mid].pc <= pc) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    uint32_t index = (pc - p->ranges[lo].pc) / 4;
    if ((pc & 3) != 0 || pc < p->ranges[lo].pc || index >= p->ranges[lo].count) {
        return NULL;
    }
    const struct simt_block *b = &p->blocks[p->block_of[p->ranges[lo].first + index]];
    *offset = (pc - b->pc) / 4;
    return b;
}

bool simt_program_has_edge(const struct simt_program *p, uint32_t from, uint32_t to)
{
    uint32_t n;
    const struct simt_edge *edges = edges_of(p, from, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (edges[i].to == to) {
            return true;
        }
    }
    return false;
}
