/* SPDX-License-Identifier: MIT */
#include "emit.h"

#include <stddef.h>
#include <string.h>

#define F32_NAN 0x7fc00000u

LLVMValueRef jit_i32(struct jit_emit *e, uint32_t v)
{
    return LLVMConstInt(e->i32, v, false);
}

LLVMValueRef jit_i64(struct jit_emit *e, uint64_t v)
{
    return LLVMConstInt(e->i64, v, false);
}

LLVMValueRef jit_splat_const(struct jit_emit *e, uint32_t v)
{
    LLVMValueRef lanes[JIT_MAX_LANES];
    for (unsigned i = 0; i < e->lanes; i++) {
        lanes[i] = jit_i32(e, v);
    }
    return LLVMConstVector(lanes, e->lanes);
}

LLVMValueRef jit_splat(struct jit_emit *e, LLVMValueRef scalar)
{
    if (LLVMIsAConstantInt(scalar)) {
        return jit_splat_const(e, (uint32_t)LLVMConstIntGetZExtValue(scalar));
    }
    LLVMValueRef undef = LLVMGetUndef(e->vec);
    LLVMValueRef one = LLVMBuildInsertElement(e->b, undef, scalar, jit_i32(e, 0), "");
    return LLVMBuildShuffleVector(e->b, one, undef, jit_splat_const(e, 0), "");
}

LLVMBasicBlockRef jit_bb(struct jit_emit *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->context, e->fn, name);
}

LLVMValueRef jit_frame_field(struct jit_emit *e, size_t offset)
{
    LLVMValueRef index = jit_i64(e, offset);
    return LLVMBuildGEP2(e->b, e->i8, e->frame, &index, 1, "");
}

LLVMValueRef jit_warp_field(struct jit_emit *e, size_t offset)
{
    LLVMValueRef index = jit_i64(e, offset);
    return LLVMBuildGEP2(e->b, e->i8, e->warp, &index, 1, "");
}

LLVMValueRef jit_intrinsic(struct jit_emit *e, const char *name, LLVMTypeRef overload, LLVMValueRef *args,
                           unsigned nargs)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, &overload, 1);
    return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->context, id, &overload, 1), fn, args, nargs, "");
}

/* ---- values ---- */

struct jit_value jit_scalar(struct jit_abs a, LLVMValueRef s)
{
    return (struct jit_value){.a = a, .s = s};
}

struct jit_value jit_const(struct jit_emit *e, uint32_t v)
{
    return jit_scalar(jit_abs_const(v), jit_i32(e, v));
}

LLVMValueRef jit_value_scalar(struct jit_emit *e, unsigned r, struct jit_value *v)
{
    if (!v->s) {
        v->s = v->a.kind == JIT_CONST ? jit_i32(e, (uint32_t)v->a.value)
                                      : LLVMBuildLoad2(e->b, e->i32, e->scalar_var[r], "");
    }
    return v->s;
}

LLVMValueRef jit_lane_index(struct jit_emit *e, unsigned c)
{
    LLVMValueRef lanes[JIT_MAX_LANES];
    for (unsigned i = 0; i < e->lanes; i++) {
        lanes[i] = jit_i32(e, c * e->lanes + i);
    }
    return LLVMConstVector(lanes, e->lanes);
}

static LLVMValueRef strided_lanes(struct jit_emit *e, int32_t stride, unsigned c)
{
    LLVMValueRef lanes[JIT_MAX_LANES];
    for (unsigned i = 0; i < e->lanes; i++) {
        lanes[i] = jit_i32(e, (uint32_t)stride * (c * e->lanes + i));
    }
    return LLVMConstVector(lanes, e->lanes);
}

