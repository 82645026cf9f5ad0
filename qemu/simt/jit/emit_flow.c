/* SPDX-License-Identifier: MIT */
/* Nodes, the transfers between them, entry and return of the compiled function. */
#include "emit.h"
#include "../src/soft.h"
#include "slice.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ALL_REGS (~1ull)

/* All registers live through all masked bodies. LLVM takes more than proportionally long for many of those
 * when registers are its values; beyond so many bodies they stay in the rows, which costs a load and a store
 * for each register that a body works on. */
#define MANY_MASKED 16u

#define REG_A0 10u

/* A slice that has issued so many instructions gives way to code that looks at its fuel. */
#define SLICE_INSNS 0x100000u
#define SLICE_SPARE 3u /* registers for operands on their way */

static const struct jit_node *node_of(const struct jit_emit *e)
{
    return &e->g->nodes[e->node];
}

static const struct simt_insn *last_insn(const struct jit_emit *e)
{
    const struct jit_node *node = node_of(e);
    return &e->g->prog->insns[node->first + node->count - 1];
}

static bool full_exists(const struct jit_emit *e, uint32_t i)
{
    return e->full[i].reg[0].kind != JIT_UNSEEN;
}

static bool masked_exists(const struct jit_emit *e, uint32_t i)
{
    return e->masked->entry[i].reg[0].kind != JIT_UNSEEN;
}

static void position(struct jit_emit *e, LLVMBasicBlockRef bb)
{
    LLVMPositionBuilderAtEnd(e->b, bb);
}

static void begin_node(struct jit_emit *e, uint32_t i, bool is_masked)
{
    e->node = i;
    e->is_masked = e->to_masked = is_masked;
    e->state = is_masked ? &e->masked->entry[i] : &e->full[i];
    e->here = *e->state;
    e->mask = jit_i32(e, UINT32_MAX);
    e->regs.have = e->regs.written = 0;
    e->checkpoint.regs.have = e->checkpoint.regs.written = 0;
    e->checkpoint.insn = 0;
    e->checkpoint.bytes = 0;
    e->checkpoint.exit = NULL;
    e->effects = false;
    e->bytes = 0;
}

/* Instructions of the node up to its end; the terminator's link register write included. */
static void emit_body(struct jit_emit *e)
{
    const struct jit_node *node = node_of(e);
    bool terminated = node->end != JIT_END_FALL || simt_is_terminator(last_insn(e)->op);

    jit_group_accesses(e);
    for (uint32_t i = 0; i < node->count; i++) {
        const struct simt_insn *in = &e->g->prog->insns[node->first + i];
        if (i > 0) {
            jit_abs_step(e->variant, &e->here, in - 1, node->pc + 4 * (i - 1), e->is_masked);
        }
        enum simt_format format = simt_op_format(in->op);
        bool last = terminated && i + 1 == node->count;
        if (last && format != SIMT_FMT_J && node->end != JIT_END_CALL) {
            break;
        }
        if (jit_is_memory(in)) {
            jit_emit_memory(e, in, i);
        } else if (format == SIMT_FMT_AMO || format == SIMT_FMT_LR || jit_is_soft(in)) {
            jit_emit_help(e, in, i);
        } else {
            if (in->op == SIMT_OP_DIVU || in->op == SIMT_OP_REMU) {
                jit_before(e, i); /* what is expected of quotients may fail */
            }
            jit_emit_alu(e, in, node->pc + 4 * i);
        }
    }
    if (terminated) {
        jit_before(e, node->count - 1);
    }
}

static void count_node(struct jit_emit *e)
{
    if (e->slice_exit) {
        jit_add_counter(e, e->slice_insns_var, jit_i64(e, node_of(e)->count));
    }
    if (e->slice_next) {
        return; /* counted with the last slice */
    }
    jit_count_insns(e, node_of(e)->count);
    jit_count_bytes(e, e->bytes);
}

/* Keeps loads of guest memory inside their iteration: another unit may be writing what a loop waits for. */
static void compiler_barrier(struct jit_emit *e)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), NULL, 0, false);
    LLVMValueRef nothing =
        LLVMGetInlineAsm(type, "", 0, "~{memory}", 10, true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(e->b, type, nothing, NULL, 0, "");
}

static LLVMValueRef fuel_left(struct jit_emit *e)
{
    LLVMValueRef done = LLVMBuildLoad2(e->b, e->i64, e->insns_var, "");
    LLVMValueRef limit = LLVMBuildLoad2(e->b, e->i64, e->limit_var, "");
    return LLVMBuildICmp(e->b, LLVMIntULT, done, limit, "");
}

static struct jit_value present(struct jit_emit *e, unsigned r)
{
    return e->regs.have >> r & 1 ? e->regs.cur[r] : jit_stored(e, r);
}

/* Variables become what `to` says, for the registers of live. False when that can never be. */
static bool convert_all(struct jit_emit *e, const struct jit_state *to, uint64_t live, LLVMValueRef *ok)
{
    for (unsigned r = 1; r < JIT_REGS; r++) {
        if ((live >> r & 1) && !jit_convert(e, r, present(e, r), to->reg[r], ok)) {
            return false;
        }
    }
    return true;
}

/* Leave to the interpreter at pc with all instructions of the node done. */
static void leave_behind(struct jit_emit *e, uint32_t pc, int32_t depth, uint64_t live,
                         enum jit_status status)
{
    jit_leave_rows(e, &e->regs, live, JIT_NO_NODE);
    LLVMBuildStore(e->b, jit_i32(e, pc), jit_frame_field(e, offsetof(struct jit_frame, pc)));
    LLVMBuildStore(e->b, e->mask, jit_frame_field(e, offsetof(struct jit_frame, left)));
    LLVMBuildStore(e->b, jit_i32(e, (uint32_t)depth), jit_frame_field(e, offsetof(struct jit_frame, depth)));
    jit_return(e, status);
}

/* ---- full bodies ---- */

