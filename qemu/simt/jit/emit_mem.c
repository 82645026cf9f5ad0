/* SPDX-License-Identifier: MIT */
/*
 * Memory instructions. A uniform address is one check and one access; lanes side by side are one check and a
 * vector access a chunk; anything else is a check of every lane and an access a lane. Which window's check is
 * compiled is a guess from where the address comes from; when the check fails the code is left and the
 * interpreter decides.
 */
#include "emit.h"

#include <stddef.h>

#define F(r) (32u + (r))

bool jit_is_memory(const struct simt_insn *in)
{
    switch (simt_op_format(in->op)) {
    case SIMT_FMT_LOAD:
    case SIMT_FMT_FLOAD:
    case SIMT_FMT_STORE:
    case SIMT_FMT_FSTORE:
        return true;
    default:
        return false;
    }
}

unsigned jit_access_size(enum simt_op op)
{
    switch (op) {
    case SIMT_OP_LB:
    case SIMT_OP_LBU:
    case SIMT_OP_SB:
        return 1;
    case SIMT_OP_LH:
    case SIMT_OP_LHU:
    case SIMT_OP_SH:
        return 2;
    default:
        return 4;
    }
}

static bool is_store(const struct simt_insn *in)
{
    enum simt_format format = simt_op_format(in->op);
    return format == SIMT_FMT_STORE || format == SIMT_FMT_FSTORE;
}

/* ---- windows ---- */

struct window {
    uint32_t base;
    LLVMValueRef host, size;
};

static struct window window(struct jit_emit *e, enum jit_window kind)
{
    switch (kind) {
    case JIT_SHARED:
        return (struct window){SIMT_SHARED_BASE, e->shared, e->shared_size};
    case JIT_PRIVATE:
        return (struct window){SIMT_PRIVATE_BASE, e->priv, e->private_size};
    default:
        return (struct window){0, e->vram, e->vram_size};
    }
}

static LLVMValueRef offset_pointer(struct jit_emit *e, LLVMValueRef host, LLVMValueRef offset)
{
    if (LLVMTypeOf(offset) == e->i32) {
        offset = LLVMBuildZExt(e->b, offset, e->i64, "");
    }
    return LLVMBuildGEP2(e->b, e->i8, host, &offset, 1, "");
}

/* ---- groups: one check for the accesses of a node that share a base ---- */

/* The group of each memory instruction, by base register and how often it was written before. */
void jit_group_accesses(struct jit_emit *e)
{
    const struct jit_node *node = &e->g->nodes[e->node];
    uint32_t open[32]; /* register -> its present group + 1 */

    for (unsigned r = 0; r < 32; r++) {
        open[r] = 0;
    }
    e->group_count = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct simt_insn *in = &e->g->prog->insns[node->first + i];
        uint64_t defs = jit_defs(in);
        if (jit_is_memory(in)) {
            int32_t low = in->imm, high = in->imm + (int32_t)jit_access_size(in->op);
            struct jit_group *group = open[in->rs1] ? &e->groups[open[in->rs1] - 1] : NULL;
            if (!group && e->group_count < sizeof(e->groups) / sizeof(e->groups[0])) {
                group = &e->groups[e->group_count++];
                *group = (struct jit_group){.low = low, .high = high, .words = true};
                open[in->rs1] = e->group_count;
            }
            if (group) {
                group->words &= high - low == 4 && (low - group->low) % 4 == 0;
                group->low = low < group->low ? low : group->low;
                group->high = high > group->high ? high : group->high;
                group->stores |= is_store(in);
            }
            e->group_of[i] = group ? (uint32_t)(group - e->groups) : UINT32_MAX;
        }
        if (defs && __builtin_ctzll(defs) < 32) {
            open[__builtin_ctzll(defs)] = 0;
        }
    }
}

/* Private memory from word offset / 4 on will have to be cleared. */
static void note_dirty(struct jit_emit *e, LLVMValueRef offset)
{
    LLVMValueRef field = jit_warp_field(e, offsetof(struct simt_warp, priv_dirty));
    e->dirties = true;
    LLVMValueRef args[] = {LLVMBuildLoad2(e->b, e->i32, field, ""),
                           LLVMBuildLShr(e->b, offset, jit_i32(e, 2), "")};
    LLVMBuildStore(e->b, jit_intrinsic(e, "llvm.umin", e->i32, args, 2), field);
}

/* Each access of the group is a word that lies in one segment, once the code has tested that the first does.
 */
static bool expects_aligned(const struct jit_emit *e, const struct jit_group *group, struct jit_abs base,
                            enum jit_window kind)
{
    return e->variant->hopes && group->words && base.kind <= JIT_UNIFORM && kind == JIT_VRAM;
}

static void require_aligned(struct jit_emit *e, LLVMValueRef address)
{
    LLVMValueRef low = LLVMBuildAnd(e->b, address, jit_i32(e, 3), "");
    jit_require(e, LLVMBuildICmp(e->b, LLVMIntEQ, low, jit_i32(e, 0), ""));
}

