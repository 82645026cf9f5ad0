/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "simt/simt.h"

#define ALL_REGS (~1ull)

/* A function being inlined: where it returns to, in which context. */
struct context {
    uint32_t parent, return_pc;
};

/* A node before ordering: which block, from which instruction on, in which context. */
struct draft {
    struct jit_node node;
    uint32_t context;
};

struct builder {
    const struct simt_program *prog;
    const uint32_t *barriers;
    uint32_t barrier_count;
    struct draft *drafts;
    uint32_t n, insns;
    struct context contexts[JIT_MAX_NODES];
    uint32_t context_count;
    const char *why;
};

static uint64_t x_bit(unsigned r)
{
    return r < 32 ? (1ull << r) & ALL_REGS : 0;
}

static uint64_t f_bit(unsigned r)
{
    return 1ull << (32 + r);
}

uint64_t jit_uses(const struct simt_insn *in)
{
    switch (simt_op_format(in->op)) {
    case SIMT_FMT_R:
    case SIMT_FMT_B:
    case SIMT_FMT_STORE:
    case SIMT_FMT_AMO:
        return x_bit(in->rs1) | x_bit(in->rs2);
    case SIMT_FMT_I:
    case SIMT_FMT_SHIFT:
    case SIMT_FMT_LOAD:
    case SIMT_FMT_FLOAD:
    case SIMT_FMT_JALR:
    case SIMT_FMT_CSR:
    case SIMT_FMT_LR:
    case SIMT_FMT_X2F:
    case SIMT_FMT_XMVF:
        return x_bit(in->rs1);
    case SIMT_FMT_FSTORE:
        return x_bit(in->rs1) | f_bit(in->rs2);
    case SIMT_FMT_FR:
    case SIMT_FMT_FF:
    case SIMT_FMT_FCMP:
        return f_bit(in->rs1) | f_bit(in->rs2);
    case SIMT_FMT_FR4:
        return f_bit(in->rs1) | f_bit(in->rs2) | f_bit(in->rs3);
    case SIMT_FMT_FR1:
    case SIMT_FMT_F2X:
    case SIMT_FMT_FMVX:
    case SIMT_FMT_NARROW:
        return f_bit(in->rs1);
    default:
        return 0;
    }
}

uint64_t jit_defs(const struct simt_insn *in)
{
    switch (simt_op_format(in->op)) {
    case SIMT_FMT_FLOAD:
    case SIMT_FMT_FR:
    case SIMT_FMT_FR4:
    case SIMT_FMT_FR1:
    case SIMT_FMT_FF:
    case SIMT_FMT_X2F:
    case SIMT_FMT_XMVF:
    case SIMT_FMT_NARROW:
        return f_bit(in->rd);
    default:
        return simt_writes_x(in) ? x_bit(in->rd) : 0;
    }
}

static bool is_barrier(const struct builder *b, uint32_t pc)
{
    for (uint32_t i = 0; i < b->barrier_count; i++) {
        if (b->barriers[i] == pc) {
            return true;
        }
    }
    return false;
}

/* The node for the instruction at pc in a context, made if there is none; JIT_NO_NODE outside the program. */
static uint32_t node_at(struct builder *b, uint32_t pc, uint32_t context)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->drafts[i].node.pc == pc && b->drafts[i].context == context) {
            return i;
        }
    }
    uint32_t offset;
    const struct simt_block *blk = simt_program_find(b->prog, pc, &offset);
    if (!blk) {
        return JIT_NO_NODE;
    }
    if (b->n == JIT_MAX_NODES) {
        b->why = "too many basic blocks";
        return JIT_NO_NODE;
    }
    b->drafts[b->n] = (struct draft){
        .node = {.pc = pc, .first = blk->first + offset, .count = blk->count - offset, .loop = JIT_NO_NODE},
        .context = context,
    };
    return b->n++;
}

static int32_t context_depth(const struct builder *b, uint32_t context)
{
    int32_t depth = 0;
    for (; context != 0; context = b->contexts[context].parent) {
        depth++;
    }
    return depth;
}

static bool context_active(const struct builder *b, uint32_t context, uint32_t return_pc)
{
    for (; context != 0; context = b->contexts[context].parent) {
        if (b->contexts[context].return_pc == return_pc) {
            return true;
        }
    }
    return false;
}

/* The context of a call in context that returns to return_pc; JIT_NO_NODE when it is not to be inlined. */
static uint32_t enter_context(struct builder *b, uint32_t context, uint32_t return_pc)
{
    for (uint32_t i = 1; i < b->context_count; i++) {
        if (b->contexts[i].parent == context && b->contexts[i].return_pc == return_pc) {
            return i;
        }
    }
    if (context_active(b, context, return_pc) || context_depth(b, context) >= (int32_t)JIT_MAX_DEPTH ||
        b->context_count == JIT_MAX_NODES) {
        return JIT_NO_NODE;
    }
    b->contexts[b->context_count] = (struct context){context, return_pc};
    return b->context_count++;
}