/* Variables as node t wants them go to the rows; the warp is to go on there. */
static void leave_lean(struct jit_emit *e, uint32_t t, enum jit_status status)
{
    const struct jit_node *node = &e->g->nodes[t];
    const struct jit_state *here = e->state;
    struct jit_regs none = {.have = 0};

    e->state = &e->full[t];
    jit_leave_rows(e, &none, node->live_in, t);
    e->state = here;
    LLVMBuildStore(e->b, jit_i32(e, node->pc), jit_frame_field(e, offsetof(struct jit_frame, pc)));
    LLVMBuildStore(e->b, jit_i32(e, UINT32_MAX), jit_frame_field(e, offsetof(struct jit_frame, left)));
    LLVMBuildStore(e->b, jit_i32(e, (uint32_t)node->depth),
                   jit_frame_field(e, offsetof(struct jit_frame, depth)));
    jit_return(e, status);
}

/* A warp whose fuel is used up stops at the header of a loop. */
static LLVMBasicBlockRef fuel_exit(struct jit_emit *e, uint32_t header)
{
    if (!e->fuel_bb[header]) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
        e->fuel_bb[header] = jit_bb(e, "fuel");
        position(e, e->fuel_bb[header]);
        leave_lean(e, header, JIT_FUEL);
        position(e, here);
    }
    return e->fuel_bb[header];
}

/* An edge inside a slice, or out of it: then the next slice runs, or the loop is over. */
static void slice_edge(struct jit_emit *e, uint32_t t)
{
    const struct jit_loop *loop = &e->g->loops[e->slice_loop];

    if (t == loop->header) {
        LLVMValueRef issued = LLVMBuildLoad2(e->b, e->i64, e->slice_insns_var, "");
        LLVMValueRef few = LLVMBuildICmp(e->b, LLVMIntULT, issued, jit_i64(e, SLICE_INSNS), "");
        jit_branch_likely(e, few, jit_bb(e, "again"), e->slice_exit);
    }
    if (t >= loop->header && t <= loop->last) {
        LLVMBuildBr(e->b, e->slice_bb[t]);
    } else {
        LLVMBuildBr(e->b, e->slice_next ? e->slice_next : e->full_bb[t]);
    }
}

/* Where a full body goes on at node t; pc is its address. */
static LLVMBasicBlockRef full_edge(struct jit_emit *e, uint32_t t, uint32_t pc, int32_t depth)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b), edge = jit_bb(e, "edge");
    LLVMValueRef ok = NULL;

    position(e, edge);
    if (t == JIT_NO_NODE) {
        leave_behind(e, pc, depth, ALL_REGS, JIT_LEFT);
    } else {
        convert_all(e, &e->full[t], e->g->nodes[t].live_in, &ok);
        if (ok) { /* float bits a loop cannot take: rare, the interpreter goes on */
            LLVMBasicBlockRef out = jit_bb(e, "unfit"), fit = jit_bb(e, "fit");
            position(e, out);
            leave_behind(e, pc, depth, e->g->nodes[t].live_in, JIT_LEFT);
            position(e, edge);
            jit_branch_likely(e, ok, fit, out);
        }
        if (e->slice_exit) {
            slice_edge(e, t);
            position(e, here);
            return edge;
        }
        if (jit_is_back_edge(e->node, t)) {
            compiler_barrier(e);
            jit_branch_likely(e, fuel_left(e), jit_bb(e, "again"), fuel_exit(e, t));
        }
        bool again = jit_is_back_edge(e->node, t);
        LLVMBuildBr(e->b, again ? e->body_bb[t] : e->full_bb[t]);
    }
    position(e, here);
    return edge;
}

static void full_goto(struct jit_emit *e, uint32_t t, uint32_t pc, int32_t depth)
{
    LLVMBuildBr(e->b, full_edge(e, t, pc, depth));
}

/* The warp splits: bits goes to succ[0], the rest to succ[1]; masked bodies take over at the first of them.
 */
static void full_split(struct jit_emit *e, LLVMValueRef bits)
{
    const struct jit_node *node = node_of(e);
    uint32_t a = node->succ[0], b = node->succ[1];

    if (a == JIT_NO_NODE || b == JIT_NO_NODE || !masked_exists(e, a < b ? a : b)) {
        LLVMBuildBr(e->b, jit_leave(e));
        return;
    }
    uint32_t first = a < b ? a : b;
    uint64_t live = e->g->nodes[a].live_in | e->g->nodes[b].live_in;
    count_node(e);
    jit_add_counter(e, e->divergences_var, jit_i64(e, 1));
    LLVMBuildStore(e->b, bits, e->pend_var[a]);
    LLVMBuildStore(e->b, LLVMBuildNot(e->b, bits, ""), e->pend_var[b]);
    e->to_masked = true;
    for (unsigned r = 1; r < JIT_REGS; r++) {
        struct jit_value v = live >> r & 1 ? present(e, r) : jit_const(e, 0);
        if (e->masked->live_entry[first] >> r & 1) {
            struct jit_abs to = e->masked->entry[first].reg[r];
            if (!(live >> r & 1) && to.kind != JIT_VARYING) {
                continue;
            }
            jit_convert(e, r, v, to, NULL);
        }
    }
    e->to_masked = false;
    LLVMBuildBr(e->b, e->test_bb[first]);
}

static LLVMValueRef branch_bits(struct jit_emit *e)
{
    const struct simt_insn *in = last_insn(e);
    LLVMValueRef cond[JIT_MAX_CHUNKS] = {NULL};

    for (unsigned c = 0; c < e->chunks; c++) {
        cond[c] = jit_emit_compare(e, in->op, jit_chunk(e, in->rs1, c), jit_chunk(e, in->rs2, c));
    }
    return jit_ballot(e, cond);
}

/* The condition of first and last lane where it is the same for all lanes between them, as a comparison of an
 * affine value with a uniform one is unless the value wraps around. Returns whether it is; NULL: no such
 * branch. */