/* Host address of the group's lowest byte in lane 0, checked for all its bytes in all lanes. */
static void check_group(struct jit_emit *e, struct jit_group *group, struct jit_value *base, unsigned rs1,
                        enum jit_window kind)
{
    struct window w = window(e, kind);
    int64_t reach = base->a.kind == JIT_AFFINE ? (int64_t)base->a.value * (SIMT_LANES - 1) : 0;
    uint64_t span = (uint64_t)(group->high - group->low) + (uint64_t)reach;
    LLVMValueRef s = jit_value_scalar(e, rs1, base);
    LLVMValueRef offset = LLVMBuildAdd(e->b, s, jit_i32(e, (uint32_t)group->low - w.base), "");
    LLVMValueRef end = LLVMBuildAdd(e->b, LLVMBuildZExt(e->b, offset, e->i64, ""), jit_i64(e, span), "");

    jit_require(e, LLVMBuildICmp(e->b, LLVMIntULE, end, w.size, ""));
    if (expects_aligned(e, group, base->a, kind)) {
        require_aligned(e, offset);
    }
    if (kind == JIT_PRIVATE) {
        require_aligned(e, offset);
        if (group->stores) {
            note_dirty(e, offset);
        }
        offset = LLVMBuildMul(e->b, LLVMBuildZExt(e->b, offset, e->i64, ""), jit_i64(e, SIMT_LANES), "");
    }
    group->host = offset_pointer(e, w.host, offset);
    group->checked = true;
}

/* ---- element access ---- */

struct access {
    const struct simt_insn *in;
    unsigned size;
    LLVMTypeRef type; /* of the element in memory */
    bool store, is_signed;
};

static struct access access_of(struct jit_emit *e, const struct simt_insn *in)
{
    unsigned size = jit_access_size(in->op);
    return (struct access){
        .in = in,
        .size = size,
        .type = size == 4   ? e->i32
                : size == 2 ? e->i16
                            : e->i8,
        .store = is_store(in),
        .is_signed = in->op == SIMT_OP_LB || in->op == SIMT_OP_LH,
    };
}

static LLVMValueRef widen(struct jit_emit *e, const struct access *a, LLVMValueRef v, LLVMTypeRef to)
{
    if (a->size == 4) {
        return v;
    }
    return a->is_signed ? LLVMBuildSExt(e->b, v, to, "") : LLVMBuildZExt(e->b, v, to, "");
}

static LLVMValueRef load_element(struct jit_emit *e, const struct access *a, LLVMValueRef at)
{
    LLVMValueRef v = LLVMBuildLoad2(e->b, a->type, at, "");
    LLVMSetAlignment(v, 1);
    return widen(e, a, v, e->i32);
}

static void store_element(struct jit_emit *e, const struct access *a, LLVMValueRef v, LLVMValueRef at)
{
    v = a->size == 4 ? v : LLVMBuildTrunc(e->b, v, a->type, "");
    LLVMSetAlignment(LLVMBuildStore(e->b, v, at), 1);
}

/* A vector of elements side by side. */
static LLVMValueRef load_chunk(struct jit_emit *e, const struct access *a, LLVMValueRef at)
{
    LLVMValueRef v = LLVMBuildLoad2(e->b, LLVMVectorType(a->type, e->lanes), at, "");
    LLVMSetAlignment(v, 1);
    return widen(e, a, v, e->vec);
}

static void store_chunk(struct jit_emit *e, const struct access *a, LLVMValueRef v, LLVMValueRef at,
                        unsigned c)
{
    LLVMTypeRef type = LLVMVectorType(a->type, e->lanes);
    v = a->size == 4 ? v : LLVMBuildTrunc(e->b, v, type, "");
    if (!e->is_masked) {
        LLVMSetAlignment(LLVMBuildStore(e->b, v, at), 1);
        return;
    }
    unsigned id = LLVMLookupIntrinsicID("llvm.masked.store", 17);
    LLVMTypeRef overloads[] = {type, e->ptr};
    LLVMValueRef args[] = {v, at, jit_i32(e, 1), jit_mask_chunk(e, e->mask, c)};
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, overloads, 2);
    LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->context, id, overloads, 2), fn, args, 4, "");
}

/* The value to store as the guest sees it. */
static LLVMValueRef stored_chunk(struct jit_emit *e, const struct access *a, unsigned c)
{
    unsigned r = simt_op_format(a->in->op) == SIMT_FMT_FSTORE ? F(a->in->rs2) : a->in->rs2;
    LLVMValueRef v = jit_chunk(e, r, c);
    return jit_get(e, r)->a.bits == JIT_BITS_RAW ? jit_canonical(e, v) : v;
}