/* Shorten a node to end at its first barrier store. */
static bool cut_at_barrier(struct builder *b, struct jit_node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (is_barrier(b, node->pc + 4 * i)) {
            node->count = i + 1;
            return true;
        }
    }
    return false;
}

static void link_return(struct builder *b, struct jit_node *node, uint32_t context)
{
    const struct simt_insn *in = &b->prog->insns[node->first + node->count - 1];

    if (in->imm != 0 || in->rs1 != 1) {
        node->end = JIT_END_LEAVE;
        return;
    }
    node->end = JIT_END_RETURN;
    node->return_pc = context ? b->contexts[context].return_pc : SIMT_EXIT_PC;
    node->succ[0] = context ? node_at(b, node->return_pc, b->contexts[context].parent) : JIT_NO_NODE;
}

static void link_call(struct builder *b, struct jit_node *node, uint32_t context, uint32_t target)
{
    uint32_t callee = enter_context(b, context, node->pc + 4 * node->count);

    node->end = callee == JIT_NO_NODE ? JIT_END_LEAVE : JIT_END_CALL;
    if (callee != JIT_NO_NODE) {
        node->succ[0] = node_at(b, target, callee);
    }
}

static void link_node(struct builder *b, uint32_t index)
{
    struct jit_node node = b->drafts[index].node;
    uint32_t context = b->drafts[index].context;
    bool barrier = cut_at_barrier(b, &node);
    const struct simt_insn *in = &b->prog->insns[node.first + node.count - 1];
    uint32_t last = node.pc + 4 * (node.count - 1), next = last + 4;

    node.succ[0] = node.succ[1] = JIT_NO_NODE;
    node.depth = context_depth(b, context);
    if (barrier) {
        node.end = JIT_END_BARRIER;
        node.succ[0] = node_at(b, next, context);
    } else if (simt_is_branch(in->op)) {
        node.end = JIT_END_BRANCH;
        node.succ[0] = node_at(b, last + (uint32_t)in->imm, context);
        node.succ[1] = node_at(b, next, context);
    } else if (in->op == SIMT_OP_JAL && simt_is_call(in)) {
        link_call(b, &node, context, last + (uint32_t)in->imm);
    } else if (in->op == SIMT_OP_JAL) {
        node.end = JIT_END_FALL;
        node.succ[0] = node_at(b, last + (uint32_t)in->imm, context);
    } else if (simt_is_return(in)) {
        link_return(b, &node, context);
    } else if (in->op == SIMT_OP_EBREAK) {
        node.end = JIT_END_EXIT;
    } else if (in->op == SIMT_OP_JALR || in->op == SIMT_OP_ILLEGAL) {
        node.end = JIT_END_LEAVE;
    } else {
        node.end = JIT_END_FALL;
        node.succ[0] = node_at(b, next, context);
    }
    b->drafts[index].node = node;
    b->insns += node.count;
}

/* ---- order ---- */

/* Arrays are indexed by draft unless said otherwise. */
struct order {
    struct draft *drafts;
    uint32_t n;
    uint32_t rank[JIT_MAX_NODES];    /* in reverse postorder */
    uint32_t by_rank[JIT_MAX_NODES]; /* rank -> draft */
    uint32_t idom[JIT_MAX_NODES];
    uint32_t pred_start[JIT_MAX_NODES + 1];
    uint32_t pred[2 * JIT_MAX_NODES];
    uint32_t
        loop_of[JIT_MAX_NODES]; /* header of the innermost loop around it (of a header: the next one out) */
    bool is_header[JIT_MAX_NODES];
    uint32_t out[JIT_MAX_NODES]; /* final order */
    uint32_t out_count;
};

static void postorder(struct order *o, uint32_t i, uint32_t *next, bool *seen)
{
    seen[i] = true;
    for (unsigned s = 0; s < 2; s++) {
        uint32_t t = o->drafts[i].node.succ[s];
        if (t != JIT_NO_NODE && !seen[t]) {
            postorder(o, t, next, seen);
        }
    }
    o->rank[i] = --*next;
}

static uint32_t common_dominator(const struct order *o, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (o->rank[a] > o->rank[b]) {
            a = o->idom[a];
        }
        while (o->rank[b] > o->rank[a]) {
            b = o->idom[b];
        }
    }
    return a;
}

/* Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm" (2001); the graph is small. */
static void dominators(struct order *o)
{
    bool changed = true;

    memset(o->idom, 0xff, sizeof(o->idom));
    o->idom[0] = 0;
    while (changed) {
        changed = false;
        for (uint32_t k = 0; k < o->n; k++) {
            uint32_t i = o->by_rank[k];
            for (unsigned s = 0; s < 2 && o->idom[i] != JIT_NO_NODE; s++) {
                uint32_t t = o->drafts[i].node.succ[s];
                if (t == JIT_NO_NODE || t == 0) {
                    continue;
                }
                uint32_t d = o->idom[t] == JIT_NO_NODE ? i : common_dominator(o, o->idom[t], i);
                changed |= d != o->idom[t];
                o->idom[t] = d;
            }
        }
    }
}

static bool dominates(const struct order *o, uint32_t a, uint32_t b)
{
    while (o->rank[b] > o->rank[a]) {
        b = o->idom[b];
    }
    return a == b;
}

/* Add the natural loop of the back edge to its header, innermost headers having been handled before outer
 * ones: a node already in a loop stands for its outermost loop so far. loop_of of a header is the loop around
 * it. */
static void collect_loop(struct order *o, uint32_t header, uint32_t latch)
{
    uint32_t stack[2 * JIT_MAX_NODES + 1], top = 0;
    stack[top++] = latch;
    while (top) {
        uint32_t i = stack[--top];
        while (i != header && o->loop_of[i] != JIT_NO_NODE && o->loop_of[i] != header) {
            i = o->loop_of[i];
        }
        if (i == header || o->loop_of[i] == header) {
            continue;
        }
        o->loop_of[i] = header;
        for (uint32_t p = o->pred_start[i]; p < o->pred_start[i + 1]; p++) {
            stack[top++] = o->pred[p];
        }
    }
}

static void link_preds(struct order *o)
{
    uint32_t fill[JIT_MAX_NODES];

    memset(o->pred_start, 0, sizeof(o->pred_start));
    for (uint32_t e = 0; e < 2 * o->n; e++) {
        uint32_t t = o->drafts[e / 2].node.succ[e % 2];
        if (t != JIT_NO_NODE) {
            o->pred_start[t + 1]++;
        }
    }
    for (uint32_t i = 0; i < o->n; i++) {
        o->pred_start[i + 1] += o->pred_start[i];
        fill[i] = o->pred_start[i];
    }
    for (uint32_t e = 0; e < 2 * o->n; e++) {
        uint32_t t = o->drafts[e / 2].node.succ[e % 2];
        if (t != JIT_NO_NODE) {
            o->pred[fill[t]++] = e / 2;
        }
    }
}

/* All loops, innermost first; false for an irreducible graph. */
static bool find_loops(struct order *o)
{
    memset(o->loop_of, 0xff, sizeof(o->loop_of));
    memset(o->is_header, 0, sizeof(o->is_header));
    for (uint32_t k = o->n; k-- > 0;) {
        uint32_t h = o->by_rank[k];
        for (uint32_t p = o->pred_start[h]; p < o->pred_start[h + 1]; p++) {
            if (o->rank[o->pred[p]] < k) {
                continue;
            }
            if (!dominates(o, h, o->pred[p])) {
                return false;
            }
            o->is_header[h] = true;
            collect_loop(o, h, o->pred[p]);
        }
    }
    return true;
}

/* Place the nodes of one loop (of everything for h = JIT_NO_NODE) in reverse postorder, an inner loop as a
 * whole where its header stands. Still topological but for back edges, as loops are entered through headers
 * only. */
static void place_region(struct order *o, uint32_t h)
{
    for (uint32_t k = 0; k < o->n; k++) {
        uint32_t i = o->by_rank[k];
        if (i != h && o->loop_of[i] == h && o->is_header[i]) {
            place_region(o, i);
        } else if (i == h || o->loop_of[i] == h) {
            o->out[o->out_count++] = i;
        }
    }
}

static bool find_order(struct order *o)
{
    bool seen[JIT_MAX_NODES] = {false};
    uint32_t next = o->n;

    postorder(o, 0, &next, seen);
    for (uint32_t i = 0; i < o->n; i++) {
        o->by_rank[o->rank[i]] = i;
    }
    dominators(o);
    link_preds(o);
    if (!find_loops(o)) {
        return false;
    }
    o->out_count = 0;
    place_region(o, JIT_NO_NODE);
    return true;
}

/* ---- the finished graph ---- */

static void copy_nodes(struct jit_graph *g, const struct order *o)
{
    uint32_t position[JIT_MAX_NODES];

    for (uint32_t i = 0; i < o->n; i++) {
        position[o->out[i]] = i;
    }
    for (uint32_t i = 0; i < o->n; i++) {
        struct jit_node *node = &g->nodes[i];
        *node = o->drafts[o->out[i]].node;
        for (unsigned s = 0; s < 2; s++) {
            node->succ[s] = node->succ[s] == JIT_NO_NODE ? JIT_NO_NODE : position[node->succ[s]];
        }
        node->joins = o->is_header[o->out[i]] || o->pred_start[o->out[i] + 1] - o->pred_start[o->out[i]] > 1;
    }
}