static LLVMValueRef ends_agree(struct jit_emit *e, LLVMValueRef *cond)
{
    const struct simt_insn *in = last_insn(e);
    unsigned reg[2] = {in->rs1, in->rs2};
    struct jit_abs a = jit_get(e, reg[0])->a, b = jit_get(e, reg[1])->a,
                   affine = a.kind == JIT_AFFINE ? a : b;
    bool one =
        (a.kind == JIT_AFFINE && b.kind <= JIT_UNIFORM) || (a.kind <= JIT_UNIFORM && b.kind == JIT_AFFINE);
    bool is_signed = in->op == SIMT_OP_BLT || in->op == SIMT_OP_BGE;
    LLVMValueRef first[2], last[2], ascends = NULL;

    if (!one || in->op == SIMT_OP_BEQ || in->op == SIMT_OP_BNE || affine.value <= 0 ||
        affine.value > INT32_MAX / (int32_t)SIMT_LANES) {
        return NULL;
    }
    for (unsigned k = 0; k < 2; k++) {
        bool moves = jit_get(e, reg[k])->a.kind == JIT_AFFINE;
        first[k] = last[k] = jit_scalar_of(e, reg[k]);
        if (moves) {
            LLVMValueRef reach = jit_i32(e, (uint32_t)affine.value * (SIMT_LANES - 1));
            last[k] = LLVMBuildAdd(e->b, first[k], reach, "");
            ascends = LLVMBuildICmp(e->b, is_signed ? LLVMIntSGE : LLVMIntUGE, last[k], first[k], "");
        }
    }
    *cond = jit_emit_compare(e, in->op, first[0], first[1]);
    LLVMValueRef other = jit_emit_compare(e, in->op, last[0], last[1]);
    return LLVMBuildAnd(e->b, ascends, LLVMBuildICmp(e->b, LLVMIntEQ, *cond, other, ""), "");
}

static bool branch_is_uniform(struct jit_emit *e)
{
    const struct simt_insn *in = last_insn(e);
    return jit_compares_scalars(in->op, jit_get(e, in->rs1)->a, jit_get(e, in->rs2)->a);
}

static void full_branch(struct jit_emit *e)
{
    const struct simt_insn *in = last_insn(e);
    const struct jit_node *node = node_of(e);
    uint32_t pc = node->pc + 4 * (node->count - 1);

    if (branch_is_uniform(e)) {
        LLVMValueRef cond = jit_emit_compare(e, in->op, jit_scalar_of(e, in->rs1), jit_scalar_of(e, in->rs2));
        count_node(e);
        LLVMBasicBlockRef taken = full_edge(e, node->succ[0], pc + (uint32_t)in->imm, node->depth);
        LLVMBasicBlockRef fall = full_edge(e, node->succ[1], pc + 4, node->depth);
        LLVMBuildCondBr(e->b, cond, taken, fall);
        return;
    }
    LLVMBasicBlockRef all = jit_bb(e, "all"), some = jit_bb(e, "some"), none = jit_bb(e, "none"),
                      mixed = jit_bb(e, "mixed");
    LLVMValueRef cond, same = ends_agree(e, &cond);
    if (same) {
        LLVMBasicBlockRef agree = jit_bb(e, "agree"), each = jit_bb(e, "each");
        jit_branch_likely(e, same, agree, each);
        LLVMBuildCondBr(e->b, cond, all, none);
        position(e, each);
    }
    struct jit_regs before = e->regs;
    LLVMValueRef bits = branch_bits(e);
    e->regs = before; /* lanes that only this block has in hand are of no use to the others */
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, bits, jit_i32(e, UINT32_MAX), ""), all, some);
    position(e, some);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, bits, jit_i32(e, 0), ""), none, mixed);
    position(e, all);
    count_node(e);
    full_goto(e, node->succ[0], pc + (uint32_t)in->imm, node->depth);
    position(e, none);
    count_node(e);
    full_goto(e, node->succ[1], pc + 4, node->depth);
    position(e, mixed);
    full_split(e, bits);
}

/* The link register holds the address that the inlined call wrote, in every lane. */
static void require_return(struct jit_emit *e)
{
    const struct jit_node *node = node_of(e);
    LLVMValueRef cond[JIT_MAX_CHUNKS] = {NULL};

    if (node->returns_home) {
        return;
    }
    for (unsigned c = 0; c < e->chunks; c++) {
        LLVMValueRef home = jit_splat_const(e, node->return_pc);
        cond[c] = LLVMBuildICmp(e->b, LLVMIntEQ, jit_chunk(e, 1, c), home, "");
        if (e->is_masked) {
            cond[c] = LLVMBuildOr(e->b, cond[c], LLVMBuildNot(e->b, jit_mask_chunk(e, e->mask, c), ""), "");
        }
    }
    jit_require(e, LLVMBuildICmp(e->b, LLVMIntEQ, jit_ballot(e, cond), jit_i32(e, UINT32_MAX), ""));
}

/* All lanes are at the barrier; they go on at node t, at once if nobody else is to come. */
static void full_barrier(struct jit_emit *e, uint32_t t, uint32_t pc)
{
    LLVMValueRef ok = NULL;

    if (t == JIT_NO_NODE) {
        leave_behind(e, pc, node_of(e)->depth, ALL_REGS, JIT_BARRIER);
        return;
    }
    convert_all(e, &e->full[t], e->g->nodes[t].live_in, &ok);
    if (ok) {
        LLVMBasicBlockRef unfit = jit_bb(e, "unfit"), fit = jit_bb(e, "fit");
        jit_branch_likely(e, ok, fit, unfit);
        position(e, unfit);
        leave_behind(e, pc, node_of(e)->depth, e->g->nodes[t].live_in, JIT_BARRIER);
        position(e, fit);
    }
    if (!jit_is_back_edge(e->node, t)) {
        LLVMBasicBlockRef on = jit_bb(e, "alone"), wait = jit_bb(e, "wait");
        jit_branch_likely(e, e->alone, on, wait);
        jit_add_counter(e, e->barriers_var, jit_i64(e, 1));
        LLVMBuildBr(e->b, e->full_bb[t]);
        position(e, wait);
    }
    leave_lean(e, t, JIT_BARRIER);
}

static void full_end(struct jit_emit *e)
{
    const struct jit_node *node = node_of(e);
    uint32_t next = node->pc + 4 * node->count;

    switch (node->end) {
    case JIT_END_BRANCH:
        full_branch(e);
        break;
    case JIT_END_FALL:
    case JIT_END_CALL:
        if (simt_is_terminator(last_insn(e)->op)) {
            next += (uint32_t)last_insn(e)->imm - 4;
        }
        count_node(e);
        full_goto(e, node->succ[0], next, node->depth + (node->end == JIT_END_CALL));
        break;
    case JIT_END_RETURN:
        require_return(e);
        count_node(e);
        if (node->return_pc == SIMT_EXIT_PC) {
            jit_return(e, JIT_DONE);
        } else {
            full_goto(e, node->succ[0], node->return_pc, node->depth - 1);
        }
        break;
    case JIT_END_EXIT:
        count_node(e);
        jit_return(e, JIT_DONE);
        break;
    case JIT_END_BARRIER:
        e->bytes += 4;
        count_node(e);
        full_barrier(e, node->succ[0], next);
        break;
    case JIT_END_LEAVE:
        LLVMBuildBr(e->b, jit_leave(e));
        break;
    }
}