/* What a load leaves in its register, but for the value. */
static struct jit_abs loaded(const struct access *a, enum jit_kind kind)
{
    struct jit_abs r = jit_abs_of(kind);
    r.bits = simt_op_format(a->in->op) == SIMT_FMT_FLOAD ? JIT_BITS_EXACT : JIT_BITS_ANY;
    return r;
}

static void put_result(struct jit_emit *e, const struct access *a, struct jit_value *v)
{
    unsigned rd = simt_op_format(a->in->op) == SIMT_FMT_FLOAD ? F(a->in->rd)
                  : a->in->rd == SIMT_X_SINK                  ? 0
                                                              : a->in->rd;
    jit_put(e, rd, v);
}

/* ---- consecutive bytes ---- */

/* 64-byte segments of the length bytes from addr on. */
static LLVMValueRef segments(struct jit_emit *e, LLVMValueRef addr, LLVMValueRef length)
{
    LLVMValueRef in_segment = LLVMBuildAnd(e->b, addr, jit_i32(e, 63), "");
    LLVMValueRef last = LLVMBuildAdd(e->b, in_segment, LLVMBuildSub(e->b, length, jit_i32(e, 1), ""), "");
    return LLVMBuildAdd(e->b, LLVMBuildLShr(e->b, last, jit_i32(e, 6), ""), jit_i32(e, 1), "");
}

static LLVMValueRef first_lane(struct jit_emit *e)
{
    LLVMValueRef args[] = {e->mask, LLVMConstInt(e->i1, 1, false)};
    return jit_intrinsic(e, "llvm.cttz", e->i32, args, 2);
}

static LLVMValueRef lane_past_last(struct jit_emit *e)
{
    LLVMValueRef args[] = {e->mask, LLVMConstInt(e->i1, 1, false)};
    LLVMTypeRef type = e->i32;
    unsigned id = LLVMLookupIntrinsicID("llvm.ctlz", 9);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, &type, 1);
    LLVMValueRef zeros =
        LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->context, id, &type, 1), fn, args, 2, "");
    return LLVMBuildSub(e->b, jit_i32(e, SIMT_LANES), zeros, "");
}

/* Lanes side by side from addr (lane 0) on; the span from the first to the last active one counts. */
static void count_stride(struct jit_emit *e, LLVMValueRef addr, unsigned size)
{
    LLVMValueRef length = jit_i32(e, size * SIMT_LANES);
    if (e->slice_next) {
        return; /* counted with the last slice */
    }
    if (e->is_masked) {
        LLVMValueRef first = first_lane(e);
        addr = LLVMBuildAdd(e->b, addr, LLVMBuildMul(e->b, first, jit_i32(e, size), ""), "");
        length = LLVMBuildMul(e->b, LLVMBuildSub(e->b, lane_past_last(e), first, ""), jit_i32(e, size), "");
    }
    jit_add_counter(e, e->transactions_var, segments(e, addr, length));
}

static LLVMValueRef row_chunk(struct jit_emit *e, LLVMValueRef row, unsigned c)
{
    LLVMValueRef at = jit_i64(e, c * e->lanes * sizeof(uint32_t));
    return LLVMBuildGEP2(e->b, e->i8, row, &at, 1, "");
}

/* The vector accesses of lanes side by side, size bytes apart from host on. */
static void access_row(struct jit_emit *e, const struct access *a, LLVMValueRef host, unsigned size)
{
    struct jit_value v = {.a = loaded(a, JIT_VARYING)};

    for (unsigned c = e->chunk0; c < e->chunk1; c++) {
        LLVMValueRef at = offset_pointer(e, host, jit_i64(e, (uint64_t)c * e->lanes * size));
        if (a->store) {
            store_chunk(e, a, stored_chunk(e, a, c), at, c);
        } else {
            v.v[c] = load_chunk(e, a, at);
        }
    }
    if (!a->store) {
        put_result(e, a, &v);
    }
}

/* A store that each thread does at most once, to where its lane is in a row: the launch may write so much
 * that its cache lines had better be neither read first nor kept. */
static bool may_stream(const struct jit_emit *e, const struct access *a, struct jit_abs base,
                       enum jit_window kind)
{
    return a->store && a->size == 4 && kind == JIT_VRAM && base.kind == JIT_AFFINE && !e->is_masked &&
           e->g->nodes[e->node].loop == JIT_NO_NODE;
}