LLVMValueRef jit_value_chunk(struct jit_emit *e, unsigned r, struct jit_value *v, unsigned c)
{
    if (v->v[c]) {
        return v->v[c];
    }
    if (v->a.kind == JIT_VARYING) {
        v->v[c] = LLVMBuildLoad2(e->b, e->vec, e->vector_var[e->is_masked][r][c], "");
        return v->v[c];
    }
    LLVMValueRef lanes = jit_splat(e, jit_value_scalar(e, r, v));
    if (v->a.kind == JIT_AFFINE) {
        lanes = LLVMBuildAdd(e->b, lanes, strided_lanes(e, v->a.value, c), "");
    }
    v->v[c] = lanes;
    return lanes;
}

/* ---- registers of the node ---- */

struct jit_value jit_stored(const struct jit_emit *e, unsigned r)
{
    return (struct jit_value){.a = e->state->reg[r], .stored = true};
}

struct jit_value *jit_get(struct jit_emit *e, unsigned r)
{
    struct jit_value *v = &e->regs.cur[r];
    if (!(e->regs.have >> r & 1)) {
        *v = r == 0 ? jit_const(e, 0) : jit_stored(e, r);
        e->regs.have |= 1ull << r;
    }
    return v;
}

struct jit_value jit_get_copy(struct jit_emit *e, unsigned r)
{
    struct jit_value *v = jit_get(e, r);
    for (unsigned c = e->chunk0; v->a.kind == JIT_VARYING && c < e->chunk1; c++) {
        jit_value_chunk(e, r, v, c);
    }
    if (v->a.kind != JIT_VARYING) {
        jit_value_scalar(e, r, v);
    }
    return *v;
}

void jit_put(struct jit_emit *e, unsigned r, const struct jit_value *v)
{
    if (r == 0 || r == JIT_REGS) {
        return;
    }
    e->regs.cur[r] = *v;
    e->regs.cur[r].stored = false;
    e->regs.have |= 1ull << r;
    e->regs.written |= 1ull << r;
}

LLVMValueRef jit_chunk(struct jit_emit *e, unsigned r, unsigned c)
{
    return jit_value_chunk(e, r, jit_get(e, r), c);
}

LLVMValueRef jit_scalar_of(struct jit_emit *e, unsigned r)
{
    return jit_value_scalar(e, r, jit_get(e, r));
}

/* ---- float bits, masks ---- */

static LLVMValueRef as_float(struct jit_emit *e, LLVMValueRef bits)
{
    return LLVMBuildBitCast(e->b, bits, LLVMTypeOf(bits) == e->vec ? e->fvec : e->f32, "");
}

static LLVMValueRef constant_like(struct jit_emit *e, LLVMValueRef like, uint32_t v)
{
    return LLVMTypeOf(like) == e->vec ? jit_splat_const(e, v) : jit_i32(e, v);
}

LLVMValueRef jit_canonical(struct jit_emit *e, LLVMValueRef bits)
{
    LLVMValueRef f = as_float(e, bits);
    LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, f, f, "");
    return LLVMBuildSelect(e->b, nan, constant_like(e, bits, F32_NAN), bits, "");
}

/* Lanes whose bits are no NaN or the canonical one. */
static LLVMValueRef fit_for_raw(struct jit_emit *e, LLVMValueRef bits)
{
    return LLVMBuildICmp(e->b, LLVMIntEQ, jit_canonical(e, bits), bits, "");
}

LLVMValueRef jit_mask_chunk(struct jit_emit *e, LLVMValueRef mask, unsigned c)
{
    LLVMValueRef bit[JIT_MAX_LANES];
    for (unsigned i = 0; i < e->lanes; i++) {
        bit[i] = jit_i32(e, 1u << (c * e->lanes + i));
    }
    LLVMValueRef of_lane = LLVMConstVector(bit, e->lanes);
    LLVMValueRef both = LLVMBuildAnd(e->b, jit_splat(e, mask), of_lane, "");
    return LLVMBuildICmp(e->b, LLVMIntEQ, both, of_lane, "");
}