static void emit_full(struct jit_emit *e, uint32_t i)
{
    begin_node(e, i, false);
    position(e, e->body_bb[i]);
    emit_body(e);
    full_end(e);
}

/* ---- loops in slices ---- */

/* The registers of a loop's header as they are when it is entered. */
static void load_entry(struct jit_emit *e, uint32_t header, struct jit_value saved[JIT_REGS])
{
    for (unsigned r = 1; r < JIT_REGS; r++) {
        if (e->g->nodes[header].live_in >> r & 1) {
            saved[r] = jit_get_copy(e, r);
            saved[r].stored = false;
        }
    }
}

/* Variables become the saved values: all of them, or only the scalars, which slices share. */
static void restore_entry(struct jit_emit *e, uint32_t header, const struct jit_value saved[JIT_REGS],
                          bool vectors)
{
    for (unsigned r = 1; r < JIT_REGS; r++) {
        bool live = e->g->nodes[header].live_in >> r & 1;
        if (live && (vectors || saved[r].a.kind != JIT_VARYING)) {
            jit_convert(e, r, saved[r], saved[r].a, NULL);
        }
    }
}

static void emit_slice(struct jit_emit *e, const struct jit_loop *loop, LLVMBasicBlockRef bb[])
{
    e->slice_bb = bb;
    for (uint32_t i = loop->header; i <= loop->last; i++) {
        bb[i] = jit_bb(e, "slice");
    }
    LLVMBuildStore(e->b, jit_i64(e, 0), e->slice_insns_var);
    LLVMBuildBr(e->b, bb[loop->header]);
    for (uint32_t i = loop->header; i <= loop->last; i++) {
        begin_node(e, i, false);
        position(e, bb[i]);
        emit_body(e);
        full_end(e);
    }
}

/* The loop for some lanes after the others; when that cannot be done to its end, all at once from its
 * beginning. */
static void emit_slices(struct jit_emit *e, uint32_t l, unsigned chunks)
{
    const struct jit_loop *loop = &e->g->loops[l];
    struct jit_value saved[JIT_REGS];
    LLVMBasicBlockRef bb[JIT_MAX_NODES], whole = jit_bb(e, "whole");

    begin_node(e, loop->header, false);
    position(e, e->full_bb[loop->header]);
    load_entry(e, loop->header, saved);
    e->slice_loop = l;
    e->slice_exit = whole;
    for (e->chunk0 = 0; e->chunk0 < e->chunks; e->chunk0 += chunks) {
        e->chunk1 = e->chunk0 + chunks;
        e->slice_next = e->chunk1 < e->chunks ? jit_bb(e, "next_slice") : NULL;
        emit_slice(e, loop, bb);
        if (e->slice_next) {
            position(e, e->slice_next);
            restore_entry(e, loop->header, saved, false);
        }
    }
    e->chunk0 = 0;
    e->chunk1 = e->chunks;
    e->slice_exit = e->slice_next = NULL;
    position(e, whole);
    restore_entry(e, loop->header, saved, true);
    LLVMBuildBr(e->b, e->body_bb[loop->header]);
}

/* Headers of loops to be run in slices are entered there, others at their body. */
static void plan_slices(struct jit_emit *e)
{
    for (uint32_t i = 0; i < e->g->n; i++) {
        e->body_bb[i] = e->full_bb[i];
    }
    for (uint32_t l = 0; l < e->g->loop_count; l++) {
        unsigned lanes =
            jit_slice_lanes(e->g, e->variant, e->full, l, e->lanes, e->host->registers - SLICE_SPARE);
        e->slice_chunks[l] = lanes / e->lanes;
        if (lanes) {
            e->body_bb[e->g->loops[l].header] = jit_bb(e, "full");
        }
    }
}

/* ---- masked bodies ---- */

static void pend_more(struct jit_emit *e, uint32_t t, LLVMValueRef lanes)
{
    LLVMValueRef old = LLVMBuildLoad2(e->b, e->i32, e->pend_var[t], "");
    LLVMBuildStore(e->b, LLVMBuildOr(e->b, old, lanes, ""), e->pend_var[t]);
}

/* Registers written by the masked body reach the variables, for its lanes. */
static void write_back(struct jit_emit *e)
{
    const struct jit_state *after = &e->masked->after[e->node];
    uint64_t live = e->masked->live_after[e->node];

    for (unsigned r = 1; r < JIT_REGS; r++) {
        if (!(live >> r & 1)) {
            continue;
        }
        if (!(e->regs.written >> r & 1)) {
            jit_convert(e, r, present(e, r), after->reg[r], NULL);
            continue;
        }
        struct jit_value old = jit_stored(e, r), v = e->regs.cur[r];
        for (unsigned c = 0; c < e->chunks; c++) {
            LLVMValueRef lanes = jit_value_chunk(e, r, &v, c), before = jit_value_chunk(e, r, &old, c);
            bool exact = after->reg[r].bits != JIT_BITS_RAW;
            lanes = exact && v.a.bits == JIT_BITS_RAW ? jit_canonical(e, lanes) : lanes;
            before = exact && old.a.bits == JIT_BITS_RAW ? jit_canonical(e, before) : before;
            lanes = LLVMBuildSelect(e->b, jit_mask_chunk(e, e->mask, c), lanes, before, "");
            LLVMBuildStore(e->b, lanes, e->vector_var[true][r][c]);
        }
    }
}

static void masked_next(struct jit_emit *e)
{
    count_node(e);
    write_back(e);
    LLVMBuildBr(e->b, e->after_bb[e->node]);
}

/* Leave at the terminator unless lanes is empty. */
static void require_none(struct jit_emit *e, LLVMValueRef lanes)
{
    jit_require(e, LLVMBuildICmp(e->b, LLVMIntEQ, lanes, jit_i32(e, 0), ""));
}