/* Store past the caches, if the launch is one of those and the vectors lie in one line each. */
static void stream_row(struct jit_emit *e, const struct access *a, LLVMValueRef host)
{
    LLVMBasicBlockRef past = jit_bb(e, "stream"), plain = jit_bb(e, "plain"), done = jit_bb(e, "stored");
    unsigned bytes = e->lanes * a->size;
    LLVMValueRef low =
        LLVMBuildAnd(e->b, LLVMBuildPtrToInt(e->b, host, e->i64, ""), jit_i64(e, bytes - 1), "");
    LLVMValueRef aligned = LLVMBuildICmp(e->b, LLVMIntEQ, low, jit_i64(e, 0), "");

    for (unsigned c = 0; c < e->chunks; c++) {
        stored_chunk(e, a, c); /* in hand before code branches */
    }
    LLVMBuildCondBr(e->b, LLVMBuildAnd(e->b, aligned, e->stream, ""), past, plain);
    LLVMPositionBuilderAtEnd(e->b, past);
    for (unsigned c = 0; c < e->chunks; c++) {
        LLVMValueRef at = offset_pointer(e, host, jit_i64(e, (uint64_t)c * bytes));
        LLVMValueRef store = LLVMBuildStore(e->b, stored_chunk(e, a, c), at);
        LLVMSetAlignment(store, bytes);
        LLVMSetMetadata(store, e->nontemporal, e->yes);
    }
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, plain);
    access_row(e, a, host, a->size);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    e->streamed++;
}

/* ---- one address for all lanes ---- */

static void load_uniform(struct jit_emit *e, const struct access *a, LLVMValueRef at)
{
    struct jit_value v = jit_scalar(loaded(a, JIT_UNIFORM), load_element(e, a, at));
    put_result(e, a, &v);
}

/* Stores happen in lane order, so the last lane's value stays. */
static void store_uniform(struct jit_emit *e, const struct access *a, LLVMValueRef at)
{
    LLVMValueRef last;

    if (!e->is_masked) {
        last = LLVMBuildExtractElement(e->b, stored_chunk(e, a, e->chunks - 1), jit_i32(e, e->lanes - 1), "");
    } else {
        LLVMValueRef row = jit_frame_field(e, offsetof(struct jit_frame, scratch));
        for (unsigned c = 0; c < e->chunks; c++) {
            LLVMSetAlignment(LLVMBuildStore(e->b, stored_chunk(e, a, c), row_chunk(e, row, c)), 4);
        }
        LLVMValueRef lane = LLVMBuildZExt(e->b, lane_past_last(e), e->i64, "");
        LLVMValueRef index = LLVMBuildSub(e->b, lane, jit_i64(e, 1), "");
        last = LLVMBuildLoad2(e->b, e->i32, LLVMBuildGEP2(e->b, e->i32, row, &index, 1, ""), "");
    }
    store_element(e, a, last, at);
}

/* ---- an address for each lane ---- */

static LLVMValueRef lane_address(struct jit_emit *e, struct jit_value *base, const struct access *a,
                                 unsigned c)
{
    LLVMValueRef v = jit_value_chunk(e, a->in->rs1, base, c);
    return LLVMBuildAdd(e->b, v, jit_splat_const(e, (uint32_t)a->in->imm), "");
}

/* Every active lane's access lies inside the window (and is a whole word of private memory). */
static void check_lanes(struct jit_emit *e, const struct access *a, struct window w, enum jit_window kind,
                        LLVMValueRef const offset[JIT_MAX_CHUNKS])
{
    LLVMValueRef fits = LLVMBuildICmp(e->b, LLVMIntUGE, w.size, jit_i64(e, a->size), "");
    LLVMValueRef above = LLVMBuildSub(e->b, w.size, jit_i64(e, a->size - 1), "");
    LLVMValueRef bound =
        LLVMBuildSelect(e->b, fits, LLVMBuildTrunc(e->b, above, e->i32, ""), jit_i32(e, 0), "");
    LLVMValueRef limit = jit_splat(e, bound), all = NULL;

    for (unsigned c = 0; c < e->chunks; c++) {
        LLVMValueRef ok = LLVMBuildICmp(e->b, LLVMIntULT, offset[c], limit, "");
        if (kind == JIT_PRIVATE) {
            LLVMValueRef low = LLVMBuildAnd(e->b, offset[c], jit_splat_const(e, 3), "");
            LLVMValueRef whole = LLVMBuildICmp(e->b, LLVMIntEQ, low, jit_splat_const(e, 0), "");
            ok = LLVMBuildAnd(e->b, ok, whole, "");
        }
        if (e->is_masked) {
            ok = LLVMBuildOr(e->b, ok, LLVMBuildNot(e->b, jit_mask_chunk(e, e->mask, c), ""), "");
        }
        all = all ? LLVMBuildAnd(e->b, all, ok, "") : ok;
    }
    jit_require(e, jit_all_lanes(e, all));
}

static LLVMValueRef load_lanes(struct jit_emit *e, const struct access *a, LLVMValueRef host,
                               LLVMValueRef offset)
{
    LLVMValueRef v = LLVMGetUndef(e->vec);
    for (unsigned i = 0; i < e->lanes; i++) {
        LLVMValueRef lane = LLVMBuildExtractElement(e->b, offset, jit_i32(e, i), "");
        LLVMValueRef element = load_element(e, a, offset_pointer(e, host, lane));
        v = LLVMBuildInsertElement(e->b, v, element, jit_i32(e, i), "");
    }
    return v;
}