LLVMValueRef jit_ballot(struct jit_emit *e, LLVMValueRef const cond[JIT_MAX_CHUNKS])
{
    LLVMValueRef all = NULL;
    for (unsigned c = 0; c < e->chunks; c++) {
        LLVMValueRef bits = LLVMBuildBitCast(e->b, cond[c], e->lane_bits, "");
        LLVMValueRef word = LLVMBuildZExt(e->b, bits, e->i32, "");
        word = LLVMBuildShl(e->b, word, jit_i32(e, c * e->lanes), "");
        all = all ? LLVMBuildOr(e->b, all, word, "") : word;
    }
    return all;
}

LLVMValueRef jit_all_lanes(struct jit_emit *e, LLVMValueRef bits)
{
    LLVMValueRef word = LLVMBuildBitCast(e->b, bits, e->lane_bits, "");
    return LLVMBuildICmp(e->b, LLVMIntEQ, word, LLVMConstAllOnes(e->lane_bits), "");
}

/* ---- counters ---- */

void jit_add_counter(struct jit_emit *e, LLVMValueRef var, LLVMValueRef amount)
{
    if (LLVMTypeOf(amount) != e->i64) {
        amount = LLVMBuildZExt(e->b, amount, e->i64, "");
    }
    LLVMValueRef old = LLVMBuildLoad2(e->b, e->i64, var, "");
    LLVMBuildStore(e->b, LLVMBuildAdd(e->b, old, amount, ""), var);
}

void jit_count_insns(struct jit_emit *e, uint32_t n)
{
    jit_add_counter(e, e->insns_var, jit_i64(e, n));
    if (e->is_masked) {
        LLVMValueRef lanes = jit_intrinsic(e, "llvm.ctpop", e->i32, &e->mask, 1);
        jit_add_counter(e, e->masked_insns_var, jit_i64(e, n));
        jit_add_counter(e, e->masked_lanes_var, LLVMBuildMul(e->b, lanes, jit_i32(e, n), ""));
    }
}

void jit_count_bytes(struct jit_emit *e, uint64_t of_lane)
{
    LLVMValueRef lanes =
        e->is_masked ? jit_intrinsic(e, "llvm.ctpop", e->i32, &e->mask, 1) : jit_i32(e, SIMT_LANES);
    if (of_lane > 0) {
        jit_add_counter(e, e->bytes_var, LLVMBuildMul(e->b, lanes, jit_i32(e, (uint32_t)of_lane), ""));
    }
}

/* ---- leaving ---- */

void jit_branch_likely(struct jit_emit *e, LLVMValueRef cond, LLVMBasicBlockRef ok, LLVMBasicBlockRef other)
{
    LLVMValueRef branch = LLVMBuildCondBr(e->b, cond, ok, other);
    LLVMSetMetadata(branch, e->guess, e->likely);
    LLVMPositionBuilderAtEnd(e->b, ok);
}

void jit_require(struct jit_emit *e, LLVMValueRef cond)
{
    LLVMBasicBlockRef exit = jit_leave(e);
    jit_branch_likely(e, cond, jit_bb(e, "ok"), exit);
}

void jit_return(struct jit_emit *e, enum jit_status status)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMValueRef code = jit_i32(e, status);
    bool dump = status == JIT_LEFT || status == JIT_FUEL;

    if (status == JIT_DONE) {
        LLVMBuildBr(e->b, e->done_bb);
        return;
    }
    LLVMAddIncoming(dump ? e->dump_phi : e->return_phi, &code, &from, 1);
    LLVMBuildBr(e->b, dump ? e->dump_bb : e->return_bb);
}

/* The lanes of register r in chunk c as the rest of the warp may see them: in a masked body what was written
 * goes to the active lanes only. */
static LLVMValueRef visible_chunk(struct jit_emit *e, unsigned r, struct jit_value *v, bool written,
                                  unsigned c)
{
    LLVMValueRef lanes = jit_value_chunk(e, r, v, c);
    if (v->a.bits == JIT_BITS_RAW) {
        lanes = jit_canonical(e, lanes);
    }
    if (!written || !e->is_masked) {
        return lanes;
    }
    struct jit_value old = jit_stored(e, r);
    LLVMValueRef before = jit_value_chunk(e, r, &old, c);
    if (old.a.bits == JIT_BITS_RAW) {
        before = jit_canonical(e, before);
    }
    return LLVMBuildSelect(e->b, jit_mask_chunk(e, e->mask, c), lanes, before, "");
}