static void masked_branch(struct jit_emit *e)
{
    const struct simt_insn *in = last_insn(e);
    const struct jit_node *node = node_of(e);
    LLVMValueRef taken, lanes[2];

    if (branch_is_uniform(e)) {
        LLVMValueRef cond = jit_emit_compare(e, in->op, jit_scalar_of(e, in->rs1), jit_scalar_of(e, in->rs2));
        taken = LLVMBuildSelect(e->b, cond, e->mask, jit_i32(e, 0), "");
    } else {
        taken = LLVMBuildAnd(e->b, branch_bits(e), e->mask, "");
        LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntNE, taken, jit_i32(e, 0), "");
        LLVMValueRef not_all = LLVMBuildICmp(e->b, LLVMIntNE, taken, e->mask, "");
        jit_add_counter(e, e->divergences_var,
                        LLVMBuildZExt(e->b, LLVMBuildAnd(e->b, some, not_all, ""), e->i64, ""));
    }
    lanes[0] = taken;
    lanes[1] = LLVMBuildXor(e->b, e->mask, taken, "");
    for (unsigned k = 0; k < 2; k++) {
        if (node->succ[k] == JIT_NO_NODE) {
            require_none(e, lanes[k]);
        }
    }
    for (unsigned k = 0; k < 2; k++) {
        if (node->succ[k] != JIT_NO_NODE) {
            pend_more(e, node->succ[k], lanes[k]);
        }
    }
    masked_next(e);
}

/* No lane but the running body's waits anywhere. */
static LLVMValueRef nobody_else(struct jit_emit *e)
{
    LLVMValueRef all = jit_i32(e, 0);
    for (uint32_t i = 0; i < e->g->n; i++) {
        if (masked_exists(e, i)) {
            all = LLVMBuildOr(e->b, all, LLVMBuildLoad2(e->b, e->i32, e->pend_var[i], ""), "");
        }
    }
    return all;
}

static void masked_end(struct jit_emit *e)
{
    const struct jit_node *node = node_of(e);

    switch (node->end) {
    case JIT_END_BRANCH:
        masked_branch(e);
        break;
    case JIT_END_FALL:
    case JIT_END_CALL:
        if (node->succ[0] == JIT_NO_NODE) {
            LLVMBuildBr(e->b, jit_leave(e));
            break;
        }
        pend_more(e, node->succ[0], e->mask);
        masked_next(e);
        break;
    case JIT_END_RETURN:
        require_return(e);
        if (node->return_pc != SIMT_EXIT_PC && node->succ[0] == JIT_NO_NODE) {
            LLVMBuildBr(e->b, jit_leave(e));
            break;
        }
        if (node->return_pc != SIMT_EXIT_PC) {
            pend_more(e, node->succ[0], e->mask);
        }
        masked_next(e);
        break;
    case JIT_END_EXIT:
        masked_next(e);
        break;
    case JIT_END_BARRIER:
        jit_require(e,
                    LLVMBuildICmp(e->b, LLVMIntEQ, e->mask, e->mask_in, "")); /* lanes that ended: not here */
        require_none(e, nobody_else(e));
        e->bytes += 4;
        count_node(e);
        leave_behind(e, node->pc + 4 * node->count, node->depth,
                     node->succ[0] == JIT_NO_NODE
                         ? ALL_REGS
                         : e->masked->live_after[e->node] | e->g->nodes[node->succ[0]].live_in,
                     JIT_BARRIER);
        break;
    case JIT_END_LEAVE:
        LLVMBuildBr(e->b, jit_leave(e));
        break;
    }
}

/* Over to the full body if the mask is full and its expectations hold; go on in the masked one otherwise. */
static void try_full(struct jit_emit *e, uint32_t i)
{
    LLVMBasicBlockRef full = jit_bb(e, "refull"), body = jit_bb(e, "stay");
    LLVMValueRef ok = NULL;

    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, e->mask, jit_i32(e, UINT32_MAX), ""), full, body);
    position(e, full);
    e->to_masked = false;
    bool fits = convert_all(e, &e->full[i], e->g->nodes[i].live_in, &ok);
    for (unsigned k = 0; fits && k < JIT_SLOTS; k++) {
        jit_slot_guard(e, k, e->state->slot[k], e->full[i].slot[k], &ok);
    }
    e->to_masked = true;
    if (!fits) {
        LLVMBuildBr(e->b, body);
    } else if (ok) {
        LLVMBuildCondBr(e->b, ok, e->full_bb[i], body);
    } else {
        LLVMBuildBr(e->b, e->full_bb[i]);
    }
    position(e, body);
}

static void emit_masked(struct jit_emit *e, uint32_t i)
{
    begin_node(e, i, true);
    position(e, e->test_bb[i]);
    LLVMValueRef waiting = LLVMBuildLoad2(e->b, e->i32, e->pend_var[i], "");
    LLVMBasicBlockRef skip = jit_bb(e, "skip");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, waiting, jit_i32(e, 0), ""), e->masked_bb[i], skip);
    position(e, skip);
    convert_all(e, &e->masked->after[i], e->masked->live_after[i], NULL);
    LLVMBuildBr(e->b, e->after_bb[i]);

    position(e, e->masked_bb[i]);
    e->mask = LLVMBuildLoad2(e->b, e->i32, e->pend_var[i], "");
    LLVMBuildStore(e->b, jit_i32(e, 0), e->pend_var[i]);
    if (e->g->nodes[i].joins && full_exists(e, i)) {
        try_full(e, i);
    }
    emit_body(e);
    masked_end(e);
}

/* With the fuel used up, ask whether to go on (jit_poll); to stop otherwise. */
static void poll(struct jit_emit *e, LLVMBasicBlockRef stop)
{
    LLVMBasicBlockRef ask = jit_bb(e, "poll"), again = jit_bb(e, "again");
    LLVMTypeRef params[] = {e->ptr, e->i64}, type = LLVMFunctionType(e->i64, params, 2, false);

    jit_branch_likely(e, fuel_left(e), again, ask);
    position(e, ask);
    LLVMValueRef begun = LLVMBuildLoad2(e->b, e->i64, e->begun_var, "");
    LLVMValueRef insns = LLVMBuildLoad2(e->b, e->i64, e->insns_var, "");
    LLVMValueRef args[] = {e->frame, LLVMBuildSub(e->b, insns, begun, "")};
    LLVMValueRef fn = LLVMBuildLoad2(e->b, e->ptr, jit_frame_field(e, offsetof(struct jit_frame, poll)), "");
    LLVMValueRef limit = LLVMBuildCall2(e->b, type, fn, args, 2, "");
    LLVMBuildStore(e->b, LLVMBuildAdd(e->b, limit, begun, ""), e->limit_var);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, limit, jit_i64(e, 0), ""), again, stop);
    position(e, again);
}