/* A chunk whose lanes are side by side in memory, or all at one place, is common enough to be tested for. */
static LLVMValueRef load_pattern(struct jit_emit *e, const struct access *a, LLVMValueRef host,
                                 LLVMValueRef offset)
{
    LLVMBasicBlockRef side = jit_bb(e, "side"), other = jit_bb(e, "other"), each = jit_bb(e, "each"),
                      one = jit_bb(e, "one"), done = jit_bb(e, "loaded");
    LLVMValueRef first = LLVMBuildExtractElement(e->b, offset, jit_i32(e, 0), "");
    LLVMValueRef at = offset_pointer(e, host, first), lanes[JIT_MAX_LANES], value[3];
    LLVMValueRef splat = jit_splat(e, first);

    for (unsigned i = 0; i < e->lanes; i++) {
        lanes[i] = jit_i32(e, i * a->size);
    }
    LLVMValueRef row = LLVMBuildAdd(e->b, splat, LLVMConstVector(lanes, e->lanes), "");
    LLVMValueRef is_row = LLVMBuildICmp(e->b, LLVMIntEQ, offset, row, "");
    LLVMBuildCondBr(e->b, jit_all_lanes(e, is_row), side, other);

    LLVMPositionBuilderAtEnd(e->b, side);
    value[0] = load_chunk(e, a, at);
    LLVMBuildBr(e->b, done);

    LLVMPositionBuilderAtEnd(e->b, other);
    LLVMValueRef is_one = LLVMBuildICmp(e->b, LLVMIntEQ, offset, splat, "");
    LLVMBuildCondBr(e->b, jit_all_lanes(e, is_one), one, each);

    LLVMPositionBuilderAtEnd(e->b, one);
    value[1] = jit_splat(e, load_element(e, a, at));
    LLVMBuildBr(e->b, done);

    LLVMPositionBuilderAtEnd(e->b, each);
    value[2] = load_lanes(e, a, host, offset);
    LLVMBuildBr(e->b, done);

    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMBasicBlockRef from[] = {side, one, each};
    LLVMValueRef phi = LLVMBuildPhi(e->b, e->vec, "");
    LLVMAddIncoming(phi, value, from, 3);
    return phi;
}

static void store_lane(struct jit_emit *e, const struct access *a, LLVMValueRef value, LLVMValueRef host,
                       LLVMValueRef offset, unsigned i)
{
    LLVMValueRef lane = LLVMBuildExtractElement(e->b, offset, jit_i32(e, i), "");
    LLVMValueRef element = LLVMBuildExtractElement(e->b, value, jit_i32(e, i), "");
    store_element(e, a, element, offset_pointer(e, host, lane));
}

static void store_lanes(struct jit_emit *e, const struct access *a, LLVMValueRef host, LLVMValueRef offset,
                        unsigned c)
{
    LLVMValueRef value = stored_chunk(e, a, c);

    for (unsigned i = 0; i < e->lanes; i++) {
        if (!e->is_masked) {
            store_lane(e, a, value, host, offset, i);
            continue;
        }
        LLVMBasicBlockRef active = jit_bb(e, "active"), next = jit_bb(e, "next");
        LLVMValueRef bit = LLVMBuildAnd(e->b, e->mask, jit_i32(e, 1u << (c * e->lanes + i)), "");
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, bit, jit_i32(e, 0), ""), active, next);
        LLVMPositionBuilderAtEnd(e->b, active);
        store_lane(e, a, value, host, offset, i);
        LLVMBuildBr(e->b, next);
        LLVMPositionBuilderAtEnd(e->b, next);
    }
}

/* Exact count of segments by a call, unless full lanes ascend within one segment each, which vector code
 * sees. */
static void count_lanes(struct jit_emit *e, const struct access *a, LLVMValueRef const addr[JIT_MAX_CHUNKS])
{
    LLVMValueRef row = jit_warp_field(e, offsetof(struct simt_warp, addr));
    LLVMTypeRef params[] = {e->ptr, e->i32, e->i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 3, false);
    LLVMValueRef args[] = {e->frame, e->mask, jit_i32(e, a->size)};

    for (unsigned c = 0; c < e->chunks; c++) {
        LLVMSetAlignment(LLVMBuildStore(e->b, addr[c], row_chunk(e, row, c)), 4);
    }
    LLVMValueRef fn = LLVMBuildLoad2(e->b, e->ptr, jit_frame_field(e, offsetof(struct jit_frame, count)), "");
    LLVMBuildCall2(e->b, type, fn, args, 3, "");
}

/* Offsets in the window's host memory. Lanes that are not active read the first word. */
static LLVMValueRef host_offset(struct jit_emit *e, LLVMValueRef offset, enum jit_window kind, unsigned c)
{
    if (e->is_masked) {
        offset = LLVMBuildSelect(e->b, jit_mask_chunk(e, e->mask, c), offset, jit_splat_const(e, 0), "");
    }
    if (kind == JIT_PRIVATE) { /* word w of lane l is at (w * 32 + l) * 4 */
        LLVMValueRef row = LLVMBuildMul(e->b, offset, jit_splat_const(e, SIMT_LANES), "");
        LLVMValueRef lane = LLVMBuildMul(e->b, jit_lane_index(e, c), jit_splat_const(e, 4), "");
        offset = LLVMBuildAdd(e->b, row, lane, "");
    }
    return offset;
}