/* Loops in the order of their headers: an outer loop precedes the ones inside it. */
static void number_loops(struct jit_graph *g, const struct order *o)
{
    uint32_t loop_at[JIT_MAX_NODES]; /* header draft -> loop */

    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t draft = o->out[i], outer = o->loop_of[draft];
        uint32_t parent = outer == JIT_NO_NODE ? JIT_NO_NODE : loop_at[outer];
        g->nodes[i].loop = parent;
        if (o->is_header[draft]) {
            loop_at[draft] = g->nodes[i].loop = g->loop_count;
            if (parent != JIT_NO_NODE) {
                g->loops[parent].innermost = false;
            }
            g->loops[g->loop_count++] =
                (struct jit_loop){.header = i, .last = i, .parent = parent, .innermost = true};
        }
        for (uint32_t l = g->nodes[i].loop; l != JIT_NO_NODE; l = g->loops[l].parent) {
            g->loops[l].last = i;
        }
    }
}

static struct jit_graph *finish(struct builder *b)
{
    struct order *o = malloc(sizeof(*o));
    struct jit_graph *g = calloc(1, sizeof(*g));

    if (!o || !g || !(g->nodes = calloc(b->n, sizeof(*g->nodes))) ||
        !(g->loops = calloc(b->n, sizeof(*g->loops)))) {
        b->why = "out of memory";
    } else {
        o->drafts = b->drafts;
        o->n = b->n;
        b->why = find_order(o) ? NULL : "irreducible control flow";
    }
    if (!b->why) {
        g->prog = b->prog;
        g->n = b->n;
        copy_nodes(g, o);
        number_loops(g, o);
    } else {
        jit_graph_free(g);
        g = NULL;
    }
    free(o);
    return g;
}

struct jit_graph *jit_graph_build(const struct simt_program *prog, const uint32_t *barriers,
                                  uint32_t barrier_count, const char **why)
{
    struct builder b = {
        .prog = prog, .barriers = barriers, .barrier_count = barrier_count, .context_count = 1};
    struct jit_graph *g = NULL;

    b.drafts = calloc(JIT_MAX_NODES, sizeof(*b.drafts));
    if (!b.drafts) {
        *why = "out of memory";
        return NULL;
    }
    node_at(&b, prog->roots[0], 0);
    for (uint32_t i = 0; i < b.n && !b.why; i++) {
        link_node(&b, i);
        if (b.insns > JIT_MAX_INSNS) {
            b.why = "too many instructions";
        }
    }
    if (!b.why) {
        g = finish(&b);
    }
    *why = b.why;
    free(b.drafts);
    return g;
}

/* Live before the node's instruction first. */
static uint64_t live_before(const struct jit_graph *g, const struct jit_node *node, uint32_t first)
{
    bool leaves = node->end == JIT_END_LEAVE || (node->end == JIT_END_RETURN && !node->returns_home);
    uint64_t live = leaves ? ALL_REGS : 0;

    for (unsigned s = 0; s < 2; s++) {
        bool outside = node->succ[s] == JIT_NO_NODE &&
                       (s == 0 ? node->end == JIT_END_FALL || node->end == JIT_END_CALL ||
                                     node->end == JIT_END_BARRIER || node->end == JIT_END_BRANCH
                               : node->end == JIT_END_BRANCH);
        live |= node->succ[s] != JIT_NO_NODE ? g->nodes[node->succ[s]].live_in : outside ? ALL_REGS : 0;
    }
    for (uint32_t i = node->count; i-- > first;) {
        const struct simt_insn *in = &g->prog->insns[node->first + i];
        live = (live & ~jit_defs(in)) | jit_uses(in);
    }
    return live;
}

void jit_graph_liveness(struct jit_graph *g)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = g->n; i-- > 0;) {
            uint64_t live = live_before(g, &g->nodes[i], 0);
            changed |= live != g->nodes[i].live_in;
            g->nodes[i].live_in = live;
        }
    }
}

uint64_t jit_graph_live_at(const struct jit_graph *g, uint32_t pc, int32_t depth)
{
    uint64_t live = ALL_REGS;
    bool found = false;

    for (uint32_t i = 0; i < g->n; i++) {
        const struct jit_node *node = &g->nodes[i];
        if (node->depth == depth && pc >= node->pc && pc < node->pc + 4 * node->count) {
            live &= live_before(g, node, (pc - node->pc) / 4);
            found = true;
        }
    }
    return found ? live : 0;
}

void jit_graph_free(struct jit_graph *g)
{
    if (g) {
        free(g->nodes);
        free(g->loops);
        free(g);
    }
}