/* Behind masked body i: back to the header of a loop that ends here while lanes wait there, else on. */
static void emit_after(struct jit_emit *e, uint32_t i)
{
    begin_node(e, i, true);
    e->state = &e->masked->after[i];
    e->mask = jit_i32(e, 0);
    position(e, e->after_bb[i]);
    for (uint32_t l = e->g->nodes[i].loop; l != JIT_NO_NODE && e->g->loops[l].last == i;
         l = e->g->loops[l].parent) {
        uint32_t h = e->g->loops[l].header;
        if (!masked_exists(e, h)) {
            continue;
        }
        LLVMBasicBlockRef back = jit_bb(e, "back"), on = jit_bb(e, "on"), fuel = jit_bb(e, "fuel");
        LLVMValueRef waiting = LLVMBuildLoad2(e->b, e->i32, e->pend_var[h], "");
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, waiting, jit_i32(e, 0), ""), back, on);
        position(e, fuel);
        leave_behind(e, 0, 0, e->masked->live_after[i], JIT_FUEL);
        position(e, back);
        compiler_barrier(e);
        poll(e, fuel);
        convert_all(e, &e->masked->entry[h], e->masked->live_entry[h], NULL);
        LLVMBuildBr(e->b, e->masked_bb[h]);
        position(e, on);
    }
    if (i + 1 < e->g->n && masked_exists(e, i + 1)) {
        convert_all(e, &e->masked->entry[i + 1], e->masked->live_entry[i + 1], NULL);
        LLVMBuildBr(e->b, e->test_bb[i + 1]);
    } else {
        jit_return(e, JIT_DONE);
    }
}

/* ---- entry and return ---- */

static LLVMValueRef variable(struct jit_emit *e, LLVMTypeRef type, const char *name)
{
    LLVMValueRef var = LLVMBuildAlloca(e->b, type, name);
    if (type != e->vec) {
        LLVMBuildStore(e->b, LLVMConstNull(type), var);
    }
    return var;
}

static LLVMValueRef load_field(struct jit_emit *e, LLVMTypeRef type, size_t offset)
{
    return LLVMBuildLoad2(e->b, type, jit_frame_field(e, offset), "");
}

static void emit_prologue(struct jit_emit *e)
{
    e->vram = load_field(e, e->ptr, offsetof(struct jit_frame, vram));
    e->shared = load_field(e, e->ptr, offsetof(struct jit_frame, shared));
    e->vram_size = load_field(e, e->i64, offsetof(struct jit_frame, vram_size));
    e->shared_size = load_field(e, e->i64, offsetof(struct jit_frame, shared_size));
    e->private_size = load_field(e, e->i64, offsetof(struct jit_frame, private_size));
    e->entry = load_field(e, e->i32, offsetof(struct jit_frame, entry));
    e->mask_in = load_field(e, e->i32, offsetof(struct jit_frame, mask));
    e->index_var = variable(e, e->i32, "index");
    LLVMBuildStore(e->b, load_field(e, e->i32, offsetof(struct jit_frame, index)), e->index_var);
    e->blocks_var = variable(e, e->i64, "blocks");
    LLVMBuildStore(e->b, load_field(e, e->i64, offsetof(struct jit_frame, blocks)), e->blocks_var);
    e->begun_var = variable(e, e->i64, "begun");
    e->limit_var = variable(e, e->i64, "limit");
    e->insns_var = variable(e, e->i64, "insns");
    e->masked_insns_var = variable(e, e->i64, "masked_insns");
    e->masked_lanes_var = variable(e, e->i64, "masked_lanes");
    e->divergences_var = variable(e, e->i64, "divergences");
    e->transactions_var = variable(e, e->i64, "transactions");
    e->bytes_var = variable(e, e->i64, "bytes");
    e->barriers_var = variable(e, e->i64, "barriers");
    e->alone = LLVMBuildICmp(e->b, LLVMIntNE, load_field(e, e->i32, offsetof(struct jit_frame, alone)),
                             jit_i32(e, 0), "");
    e->stream = LLVMBuildICmp(e->b, LLVMIntNE, load_field(e, e->i32, offsetof(struct jit_frame, stream)),
                              jit_i32(e, 0), "");
    e->slice_insns_var = variable(e, e->i64, "slice_insns");
    for (unsigned r = 1; r < JIT_REGS; r++) {
        e->scalar_var[r] = variable(e, e->i32, "s");
        for (unsigned c = 0; c < e->chunks; c++) {
            e->vector_var[false][r][c] = variable(e, e->vec, "v");
        }
    }
    for (uint32_t i = 0; i < e->g->n; i++) {
        size_t field = offsetof(struct jit_frame, pend) + i * sizeof(uint32_t);
        e->pend_var[i] = e->masked_in_rows ? jit_frame_field(e, field) : variable(e, e->i32, "pend");
    }
    LLVMBuildBr(e->b, e->warp_bb);
}

/* What differs from warp to warp. */
static void emit_warp(struct jit_emit *e)
{
    position(e, e->warp_bb);
    LLVMValueRef index = LLVMBuildLoad2(e->b, e->i32, e->index_var, "");
    LLVMValueRef at = LLVMBuildZExt(e->b, index, e->i64, "");
    LLVMValueRef warps = load_field(e, e->ptr, offsetof(struct jit_frame, warps));
    LLVMValueRef insns = LLVMBuildLoad2(e->b, e->i64, e->insns_var, "");
    LLVMValueRef limit = load_field(e, e->i64, offsetof(struct jit_frame, limit));

    e->warp = LLVMBuildLoad2(e->b, e->ptr, LLVMBuildGEP2(e->b, e->ptr, warps, &at, 1, ""), "");
    LLVMBuildStore(e->b, e->warp, jit_frame_field(e, offsetof(struct jit_frame, warp)));
    e->priv = LLVMBuildLoad2(e->b, e->ptr, jit_warp_field(e, offsetof(struct simt_warp, priv)), "");
    e->x_rows = jit_warp_field(e, offsetof(struct simt_warp, x));
    e->f_rows = jit_warp_field(e, offsetof(struct simt_warp, f));
    e->scalars = jit_warp_field(e, offsetof(struct simt_warp, scalars));
    LLVMBuildStore(e->b, insns, e->begun_var);
    LLVMBuildStore(e->b, LLVMBuildAdd(e->b, insns, limit, ""), e->limit_var);
    for (unsigned r = 1; r < JIT_REGS; r++) {
        for (unsigned c = 0; c < e->chunks; c++) {
            e->vector_var[true][r][c] =
                e->masked_in_rows ? jit_row_chunk(e, r, c) : e->vector_var[false][r][c];
        }
    }
    for (uint32_t i = 0; i < e->g->n && !e->masked_in_rows; i++) {
        LLVMBuildStore(e->b, jit_i32(e, 0), e->pend_var[i]);
    }
}