/* Each lane for itself: the check of all, the count, the accesses; loaded lanes go to v. */
static void access_each(struct jit_emit *e, const struct access *a, enum jit_window kind,
                        LLVMValueRef const addr[JIT_MAX_CHUNKS], LLVMValueRef const offset[JIT_MAX_CHUNKS],
                        LLVMValueRef v[JIT_MAX_CHUNKS])
{
    struct window w = window(e, kind);

    check_lanes(e, a, w, kind, offset);
    if (kind == JIT_PRIVATE && a->store) {
        note_dirty(e, jit_i32(e, 0));
    }
    if (kind == JIT_VRAM) {
        count_lanes(e, a, addr);
    }
    for (unsigned c = 0; c < e->chunks; c++) {
        LLVMValueRef at = host_offset(e, offset[c], kind, c);
        if (a->store) {
            store_lanes(e, a, w.host, at, c);
        } else {
            v[c] = kind == JIT_PRIVATE ? load_lanes(e, a, w.host, at) : load_pattern(e, a, w.host, at);
        }
    }
}

/* All lanes' offsets are the first one's plus stride times the lane index. */
static LLVMValueRef has_stride(struct jit_emit *e, LLVMValueRef const offset[JIT_MAX_CHUNKS],
                               LLVMValueRef first, uint32_t stride)
{
    struct jit_value want = jit_scalar(jit_abs_affine((int32_t)stride, 0), first);
    LLVMValueRef all = NULL;

    for (unsigned c = 0; c < e->chunks; c++) {
        LLVMValueRef same = LLVMBuildICmp(e->b, LLVMIntEQ, offset[c], jit_value_chunk(e, 0, &want, c), "");
        all = all ? LLVMBuildAnd(e->b, all, same, "") : same;
    }
    return jit_all_lanes(e, all);
}

/* Host address of length bytes at offset in the window, checked and counted. */
static LLVMValueRef span(struct jit_emit *e, enum jit_window kind, LLVMValueRef addr, LLVMValueRef offset,
                         uint32_t length)
{
    struct window w = window(e, kind);
    LLVMValueRef end = LLVMBuildAdd(e->b, LLVMBuildZExt(e->b, offset, e->i64, ""), jit_i64(e, length), "");

    jit_require(e, LLVMBuildICmp(e->b, LLVMIntULE, end, w.size, ""));
    if (kind == JIT_VRAM) {
        jit_add_counter(e, e->transactions_var, segments(e, addr, jit_i32(e, length)));
    }
    return offset_pointer(e, w.host, offset);
}

/* The lanes of a full warp are often side by side, or all at one place, though nobody could know before:
 * index arithmetic with divisions. Loaded lanes go to v. */
static void access_tested(struct jit_emit *e, const struct access *a, enum jit_window kind,
                          LLVMValueRef const addr[JIT_MAX_CHUNKS], LLVMValueRef const offset[JIT_MAX_CHUNKS],
                          LLVMValueRef v[JIT_MAX_CHUNKS])
{
    LLVMBasicBlockRef bb[3] = {jit_bb(e, "row"), jit_bb(e, "one"), jit_bb(e, "each")};
    LLVMBasicBlockRef other = jit_bb(e, "other"), done = jit_bb(e, "accessed");
    LLVMValueRef first = LLVMBuildExtractElement(e->b, offset[0], jit_i32(e, 0), ""), part[3][JIT_MAX_CHUNKS];
    LLVMValueRef first_addr = LLVMBuildExtractElement(e->b, addr[0], jit_i32(e, 0), "");

    LLVMBuildCondBr(e->b, has_stride(e, offset, first, a->size), bb[0], other);
    LLVMPositionBuilderAtEnd(e->b, bb[0]);
    LLVMValueRef at = span(e, kind, first_addr, first, a->size * SIMT_LANES);
    for (unsigned c = 0; c < e->chunks; c++) {
        LLVMValueRef chunk = offset_pointer(e, at, jit_i64(e, (uint64_t)c * e->lanes * a->size));
        if (a->store) {
            store_chunk(e, a, stored_chunk(e, a, c), chunk, c);
        } else {
            part[0][c] = load_chunk(e, a, chunk);
        }
    }
    bb[0] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);

    LLVMPositionBuilderAtEnd(e->b, other);
    if (a->store) {
        LLVMBuildBr(e->b, bb[2]);
        LLVMPositionBuilderAtEnd(e->b, bb[1]);
        LLVMBuildUnreachable(e->b);
    } else {
        jit_branch_likely(e, has_stride(e, offset, first, 0), bb[1], bb[2]);
        part[1][0] = jit_splat(e, load_element(e, a, span(e, kind, first_addr, first, a->size)));
        bb[1] = LLVMGetInsertBlock(e->b);
        LLVMBuildBr(e->b, done);
    }

    LLVMPositionBuilderAtEnd(e->b, bb[2]);
    access_each(e, a, kind, addr, offset, part[2]);
    bb[2] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);

    LLVMPositionBuilderAtEnd(e->b, done);
    for (unsigned c = 0; !a->store && c < e->chunks; c++) {
        LLVMValueRef from[] = {part[0][c], part[1][0], part[2][c]};
        v[c] = LLVMBuildPhi(e->b, e->vec, "");
        LLVMAddIncoming(v[c], from, bb, 3);
    }
}