LLVMValueRef jit_row_chunk(struct jit_emit *e, unsigned r, unsigned c)
{
    LLVMValueRef at = jit_i64(e, (r & 31) * sizeof(simt_row) + c * e->lanes * sizeof(uint32_t));
    return LLVMBuildGEP2(e->b, e->i8, r < 32 ? e->x_rows : e->f_rows, &at, 1, "");
}

void jit_spill(struct jit_emit *e, uint64_t set)
{
    for (unsigned r = 1; r < JIT_REGS; r++) {
        for (unsigned c = 0; (set >> r & 1) && c < e->chunks; c++) {
            bool written = e->regs.written >> r & 1;
            LLVMBuildStore(e->b, visible_chunk(e, r, jit_get(e, r), written, c), jit_row_chunk(e, r, c));
        }
    }
}

static LLVMValueRef lean_scalar(struct jit_emit *e, unsigned r)
{
    LLVMValueRef at = jit_i64(e, r);
    return LLVMBuildGEP2(e->b, e->i32, e->scalars, &at, 1, "");
}

/* Register r into its row; returns what the row is then. */
static struct jit_abs leave_row(struct jit_emit *e, unsigned r, struct jit_value *v, bool written)
{
    bool blend = written && e->is_masked;

    if (v->a.kind == JIT_CONST && !blend) {
        return v->a;
    }
    if (v->a.kind != JIT_VARYING && !blend) {
        LLVMBuildStore(e->b, jit_value_scalar(e, r, v), lean_scalar(e, r));
        return v->a;
    }
    bool there = !blend && e->is_masked && e->masked_in_rows;
    for (unsigned c = 0; !there && c < e->chunks; c++) {
        LLVMValueRef lanes = blend ? visible_chunk(e, r, v, true, c) : jit_value_chunk(e, r, v, c);
        LLVMBuildStore(e->b, lanes, jit_row_chunk(e, r, c));
    }
    return blend ? (struct jit_abs){.kind = JIT_VARYING, .bits = JIT_BITS_EXACT} : v->a;
}

void jit_leave_rows(struct jit_emit *e, const struct jit_regs *regs, uint64_t set, uint32_t node)
{
    jit_exits_add(e->exits, node);
    for (unsigned r = 1; r < JIT_REGS; r++) {
        struct jit_value v = regs->have >> r & 1 ? regs->cur[r] : jit_stored(e, r);
        if (set >> r & 1) {
            jit_exits_add_row(e->exits, r, leave_row(e, r, &v, regs->written >> r & 1));
        }
    }
    LLVMBuildStore(e->b, jit_i32(e, e->exits->count), jit_frame_field(e, offsetof(struct jit_frame, exit)));
}

void jit_take_rows(struct jit_emit *e, const struct jit_state *state, uint64_t set, bool masked)
{
    for (unsigned r = 1; r < JIT_REGS; r++) {
        unsigned kind = state->reg[r].kind;
        if (!(set >> r & 1) || kind == JIT_CONST) {
            continue;
        }
        if (kind != JIT_VARYING) {
            LLVMBuildStore(e->b, LLVMBuildLoad2(e->b, e->i32, lean_scalar(e, r), ""), e->scalar_var[r]);
        }
        bool there = kind != JIT_VARYING || (masked && e->masked_in_rows);
        for (unsigned c = 0; !there && c < e->chunks; c++) {
            LLVMBuildStore(e->b, LLVMBuildLoad2(e->b, e->vec, jit_row_chunk(e, r, c), ""),
                           e->vector_var[masked][r][c]);
        }
    }
}