static void add_to_field(struct jit_emit *e, size_t offset, uint32_t amount)
{
    LLVMValueRef sum = LLVMBuildAdd(e->b, load_field(e, e->i32, offset), jit_i32(e, amount), "");
    LLVMBuildStore(e->b, sum, jit_frame_field(e, offset));
}

/* A warp has ended: on to the next one of the sweep, or return. */
static void emit_done(struct jit_emit *e)
{
    LLVMBasicBlockRef next = jit_bb(e, "next_warp"), last = jit_bb(e, "last_warp"),
                      block = jit_bb(e, "next_block");
    LLVMValueRef done = jit_i32(e, JIT_DONE);

    position(e, e->done_bb);
    LLVMValueRef index =
        LLVMBuildAdd(e->b, LLVMBuildLoad2(e->b, e->i32, e->index_var, ""), jit_i32(e, 1), "");
    LLVMValueRef insns = LLVMBuildLoad2(e->b, e->i64, e->insns_var, "");
    LLVMValueRef limit = load_field(e, e->i64, offsetof(struct jit_frame, sweep_limit));
    LLVMAddIncoming(e->return_phi, &done, &e->done_bb, 1);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, insns, limit, ""), next, e->return_bb);

    position(e, next);
    LLVMValueRef count = load_field(e, e->i32, offsetof(struct jit_frame, warp_count));
    LLVMBasicBlockRef same = jit_bb(e, "same_block");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, index, count, ""), same, last);
    position(e, same);
    LLVMBuildStore(e->b, index, e->index_var);
    LLVMBuildBr(e->b, e->warp_bb);

    position(e, last);
    LLVMValueRef blocks = LLVMBuildLoad2(e->b, e->i64, e->blocks_var, "");
    LLVMAddIncoming(e->return_phi, &done, &last, 1);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, blocks, jit_i64(e, 0), ""), block, e->return_bb);
    position(e, block);
    LLVMBuildStore(e->b, LLVMBuildSub(e->b, blocks, jit_i64(e, 1), ""), e->blocks_var);
    LLVMBuildStore(e->b, jit_i32(e, 0), e->index_var);
    add_to_field(e, offsetof(struct jit_frame, ctrl) + 0x10, 1);
    add_to_field(e, offsetof(struct jit_frame, hart_base), SIMT_HARTS_A_BLOCK);
    LLVMBuildBr(e->b, e->warp_bb);
}

static void reject(struct jit_emit *e)
{
    jit_return(e, JIT_REJECTED);
}

/* Go to the body if *ok (NULL: certainly), else to other. */
static void enter_if(struct jit_emit *e, LLVMValueRef ok, LLVMBasicBlockRef body, LLVMBasicBlockRef other)
{
    if (ok) {
        LLVMBuildCondBr(e->b, ok, body, other);
    } else {
        LLVMBuildBr(e->b, body);
    }
}

/* Entry k, at node i: into its full body and into its masked one. */
static void emit_entries(struct jit_emit *e, LLVMValueRef choice, uint32_t k, uint32_t i)
{
    if (full_exists(e, i)) {
        LLVMBasicBlockRef full = jit_bb(e, "enter_full");
        LLVMAddCase(choice, jit_i32(e, k | JIT_LEAN), full);
        position(e, full);
        jit_take_rows(e, &e->full[i], e->g->nodes[i].live_in, false);
        LLVMBuildBr(e->b, e->full_bb[i]);
    }
    if (masked_exists(e, i)) {
        LLVMBasicBlockRef masked = jit_bb(e, "enter_masked");
        LLVMAddCase(choice, jit_i32(e, k | JIT_MASKED), masked);
        position(e, masked);
        jit_take_rows(e, &e->masked->entry[i], e->masked->live_entry[i], true);
        LLVMBuildStore(e->b, e->mask_in, e->pend_var[i]);
        LLVMBuildBr(e->b, e->test_bb[i]);
    }
}

/* The kernel's start: registers hold constants and arguments. */
static LLVMBasicBlockRef emit_begin(struct jit_emit *e)
{
    LLVMBasicBlockRef begin = jit_bb(e, "begin"), no = jit_bb(e, "rejected");
    struct jit_state entry;
    LLVMValueRef ok = NULL;
    bool fits = full_exists(e, 0);

    jit_state_entry(&entry, e->variant);
    position(e, begin);
    for (unsigned r = 1; fits && r < JIT_REGS; r++) {
        struct jit_value v = {.a = entry.reg[r]};
        if (!(e->g->nodes[0].live_in >> r & 1)) {
            continue;
        }
        if (v.a.kind == JIT_UNIFORM) {
            v.s = load_field(e, e->i32, offsetof(struct jit_frame, args) + (r - REG_A0) * sizeof(uint32_t));
        }
        fits = jit_convert(e, r, v, e->full[0].reg[r], &ok);
    }
    if (fits) {
        enter_if(e, ok, e->full_bb[0], no);
    } else {
        LLVMBuildBr(e->b, no);
    }
    position(e, no);
    reject(e);
    return begin;
}

static void store_counter(struct jit_emit *e, LLVMValueRef value, size_t offset)
{
    LLVMBuildStore(e->b, value, jit_frame_field(e, offset));
}

static LLVMValueRef counter(struct jit_emit *e, LLVMValueRef var)
{
    return LLVMBuildLoad2(e->b, e->i64, var, "");
}

