/* SPDX-License-Identifier: MIT */
#include "slice.h"

#include "simt/simt.h"

/* A load of one address, or of lanes side by side, in memory that other lanes see the same way. */
static bool plain_load(const struct jit_state *s, const struct simt_insn *in)
{
    struct jit_abs base = s->reg[in->rs1];
    struct jit_abs addr = jit_abs_alu(SIMT_OP_ADD, base, jit_abs_const((uint32_t)in->imm));
    enum jit_window window = jit_window_of(addr);
    bool word = in->op == SIMT_OP_LW || in->op == SIMT_OP_FLW;

    return (window == JIT_VRAM || window == JIT_SHARED) &&
           (base.kind <= JIT_UNIFORM || (base.kind == JIT_AFFINE && base.value == 4 && word));
}

static bool pure(const struct jit_state *s, const struct simt_insn *in)
{
    if (jit_is_soft(in)) {
        return false;
    }
    switch (simt_op_format(in->op)) {
    case SIMT_FMT_LOAD:
    case SIMT_FMT_FLOAD:
        return plain_load(s, in);
    case SIMT_FMT_STORE:
    case SIMT_FMT_FSTORE:
    case SIMT_FMT_FENCE:
    case SIMT_FMT_CSR:
    case SIMT_FMT_CSRI:
    case SIMT_FMT_AMO:
    case SIMT_FMT_LR:
        return false;
    default:
        return true;
    }
}

/* Going from state s to node t needs no test of float bits at run time. */
static bool smooth(const struct jit_graph *g, const struct jit_state *full, const struct jit_state *s,
                   uint32_t t)
{
    for (unsigned r = 1; r < JIT_REGS; r++) {
        if ((g->nodes[t].live_in >> r & 1) && s->reg[r].bits == JIT_BITS_EXACT &&
            full[t].reg[r].bits != JIT_BITS_EXACT) {
            return false;
        }
    }
    return true;
}

static bool node_fits(const struct jit_graph *g, const struct jit_variant *v, const struct jit_state *full,
                      uint32_t i)
{
    const struct jit_node *node = &g->nodes[i];
    struct jit_state s = full[i];

    for (uint32_t k = 0; k < node->count; k++) {
        const struct simt_insn *in = &g->prog->insns[node->first + k];
        if (!pure(&s, in)) {
            return false;
        }
        jit_abs_step(v, &s, in, node->pc + 4 * k, false);
    }
    if (node->end == JIT_END_BRANCH) {
        return node->succ[0] != JIT_NO_NODE && node->succ[1] != JIT_NO_NODE &&
               jit_branch_is_uniform(g, i, &s) && smooth(g, full, &s, node->succ[0]) &&
               smooth(g, full, &s, node->succ[1]);
    }
    return node->end == JIT_END_FALL && node->succ[0] != JIT_NO_NODE && smooth(g, full, &s, node->succ[0]);
}

/* Registers that may hold something loaded in the loop. */
static uint64_t loaded_registers(const struct jit_graph *g, const struct jit_loop *loop)
{
    uint64_t loaded = 0, before;

    do {
        before = loaded;
        for (uint32_t i = loop->header; i <= loop->last; i++) {
            for (uint32_t k = 0; k < g->nodes[i].count; k++) {
                const struct simt_insn *in = &g->prog->insns[g->nodes[i].first + k];
                enum simt_format format = simt_op_format(in->op);
                bool load = format == SIMT_FMT_LOAD || format == SIMT_FMT_FLOAD;
                loaded |= load || (jit_uses(in) & loaded) ? jit_defs(in) : 0;
            }
        }
    } while (loaded != before);
    return loaded;
}

static bool control_is_loaded(const struct jit_graph *g, const struct jit_loop *loop)
{
    uint64_t loaded = loaded_registers(g, loop);

    for (uint32_t i = loop->header; i <= loop->last; i++) {
        const struct jit_node *node = &g->nodes[i];
        if (node->end == JIT_END_BRANCH &&
            (jit_uses(&g->prog->insns[node->first + node->count - 1]) & loaded)) {
            return true;
        }
    }
    return false;
}

static unsigned varying_registers(const struct jit_graph *g, const struct jit_state *full, uint32_t header)
{
    unsigned n = 0;
    for (unsigned r = 0; r < JIT_REGS; r++) {
        n += (g->nodes[header].live_in >> r & 1) && full[header].reg[r].kind == JIT_VARYING;
    }
    return n;
}

unsigned jit_slice_lanes(const struct jit_graph *g, const struct jit_variant *v, const struct jit_state *full,
                         uint32_t l, unsigned lanes, unsigned registers)
{
    const struct jit_loop *loop = &g->loops[l];
    unsigned need = varying_registers(g, full, loop->header);

    if (!loop->innermost || v->exact || need * (SIMT_LANES / lanes) <= registers) {
        return 0;
    }
    for (uint32_t i = loop->header; i <= loop->last; i++) {
        bool seen = full[i].reg[0].kind != JIT_UNSEEN;
        if (!seen || !node_fits(g, v, full, i)) {
            return 0;
        }
    }
    if (control_is_loaded(g, loop)) {
        return 0;
    }
    unsigned fit = SIMT_LANES;
    while (fit > lanes && need * (fit / lanes) > registers) {
        fit /= 2;
    }
    return fit;
}