static void store_exit(struct jit_emit *e, uint32_t pc)
{
    LLVMBuildStore(e->b, jit_i32(e, pc), jit_frame_field(e, offsetof(struct jit_frame, pc)));
    LLVMBuildStore(e->b, e->mask, jit_frame_field(e, offsetof(struct jit_frame, left)));
    LLVMBuildStore(e->b, jit_i32(e, (uint32_t)e->g->nodes[e->node].depth),
                   jit_frame_field(e, offsetof(struct jit_frame, depth)));
}

LLVMBasicBlockRef jit_leave(struct jit_emit *e)
{
    struct jit_checkpoint *k = &e->checkpoint;

    if (e->slice_exit) {
        return e->slice_exit;
    }
    if (!k->exit) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
        uint64_t live = e->is_masked ? e->masked->live_entry[e->node] : e->g->nodes[e->node].live_in;
        k->exit = jit_bb(e, "leave");
        LLVMPositionBuilderAtEnd(e->b, k->exit);
        jit_leave_rows(e, &k->regs, live | k->regs.written, JIT_NO_NODE);
        store_exit(e, e->g->nodes[e->node].pc + 4 * k->insn);
        jit_count_insns(e, k->insn);
        jit_count_bytes(e, k->bytes);
        jit_return(e, JIT_LEFT);
        LLVMPositionBuilderAtEnd(e->b, here);
    }
    return k->exit;
}

void jit_before(struct jit_emit *e, uint32_t insn)
{
    if (e->effects) {
        e->checkpoint.regs = e->regs;
        e->checkpoint.insn = insn;
        e->checkpoint.bytes = e->bytes;
        e->checkpoint.exit = NULL;
        e->effects = false;
    }
}

/* ---- from one state to another ---- */

static void also(struct jit_emit *e, LLVMValueRef *ok, LLVMValueRef cond)
{
    *ok = *ok ? LLVMBuildAnd(e->b, *ok, cond, "") : cond;
}

static LLVMValueRef every_lane(struct jit_emit *e, LLVMValueRef const cond[JIT_MAX_CHUNKS])
{
    LLVMValueRef all = cond[0];
    for (unsigned c = 1; c < e->chunks; c++) {
        all = LLVMBuildAnd(e->b, all, cond[c], "");
    }
    return jit_all_lanes(e, all);
}

/* The scalar has the low zero bits that code for `to` counts on. */
static void align_guard(struct jit_emit *e, LLVMValueRef s, struct jit_abs from, struct jit_abs to,
                        LLVMValueRef *ok)
{
    if (from.align < to.align && to.align > 0) {
        uint32_t low = to.align < 32 ? (1u << to.align) - 1 : UINT32_MAX;
        LLVMValueRef bits = LLVMBuildAnd(e->b, s, jit_i32(e, low), "");
        also(e, ok, LLVMBuildICmp(e->b, LLVMIntEQ, bits, jit_i32(e, 0), ""));
    }
}

/* The lanes of v are what a constant, uniform or affine register of this kind can hold; returns its scalar.
 */
static LLVMValueRef narrow_kind(struct jit_emit *e, unsigned r, struct jit_value *v, struct jit_abs to,
                                LLVMValueRef *ok)
{
    LLVMValueRef cond[JIT_MAX_CHUNKS] = {NULL};
    LLVMValueRef first = to.kind == JIT_CONST
                             ? jit_i32(e, (uint32_t)to.value)
                             : LLVMBuildExtractElement(e->b, jit_value_chunk(e, r, v, 0), jit_i32(e, 0), "");
    struct jit_value want = jit_scalar(to, first);

    for (unsigned c = 0; c < e->chunks; c++) {
        cond[c] =
            LLVMBuildICmp(e->b, LLVMIntEQ, jit_value_chunk(e, r, v, c), jit_value_chunk(e, r, &want, c), "");
    }
    also(e, ok, every_lane(e, cond));
    return first;
}