static void access_lanes(struct jit_emit *e, const struct access *a, struct jit_value *base,
                         enum jit_window kind)
{
    struct jit_value v = {.a = loaded(a, JIT_VARYING)};
    LLVMValueRef addr[JIT_MAX_CHUNKS] = {NULL}, offset[JIT_MAX_CHUNKS] = {NULL};

    for (unsigned c = 0; c < e->chunks; c++) {
        addr[c] = lane_address(e, base, a, c);
        offset[c] = LLVMBuildSub(e->b, addr[c], jit_splat_const(e, window(e, kind).base), "");
        if (a->store) {
            stored_chunk(e, a, c); /* in hand before code branches */
        }
    }
    jit_leave(e);
    if (!e->is_masked && kind != JIT_PRIVATE && base->a.kind == JIT_VARYING) {
        access_tested(e, a, kind, addr, offset, v.v);
    } else {
        access_each(e, a, kind, addr, offset, v.v);
    }
    if (!a->store) {
        put_result(e, a, &v);
    }
}

/* ---- slots ---- */

/* A word of the stack that is the same in all lanes, or affine. False: it is not known to be. */
static bool load_slot(struct jit_emit *e, const struct access *a, struct jit_abs addr)
{
    unsigned slot = jit_slot_of(e->variant, addr);
    bool is_float = simt_op_format(a->in->op) == SIMT_FMT_FLOAD;

    if (a->store || a->size != 4 || slot == JIT_SLOTS || e->here.slot[slot].kind == JIT_VARYING ||
        (is_float && e->here.slot[slot].kind == JIT_AFFINE)) {
        return false;
    }
    struct jit_value v = {.a = e->here.slot[slot]};
    v.a.bits = is_float ? JIT_BITS_EXACT : JIT_BITS_ANY;
    v.s = v.a.kind == JIT_CONST ? jit_i32(e, (uint32_t)v.a.value)
                                : LLVMBuildLoad2(e->b, e->i32, jit_slot_word(e, slot, 0), "");
    e->bytes += a->size;
    put_result(e, a, &v);
    return true;
}

/* ---- the control window ---- */

static bool thread_row(uint32_t offset)
{
    return offset == 0x00 || offset == 0x04 || offset == 0x08;
}

static void load_ctrl(struct jit_emit *e, const struct access *a, uint32_t offset)
{
    struct jit_value v = {.a = jit_abs_ctrl(e->variant, offset)};

    if (thread_row(offset)) {
        LLVMValueRef rows = jit_warp_field(e, offsetof(struct simt_warp, thread));
        for (unsigned c = 0; c < e->chunks; c++) {
            LLVMValueRef at = jit_i64(e, offset / 4 * sizeof(simt_row) + c * e->lanes * sizeof(uint32_t));
            LLVMValueRef lanes = LLVMBuildGEP2(e->b, e->i8, rows, &at, 1, "");
            if (v.a.kind != JIT_VARYING) {
                v.s = c == 0 ? LLVMBuildLoad2(e->b, e->i32, lanes, "") : v.s;
            } else {
                v.v[c] = LLVMBuildLoad2(e->b, e->vec, lanes, "");
            }
        }
    } else if (offset == 0x40) {
        v.s = LLVMBuildLoad2(e->b, e->i32, e->index_var, "");
    } else if (offset == 0x44) {
        v.s = jit_i32(e, 0);
    } else if (offset == 0x50) {
        v.s = e->mask;
    } else {
        v.s = LLVMBuildLoad2(e->b, e->i32, jit_frame_field(e, offsetof(struct jit_frame, ctrl) + offset), "");
    }
    e->bytes += a->size;
    put_result(e, a, &v);
}

/* A word of the control window that compiled code reads itself. */
static bool is_ctrl_word(uint32_t offset)
{
    return offset <= 0x50 && (offset & 3) == 0 && (offset >= 0x40 || (offset & 0xf) != 0xc);
}

/* ---- anything, through the interpreter's functions on the register rows ---- */