static void emit_return(struct jit_emit *e)
{
    position(e, e->dump_bb);
    for (uint32_t i = 0; i < e->g->n; i++) {
        if (masked_exists(e, i) && !e->masked_in_rows) {
            LLVMValueRef lanes = LLVMBuildLoad2(e->b, e->i32, e->pend_var[i], "");
            LLVMBuildStore(e->b, lanes, jit_frame_field(e, offsetof(struct jit_frame, pend) + 4 * i));
        }
    }
    LLVMAddIncoming(e->return_phi, &e->dump_phi, &e->dump_bb, 1);
    LLVMBuildBr(e->b, e->return_bb);

    position(e, e->return_bb);
    LLVMValueRef insns = counter(e, e->insns_var);
    LLVMValueRef full = LLVMBuildSub(e->b, insns, counter(e, e->masked_insns_var), "");
    LLVMValueRef lanes = LLVMBuildMul(e->b, full, jit_i64(e, SIMT_LANES), "");
    store_counter(e, insns, offsetof(struct jit_frame, insns));
    store_counter(e, LLVMBuildAdd(e->b, lanes, counter(e, e->masked_lanes_var), ""),
                  offsetof(struct jit_frame, lane_insns));
    store_counter(e, counter(e, e->divergences_var), offsetof(struct jit_frame, divergences));
    store_counter(e, counter(e, e->transactions_var), offsetof(struct jit_frame, transactions));
    store_counter(e, counter(e, e->bytes_var), offsetof(struct jit_frame, bytes));
    store_counter(e, counter(e, e->barriers_var), offsetof(struct jit_frame, barriers));
    store_counter(e, counter(e, e->begun_var), offsetof(struct jit_frame, begun));
    store_counter(e, counter(e, e->blocks_var), offsetof(struct jit_frame, blocks));
    store_counter(e, LLVMBuildLoad2(e->b, e->i32, e->index_var, ""), offsetof(struct jit_frame, index));
    LLVMBuildRet(e->b, e->return_phi);
}

static void make_types(struct jit_emit *e)
{
    e->i1 = LLVMInt1TypeInContext(e->context);
    e->i8 = LLVMInt8TypeInContext(e->context);
    e->i16 = LLVMInt16TypeInContext(e->context);
    e->i32 = LLVMInt32TypeInContext(e->context);
    e->i64 = LLVMInt64TypeInContext(e->context);
    e->f32 = LLVMFloatTypeInContext(e->context);
    e->ptr = LLVMPointerTypeInContext(e->context, 0);
    e->lanes = e->host->lanes;
    e->chunks = SIMT_LANES / e->lanes;
    e->lane_bits = LLVMIntTypeInContext(e->context, e->lanes);
    e->vec = LLVMVectorType(e->i32, e->lanes);
    e->fvec = LLVMVectorType(e->f32, e->lanes);

    LLVMMetadataRef weights[] = {
        LLVMMDStringInContext2(e->context, "branch_weights", 14),
        LLVMValueAsMetadata(jit_i32(e, 2000)),
        LLVMValueAsMetadata(jit_i32(e, 1)),
    };
    e->guess = LLVMGetMDKindIDInContext(e->context, "prof", 4);
    LLVMMetadataRef one = LLVMValueAsMetadata(jit_i32(e, 1));
    e->nontemporal = LLVMGetMDKindIDInContext(e->context, "nontemporal", 11);
    e->yes = LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, &one, 1));
    e->likely = LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, weights, 3));
}

static unsigned masked_count(const struct jit_emit *e)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < e->g->n; i++) {
        n += masked_exists(e, i);
    }
    return n;
}

static void make_blocks(struct jit_emit *e)
{
    for (uint32_t i = 0; i < e->g->n; i++) {
        e->full_bb[i] = full_exists(e, i) ? jit_bb(e, "full") : NULL;
        if (masked_exists(e, i)) {
            e->test_bb[i] = jit_bb(e, "test");
            e->masked_bb[i] = jit_bb(e, "masked");
            e->after_bb[i] = jit_bb(e, "after");
        }
    }
    e->warp_bb = jit_bb(e, "warp");
    e->done_bb = jit_bb(e, "done");
    e->return_bb = jit_bb(e, "return");
    position(e, e->return_bb);
    e->return_phi = LLVMBuildPhi(e->b, e->i32, "");
    e->dump_bb = jit_bb(e, "dump");
    position(e, e->dump_bb);
    e->dump_phi = LLVMBuildPhi(e->b, e->i32, "");
}

bool jit_emit_function(struct jit_emit *e, const char *name, const uint32_t *entries, uint32_t entry_count)
{
    make_types(e);
    e->chunk0 = 0;
    e->chunk1 = e->chunks;
    e->group_of = calloc(JIT_MAX_INSNS, sizeof(*e->group_of));
    if (!e->group_of) {
        return false;
    }
    e->fn = LLVMAddFunction(e->module, name, LLVMFunctionType(e->i32, &e->ptr, 1, false));
    e->frame = LLVMGetParam(e->fn, 0);
    LLVMBasicBlockRef prologue = jit_bb(e, "prologue");
    make_blocks(e);
    plan_slices(e);
    e->masked_in_rows = masked_count(e) > MANY_MASKED;
    position(e, prologue);
    emit_prologue(e);
    emit_warp(e);
    LLVMBasicBlockRef no = jit_bb(e, "no_entry");
    LLVMValueRef sw = LLVMBuildSwitch(e->b, e->entry, no, 2 * entry_count + 1);
    position(e, no);
    reject(e);
    begin_node(e, 0, false);
    LLVMAddCase(sw, jit_i32(e, JIT_BEGIN), emit_begin(e));
    for (uint32_t k = 0; k < entry_count; k++) {
        begin_node(e, entries[k], false);
        emit_entries(e, sw, k, entries[k]);
    }
    for (uint32_t l = 0; l < e->g->loop_count; l++) {
        if (e->slice_chunks[l]) {
            emit_slices(e, l, e->slice_chunks[l]);
        }
    }
    for (uint32_t i = 0; i < e->g->n; i++) {
        if (full_exists(e, i)) {
            emit_full(e, i);
        }
        if (masked_exists(e, i)) {
            emit_masked(e, i);
            emit_after(e, i);
        }
    }
    emit_done(e);
    emit_return(e);
    free(e->group_of);
    return !e->exits->failed;
}