static void raw_guard(struct jit_emit *e, unsigned r, struct jit_value *v, LLVMValueRef *ok)
{
    LLVMValueRef cond[JIT_MAX_CHUNKS] = {NULL};

    if (v->a.kind <= JIT_UNIFORM) {
        also(e, ok, fit_for_raw(e, jit_value_scalar(e, r, v)));
        return;
    }
    for (unsigned c = 0; c < e->chunks; c++) {
        cond[c] = fit_for_raw(e, jit_value_chunk(e, r, v, c));
    }
    also(e, ok, every_lane(e, cond));
}

static bool same_scalar_kind(struct jit_abs from, struct jit_abs to)
{
    if (to.kind == JIT_CONST) {
        return from.kind == JIT_CONST && from.value == to.value;
    }
    return to.kind == JIT_UNIFORM ? from.kind <= JIT_UNIFORM
                                  : from.kind == JIT_AFFINE && from.value == to.value;
}

bool jit_convert(struct jit_emit *e, unsigned r, struct jit_value v, struct jit_abs to, LLVMValueRef *ok)
{
    bool canonicalise = v.a.bits == JIT_BITS_RAW && to.bits != JIT_BITS_RAW;
    bool unchanged = v.stored && !canonicalise && v.a.kind != JIT_CONST; /* constants are in no variable */

    if (v.a.bits == JIT_BITS_EXACT && to.bits != JIT_BITS_EXACT) {
        raw_guard(e, r, &v, ok);
    }
    if (to.kind == JIT_VARYING) {
        unchanged &= v.a.kind == JIT_VARYING && (e->to_masked == e->is_masked || !e->masked_in_rows);
        for (unsigned c = e->chunk0; !unchanged && c < e->chunk1; c++) {
            LLVMValueRef lanes = jit_value_chunk(e, r, &v, c);
            LLVMBuildStore(e->b, canonicalise ? jit_canonical(e, lanes) : lanes,
                           e->vector_var[e->to_masked][r][c]);
        }
        return true;
    }
    LLVMValueRef scalar;
    if (same_scalar_kind(v.a, to)) {
        scalar = to.kind == JIT_CONST ? NULL : jit_value_scalar(e, r, &v);
    } else if (v.a.kind == JIT_CONST && to.kind != JIT_UNIFORM) {
        return false;
    } else {
        scalar = narrow_kind(e, r, &v, to, ok);
        unchanged = false;
    }
    if (to.kind != JIT_CONST) {
        align_guard(e, scalar, v.a, to, ok);
    }
    if (to.kind != JIT_CONST && !unchanged) {
        LLVMBuildStore(e->b, canonicalise ? jit_canonical(e, scalar) : scalar, e->scalar_var[r]);
    }
    return true;
}

/* ---- slots ---- */

LLVMValueRef jit_slot_word(struct jit_emit *e, unsigned slot, unsigned lane)
{
    uint32_t word = (e->variant->private_top - SIMT_PRIVATE_BASE) / 4 - 1 - slot;
    LLVMValueRef at = jit_i64(e, word * sizeof(simt_row) + lane * sizeof(uint32_t));
    return LLVMBuildGEP2(e->b, e->i8, e->priv, &at, 1, "");
}

void jit_slot_guard(struct jit_emit *e, unsigned slot, struct jit_abs from, struct jit_abs to,
                    LLVMValueRef *ok)
{
    struct jit_value v = {.a = {.kind = JIT_VARYING}};

    if (to.kind == JIT_VARYING || (same_scalar_kind(from, to) && from.align >= to.align)) {
        return;
    }
    for (unsigned c = 0; c < e->chunks; c++) {
        v.v[c] = LLVMBuildLoad2(e->b, e->vec, jit_slot_word(e, slot, c * e->lanes), "");
        LLVMSetAlignment(v.v[c], sizeof(uint32_t));
    }
    LLVMValueRef first = narrow_kind(e, 0, &v, to, ok);
    if (to.kind != JIT_CONST) {
        align_guard(e, first, v.a, to, ok);
    }
}