void jit_emit_help(struct jit_emit *e, const struct simt_insn *in, uint32_t insn)
{
    uint64_t defs = jit_defs(in);
    LLVMTypeRef params[] = {e->ptr, e->i32, e->i32};
    LLVMTypeRef type = LLVMFunctionType(e->i32, params, 3, false);
    LLVMValueRef args[] = {e->frame, jit_i32(e, (uint32_t)(in - e->g->prog->insns)), e->mask};

    e->helps = true;
    e->effects |= e->is_masked && e->masked_in_rows; /* the rows are about to change */
    jit_before(e, insn);
    jit_spill(e, jit_uses(in)); /* as they are: only active lanes are looked at */
    LLVMValueRef fn = LLVMBuildLoad2(e->b, e->ptr, jit_frame_field(e, offsetof(struct jit_frame, help)), "");
    LLVMValueRef failed = LLVMBuildCall2(e->b, type, fn, args, 3, "");
    jit_require(e, LLVMBuildICmp(e->b, LLVMIntEQ, failed, jit_i32(e, 0), ""));
    if (defs) {
        unsigned r = (unsigned)__builtin_ctzll(defs);
        struct jit_value v = {.a = jit_abs_of(JIT_VARYING)};
        v.a.bits = r >= 32 ? JIT_BITS_EXACT : JIT_BITS_ANY;
        for (unsigned c = 0; c < e->chunks; c++) {
            LLVMValueRef at = jit_i64(e, (r & 31) * sizeof(simt_row) + c * e->lanes * sizeof(uint32_t));
            LLVMValueRef row = LLVMBuildGEP2(e->b, e->i8, r < 32 ? e->x_rows : e->f_rows, &at, 1, "");
            v.v[c] = LLVMBuildLoad2(e->b, e->vec, row, "");
        }
        jit_put(e, r, &v);
    }
    e->effects = true;
}

/* ---- the instruction ---- */

static void access_group(struct jit_emit *e, const struct access *a, struct jit_value *base,
                         enum jit_window kind, struct jit_group *group)
{
    bool row = base->a.kind == JIT_AFFINE || kind == JIT_PRIVATE;

    if (!group->checked) {
        check_group(e, group, base, a->in->rs1, kind);
    }
    uint32_t distance = (uint32_t)(a->in->imm - group->low);
    LLVMValueRef at =
        offset_pointer(e, group->host, jit_i64(e, kind == JIT_PRIVATE ? distance * 32ull : distance));
    LLVMValueRef addr =
        LLVMBuildAdd(e->b, jit_value_scalar(e, a->in->rs1, base), jit_i32(e, (uint32_t)a->in->imm), "");

    if (kind == JIT_VRAM) {
        if (row) {
            count_stride(e, addr, a->size);
        } else if (!e->slice_next) {
            bool one = expects_aligned(e, group, base->a, kind);
            jit_add_counter(e, e->transactions_var,
                            one ? jit_i64(e, 1) : segments(e, addr, jit_i32(e, a->size)));
        }
    }
    e->bytes += a->size;
    if (may_stream(e, a, base->a, kind)) {
        stream_row(e, a, at);
    } else if (row) {
        access_row(e, a, at, a->size);
    } else if (a->store) {
        store_uniform(e, a, at);
    } else {
        load_uniform(e, a, at);
    }
}

void jit_emit_memory(struct jit_emit *e, const struct simt_insn *in, uint32_t insn)
{
    struct access a = access_of(e, in);
    struct jit_value *base = jit_get(e, in->rs1);
    struct jit_abs imm = jit_abs_const((uint32_t)in->imm), addr = jit_abs_alu(SIMT_OP_ADD, base->a, imm);
    /* Where the analysis has it, which knows what a store leaves as it was: that is what code has to test. */
    enum jit_window kind = jit_window_of(jit_abs_alu(SIMT_OP_ADD, e->here.reg[in->rs1], imm));
    struct jit_group *group = e->group_of[insn] == UINT32_MAX ? NULL : &e->groups[e->group_of[insn]];
    uint32_t ctrl = (uint32_t)addr.value - SIMT_CTRL_BASE;

    jit_before(e, insn);
    if (kind == JIT_CTRL && addr.kind == JIT_CONST && !a.store && a.size == 4 && is_ctrl_word(ctrl)) {
        load_ctrl(e, &a, ctrl);
        return;
    }
    if (load_slot(e, &a, addr)) {
        return;
    }
    bool uniform = base->a.kind <= JIT_UNIFORM, words = a.size == 4 && in->imm % 4 == 0;
    bool row = base->a.kind == JIT_AFFINE && base->a.value == (int32_t)a.size && kind != JIT_PRIVATE;
    if (kind == JIT_CTRL || kind == JIT_SYNC || (kind == JIT_PRIVATE && !words)) {
        jit_emit_help(e, in, insn);
        return;
    }
    if (group && (row || uniform) && !(kind == JIT_PRIVATE && group->low % 4 != 0)) {
        access_group(e, &a, base, kind, group);
    } else {
        access_lanes(e, &a, base, kind);
        e->bytes += a.size;
    }
    e->effects |= a.store;
}
