/* SPDX-License-Identifier: MIT */
/* Arithmetic: the same builder calls make scalar code for uniform operands and vector code for the rest. */
#include "emit.h"

#include <stddef.h>

#include "../src/fp.h"

#define F(r) (32u + (r))

static bool is_vector(struct jit_emit *e, LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind && e->vec != NULL;
}

static LLVMValueRef constant(struct jit_emit *e, LLVMValueRef like, uint32_t v)
{
    return is_vector(e, like) ? jit_splat_const(e, v) : jit_i32(e, v);
}

static LLVMTypeRef typed(struct jit_emit *e, LLVMValueRef like, LLVMTypeRef scalar)
{
    return is_vector(e, like) ? LLVMVectorType(scalar, e->lanes) : scalar;
}

static LLVMValueRef choose(struct jit_emit *e, LLVMValueRef cond, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(e->b, cond, a, b, "");
}

static LLVMValueRef icmp(struct jit_emit *e, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(e->b, p, a, b, "");
}

/* ---- integers ---- */

static LLVMValueRef truth(struct jit_emit *e, LLVMValueRef cond, LLVMValueRef like)
{
    return LLVMBuildZExt(e->b, cond, LLVMTypeOf(like), "");
}

static LLVMValueRef high_product(struct jit_emit *e, LLVMValueRef a, LLVMValueRef b, bool a_signed,
                                 bool b_signed)
{
    LLVMTypeRef wide = typed(e, a, e->i64);
    LLVMValueRef wa = a_signed ? LLVMBuildSExt(e->b, a, wide, "") : LLVMBuildZExt(e->b, a, wide, "");
    LLVMValueRef wb = b_signed ? LLVMBuildSExt(e->b, b, wide, "") : LLVMBuildZExt(e->b, b, wide, "");
    LLVMValueRef by = LLVMBuildZExt(e->b, constant(e, a, 32), wide, "");
    LLVMValueRef product = LLVMBuildMul(e->b, wa, wb, "");
    return LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, product, by, ""), LLVMTypeOf(a), "");
}

/* Lanes divide in binary64, which holds every 32-bit integer: a quotient below 2^32 that is no integer
 * differs from the next integer by at least 2^-32 of itself, far more than the rounding error, so truncation
 * is exact. */
static LLVMValueRef float_quotient(struct jit_emit *e, LLVMValueRef a, LLVMValueRef b, bool is_signed)
{
    LLVMTypeRef f64 = typed(e, a, LLVMDoubleTypeInContext(e->context));
    LLVMValueRef fa = is_signed ? LLVMBuildSIToFP(e->b, a, f64, "") : LLVMBuildUIToFP(e->b, a, f64, "");
    LLVMValueRef fb = is_signed ? LLVMBuildSIToFP(e->b, b, f64, "") : LLVMBuildUIToFP(e->b, b, f64, "");
    LLVMValueRef q = LLVMBuildFDiv(e->b, fa, fb, "");
    return is_signed ? LLVMBuildFPToSI(e->b, q, LLVMTypeOf(a), "")
                     : LLVMBuildFPToUI(e->b, q, LLVMTypeOf(a), "");
}

/* Division by zero and overflow do not trap: Unprivileged ISA, table 7.1. */
static LLVMValueRef divide(struct jit_emit *e, LLVMValueRef a, LLVMValueRef b, bool is_signed, bool remainder)
{
    LLVMValueRef zero = constant(e, a, 0), one = constant(e, a, 1), ones = constant(e, a, UINT32_MAX);
    LLVMValueRef by_zero = icmp(e, LLVMIntEQ, b, zero), special = by_zero;

    if (is_signed) {
        LLVMValueRef lowest = icmp(e, LLVMIntEQ, a, constant(e, a, 0x80000000u));
        LLVMValueRef overflow = LLVMBuildAnd(e->b, lowest, icmp(e, LLVMIntEQ, b, ones), "");
        special = LLVMBuildOr(e->b, by_zero, overflow, "");
    }
    LLVMValueRef divisor = choose(e, special, one, b);
    LLVMValueRef q = is_vector(e, a) ? float_quotient(e, a, divisor, is_signed)
                     : is_signed     ? LLVMBuildSDiv(e->b, a, divisor, "")
                                     : LLVMBuildUDiv(e->b, a, divisor, "");
    if (!remainder) {
        return choose(e, by_zero, ones, q);
    }
    LLVMValueRef r = LLVMBuildSub(e->b, a, LLVMBuildMul(e->b, q, divisor, ""), "");
    return choose(e, by_zero, a, r);
}

static LLVMValueRef shift_amount(struct jit_emit *e, LLVMValueRef b)
{
    return LLVMBuildAnd(e->b, b, constant(e, b, 31), "");
}

static LLVMValueRef alu(struct jit_emit *e, enum simt_op op, LLVMValueRef a, LLVMValueRef b)
{
    switch (op) {
    case SIMT_OP_ADD:
        return LLVMBuildAdd(e->b, a, b, "");
    case SIMT_OP_SUB:
        return LLVMBuildSub(e->b, a, b, "");
    case SIMT_OP_SLL:
        return LLVMBuildShl(e->b, a, shift_amount(e, b), "");
    case SIMT_OP_SRL:
        return LLVMBuildLShr(e->b, a, shift_amount(e, b), "");
    case SIMT_OP_SRA:
        return LLVMBuildAShr(e->b, a, shift_amount(e, b), "");
    case SIMT_OP_SLT:
        return truth(e, icmp(e, LLVMIntSLT, a, b), a);
    case SIMT_OP_SLTU:
        return truth(e, icmp(e, LLVMIntULT, a, b), a);
    case SIMT_OP_XOR:
        return LLVMBuildXor(e->b, a, b, "");
    case SIMT_OP_OR:
        return LLVMBuildOr(e->b, a, b, "");
    case SIMT_OP_AND:
        return LLVMBuildAnd(e->b, a, b, "");
    case SIMT_OP_MUL:
        return LLVMBuildMul(e->b, a, b, "");
    case SIMT_OP_MULH:
        return high_product(e, a, b, true, true);
    case SIMT_OP_MULHSU:
        return high_product(e, a, b, true, false);
    case SIMT_OP_MULHU:
        return high_product(e, a, b, false, false);
    case SIMT_OP_DIV:
        return divide(e, a, b, true, false);
    case SIMT_OP_DIVU:
        return divide(e, a, b, false, false);
    case SIMT_OP_REM:
        return divide(e, a, b, true, true);
    default:
        return divide(e, a, b, false, true);
    }
}

LLVMValueRef jit_emit_compare(struct jit_emit *e, enum simt_op op, LLVMValueRef a, LLVMValueRef b)
{
    static const LLVMIntPredicate predicate[] = {
        [SIMT_OP_BEQ - SIMT_OP_BEQ] = LLVMIntEQ,   [SIMT_OP_BNE - SIMT_OP_BEQ] = LLVMIntNE,
        [SIMT_OP_BLT - SIMT_OP_BEQ] = LLVMIntSLT,  [SIMT_OP_BGE - SIMT_OP_BEQ] = LLVMIntSGE,
        [SIMT_OP_BLTU - SIMT_OP_BEQ] = LLVMIntULT, [SIMT_OP_BGEU - SIMT_OP_BEQ] = LLVMIntUGE,
    };
    return icmp(e, predicate[op - SIMT_OP_BEQ], a, b);
}

/* First and last lane, whose dividends are the extremes, have the same quotient. */
static void require_one_quotient(struct jit_emit *e, LLVMValueRef base, int32_t stride, LLVMValueRef divisor)
{
    LLVMValueRef last = LLVMBuildAdd(e->b, base, jit_i32(e, (uint32_t)stride * (SIMT_LANES - 1)), "");
    LLVMValueRef ascending = icmp(e, LLVMIntUGE, last, base);
    LLVMValueRef same =
        icmp(e, LLVMIntEQ, alu(e, SIMT_OP_DIVU, base, divisor), alu(e, SIMT_OP_DIVU, last, divisor));
    jit_require(e, LLVMBuildAnd(e->b, ascending, same, ""));
}

/* Integer operation on values: one scalar one for uniform and affine results, else one a chunk. */
static void emit_int(struct jit_emit *e, enum simt_op op, unsigned rd, unsigned rs1, struct jit_value *b,
                     unsigned rs2)
{
    struct jit_value *a = jit_get(e, rs1);
    struct jit_value result = {.a = jit_abs_register_op(e->variant, op, a->a, b->a)};

    if (jit_expects_quotient(e->variant, op, a->a, b->a)) {
        require_one_quotient(e, jit_value_scalar(e, rs1, a), a->a.value, jit_value_scalar(e, rs2, b));
    }

    if (result.a.kind == JIT_CONST) {
        result.s = jit_i32(e, (uint32_t)result.a.value);
    } else if (result.a.kind != JIT_VARYING) {
        result.s = alu(e, op, jit_value_scalar(e, rs1, a), jit_value_scalar(e, rs2, b));
    } else {
        for (unsigned c = e->chunk0; c < e->chunk1; c++) {
            result.v[c] = alu(e, op, jit_value_chunk(e, rs1, a, c), jit_value_chunk(e, rs2, b, c));
        }
    }
    jit_put(e, rd, &result);
}

/* ---- floats ---- */

static LLVMValueRef to_float(struct jit_emit *e, LLVMValueRef bits)
{
    return LLVMBuildBitCast(e->b, bits, typed(e, bits, e->f32), "");
}

static LLVMValueRef to_bits(struct jit_emit *e, LLVMValueRef f)
{
    return LLVMBuildBitCast(e->b, f, typed(e, f, e->i32), "");
}

static LLVMValueRef fused(struct jit_emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
    LLVMValueRef args[] = {a, b, c};
    return jit_intrinsic(e, "llvm.fma", LLVMTypeOf(a), args, 3);
}

static LLVMValueRef unary(struct jit_emit *e, const char *name, LLVMValueRef a)
{
    return jit_intrinsic(e, name, LLVMTypeOf(a), &a, 1);
}

static LLVMValueRef is_nan(struct jit_emit *e, LLVMValueRef f)
{
    return LLVMBuildFCmp(e->b, LLVMRealUNO, f, f, "");
}

/* A constant that compares by its value with everything but NaN: neither NaN nor zero, in no lane. */
static bool is_plain_constant(struct jit_emit *e, LLVMValueRef v)
{
    bool vector = LLVMIsAConstantDataVector(v) != NULL;

    for (unsigned i = 0; i < (vector ? e->lanes : 1); i++) {
        LLVMValueRef lane = vector ? LLVMGetAggregateElement(v, i) : v;
        uint32_t magnitude =
            LLVMIsAConstantInt(lane) ? (uint32_t)LLVMConstIntGetZExtValue(lane) & ~SIMT_F32_SIGN : 0;
        if (magnitude == 0 || magnitude > SIMT_F32_INF) {
            return false;
        }
    }
    return true;
}

/* minimumNumber and maximumNumber (Unprivileged ISA, 11.6): the other operand when one is NaN, -0 below +0.
 */
static LLVMValueRef min_max(struct jit_emit *e, LLVMValueRef a, LLVMValueRef b, bool max)
{
    if (is_plain_constant(e, a)) {
        LLVMValueRef constant = a;
        a = b;
        b = constant;
    }
    LLVMValueRef fa = to_float(e, a), fb = to_float(e, b);
    LLVMValueRef before = LLVMBuildFCmp(e->b, max ? LLVMRealOGT : LLVMRealOLT, fa, fb, "");
    if (is_plain_constant(e, b)) {
        return choose(e, before, a, b);
    }
    LLVMValueRef equal = LLVMBuildFCmp(e->b, LLVMRealOEQ, fa, fb, "");
    LLVMValueRef zero = max ? LLVMBuildAnd(e->b, a, b, "") : LLVMBuildOr(e->b, a, b, "");
    LLVMValueRef r = choose(e, before, a, choose(e, equal, zero, b));
    return choose(e, is_nan(e, fb), a, r);
}

/* x86 and ARM saturate differently; LLVM's saturating conversions give 0 for NaN, RISC-V the largest value.
 */
static LLVMValueRef float_to_int(struct jit_emit *e, LLVMValueRef f, unsigned rm, bool is_signed)
{
    static const char *const round[] = {"llvm.roundeven", NULL, "llvm.floor", "llvm.ceil", "llvm.round"};
    LLVMTypeRef result = typed(e, f, e->i32), overloads[] = {result, LLVMTypeOf(f)};
    const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    unsigned id = LLVMLookupIntrinsicID(name, 15);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, overloads, 2);
    rm = rm == SIMT_RM_DYN ? SIMT_RNE : rm;
    LLVMValueRef rounded = round[rm] ? unary(e, round[rm], f) : f;
    LLVMValueRef r =
        LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->context, id, overloads, 2), fn, &rounded, 1, "");
    LLVMValueRef like = to_bits(e, f);
    return choose(e, is_nan(e, f), constant(e, like, is_signed ? INT32_MAX : UINT32_MAX), r);
}

/* Table 11.5; for each class the test that selects it. */
static LLVMValueRef classify(struct jit_emit *e, LLVMValueRef a)
{
    LLVMValueRef magnitude = LLVMBuildAnd(e->b, a, constant(e, a, 0x7fffffffu), "");
    LLVMValueRef negative = icmp(e, LLVMIntSLT, a, constant(e, a, 0));
    LLVMValueRef r = choose(e, negative, constant(e, a, 1u << 1), constant(e, a, 1u << 6));
    LLVMValueRef below_normal = icmp(e, LLVMIntULT, magnitude, constant(e, a, 0x00800000u));
    LLVMValueRef zero = icmp(e, LLVMIntEQ, magnitude, constant(e, a, 0));
    LLVMValueRef infinite = icmp(e, LLVMIntEQ, magnitude, constant(e, a, SIMT_F32_INF));
    LLVMValueRef nan = icmp(e, LLVMIntUGT, magnitude, constant(e, a, SIMT_F32_INF));
    LLVMValueRef quiet = icmp(e, LLVMIntUGE, magnitude, constant(e, a, SIMT_F32_NAN));

    r = choose(e, below_normal, choose(e, negative, constant(e, a, 1u << 2), constant(e, a, 1u << 5)), r);
    r = choose(e, zero, choose(e, negative, constant(e, a, 1u << 3), constant(e, a, 1u << 4)), r);
    r = choose(e, infinite, choose(e, negative, constant(e, a, 1u << 0), constant(e, a, 1u << 7)), r);
    return choose(e, nan, choose(e, quiet, constant(e, a, 1u << 9), constant(e, a, 1u << 8)), r);
}

static LLVMValueRef sign_inject(struct jit_emit *e, enum simt_op op, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef sign = LLVMBuildAnd(e->b, op == SIMT_OP_FSGNJN ? LLVMBuildNot(e->b, b, "") : b,
                                     constant(e, b, SIMT_F32_SIGN), "");
    if (op == SIMT_OP_FSGNJX) {
        return LLVMBuildXor(e->b, a, sign, "");
    }
    return LLVMBuildOr(e->b, LLVMBuildAnd(e->b, a, constant(e, a, ~SIMT_F32_SIGN), ""), sign, "");
}

/* Operands and result are bit patterns. */
static LLVMValueRef fp(struct jit_emit *e, const struct simt_insn *in, LLVMValueRef a, LLVMValueRef b,
                       LLVMValueRef c)
{
    LLVMBuilderRef k = e->b;
    LLVMTypeRef f32 = typed(e, a, e->f32);

    switch (in->op) {
    case SIMT_OP_FMADD:
        return to_bits(e, fused(e, to_float(e, a), to_float(e, b), to_float(e, c)));
    case SIMT_OP_FMSUB:
        return to_bits(e, fused(e, to_float(e, a), to_float(e, b), LLVMBuildFNeg(k, to_float(e, c), "")));
    case SIMT_OP_FNMSUB:
        return to_bits(e, fused(e, LLVMBuildFNeg(k, to_float(e, a), ""), to_float(e, b), to_float(e, c)));
    case SIMT_OP_FNMADD:
        return to_bits(e, fused(e, LLVMBuildFNeg(k, to_float(e, a), ""), to_float(e, b),
                                LLVMBuildFNeg(k, to_float(e, c), "")));
    case SIMT_OP_FADD:
        return to_bits(e, LLVMBuildFAdd(k, to_float(e, a), to_float(e, b), ""));
    case SIMT_OP_FSUB:
        return to_bits(e, LLVMBuildFSub(k, to_float(e, a), to_float(e, b), ""));
    case SIMT_OP_FMUL:
        return to_bits(e, LLVMBuildFMul(k, to_float(e, a), to_float(e, b), ""));
    case SIMT_OP_FDIV:
        return to_bits(e, LLVMBuildFDiv(k, to_float(e, a), to_float(e, b), ""));
    case SIMT_OP_FSQRT:
        return to_bits(e, unary(e, "llvm.sqrt", to_float(e, a)));
    case SIMT_OP_FSGNJ:
    case SIMT_OP_FSGNJN:
    case SIMT_OP_FSGNJX:
        return sign_inject(e, in->op, a, b);
    case SIMT_OP_FMIN:
    case SIMT_OP_FMAX:
        return min_max(e, a, b, in->op == SIMT_OP_FMAX);
    case SIMT_OP_FEQ:
        return truth(e, LLVMBuildFCmp(k, LLVMRealOEQ, to_float(e, a), to_float(e, b), ""), a);
    case SIMT_OP_FLT:
        return truth(e, LLVMBuildFCmp(k, LLVMRealOLT, to_float(e, a), to_float(e, b), ""), a);
    case SIMT_OP_FLE:
        return truth(e, LLVMBuildFCmp(k, LLVMRealOLE, to_float(e, a), to_float(e, b), ""), a);
    case SIMT_OP_FCVT_W:
    case SIMT_OP_FCVT_WU:
        return float_to_int(e, to_float(e, a), in->rm, in->op == SIMT_OP_FCVT_W);
    case SIMT_OP_FCVT_S_W:
        return to_bits(e, LLVMBuildSIToFP(k, a, f32, ""));
    case SIMT_OP_FCVT_S_WU:
        return to_bits(e, LLVMBuildUIToFP(k, a, f32, ""));
    case SIMT_OP_FCLASS:
        return classify(e, a);
    default: /* FMV_X, FMV_W */
        return a;
    }
}

/* The instruction sees the bits of its operands, not only their values. */
static bool sees_bits(enum simt_op op)
{
    return op == SIMT_OP_FSGNJ || op == SIMT_OP_FSGNJN || op == SIMT_OP_FSGNJX || op == SIMT_OP_FMV_X ||
           op == SIMT_OP_FCLASS;
}

static LLVMValueRef operand(struct jit_emit *e, const struct simt_insn *in, unsigned r, bool scalar,
                            unsigned c)
{
    struct jit_value *v = jit_get(e, r);
    LLVMValueRef bits = scalar ? jit_value_scalar(e, r, v) : jit_value_chunk(e, r, v, c);
    return sees_bits(in->op) && v->a.bits == JIT_BITS_RAW ? jit_canonical(e, bits) : bits;
}

static LLVMValueRef fp_part(struct jit_emit *e, const struct simt_insn *in, bool scalar, unsigned c)
{
    enum simt_format format = simt_op_format(in->op);
    bool from_int = format == SIMT_FMT_X2F || format == SIMT_FMT_XMVF;
    bool two =
        format == SIMT_FMT_FR || format == SIMT_FMT_FF || format == SIMT_FMT_FCMP || format == SIMT_FMT_FR4;
    LLVMValueRef a = operand(e, in, from_int ? in->rs1 : F(in->rs1), scalar, c);
    LLVMValueRef b = two ? operand(e, in, F(in->rs2), scalar, c) : NULL;
    LLVMValueRef d = format == SIMT_FMT_FR4 ? operand(e, in, F(in->rs3), scalar, c) : NULL;
    return fp(e, in, a, b, d);
}

/* Make sure the abstract states of the operands are in e->regs, and return the result's. */
static struct jit_abs abs_of_result(struct jit_emit *e, const struct simt_insn *in, uint32_t pc)
{
    uint64_t uses = jit_uses(in);
    struct jit_state s;

    for (unsigned r = 0; r < JIT_REGS; r++) {
        s.reg[r] = (uses >> r & 1) || r == 0 ? jit_get(e, r)->a : (struct jit_abs){0};
    }
    return jit_abs_insn(e->variant, &s, in, pc);
}

static void emit_fp(struct jit_emit *e, const struct simt_insn *in, uint32_t pc)
{
    struct jit_value result = {.a = abs_of_result(e, in, pc)};
    unsigned rd = simt_writes_x(in) ? in->rd : F(in->rd);

    if (in->op == SIMT_OP_FSGNJ && in->rs1 == in->rs2) {
        result = jit_get_copy(e, F(in->rs1));
    } else if (result.a.kind != JIT_VARYING) {
        result.s = fp_part(e, in, true, 0);
    } else {
        for (unsigned c = e->chunk0; c < e->chunk1; c++) {
            result.v[c] = fp_part(e, in, false, c);
        }
    }
    jit_put(e, rd == SIMT_X_SINK && simt_writes_x(in) ? 0 : rd, &result);
}

static LLVMValueRef frame_value(struct jit_emit *e, LLVMTypeRef type, size_t offset)
{
    return LLVMBuildLoad2(e->b, type, jit_frame_field(e, offset), "");
}

static struct jit_value read_mhartid(struct jit_emit *e)
{
    LLVMValueRef block = frame_value(e, e->i32, offsetof(struct jit_frame, hart_base));
    LLVMValueRef index = LLVMBuildLoad2(e->b, e->i32, e->index_var, "");
    LLVMValueRef lane0 = LLVMBuildMul(e->b, index, jit_i32(e, SIMT_LANES), "");
    return jit_scalar(jit_abs_affine(1, 5), LLVMBuildAdd(e->b, block, lane0, ""));
}

/* Half of the lanes' counts of retired instructions. before: those of the node before this one. Only in full
 * bodies, where all lanes retire the same. */
static struct jit_value read_counter(struct jit_emit *e, uint32_t before, bool upper)
{
    struct jit_value v = {.a = jit_abs_of(JIT_VARYING)};
    LLVMTypeRef wide = LLVMVectorType(e->i64, e->lanes);
    LLVMValueRef rows = frame_value(e, e->ptr, offsetof(struct jit_frame, instret));
    LLVMValueRef path = frame_value(e, e->i64, offsetof(struct jit_frame, retired));

    path = LLVMBuildAdd(e->b, path, LLVMBuildLoad2(e->b, e->i64, e->insns_var, ""), "");
    path = LLVMBuildAdd(e->b, path, jit_i64(e, before), "");
    for (unsigned c = 0; c < e->chunks; c++) {
        LLVMValueRef at = jit_i64(e, c * e->lanes * sizeof(uint64_t)), lanes = LLVMGetUndef(wide);
        LLVMValueRef row = LLVMBuildGEP2(e->b, e->i8, rows, &at, 1, "");
        LLVMValueRef base = LLVMBuildLoad2(e->b, wide, row, "");
        LLVMSetAlignment(base, sizeof(uint64_t));
        for (unsigned i = 0; i < e->lanes; i++) {
            lanes = LLVMBuildInsertElement(e->b, lanes, path, jit_i32(e, i), "");
        }
        lanes = LLVMBuildAdd(e->b, base, lanes, "");
        if (upper) {
            LLVMValueRef by = LLVMBuildZExt(e->b, jit_splat_const(e, 32), wide, "");
            lanes = LLVMBuildLShr(e->b, lanes, by, "");
        }
        v.v[c] = LLVMBuildTrunc(e->b, lanes, e->vec, "");
    }
    return v;
}

/* mhartid and the counters; kernels that use others are not compiled. */
static void emit_csr(struct jit_emit *e, const struct simt_insn *in, uint32_t pc)
{
    bool upper = in->imm == SIMT_CSR_CYCLEH || in->imm == SIMT_CSR_INSTRETH;
    uint32_t before = (pc - e->g->nodes[e->node].pc) / 4;
    struct jit_value v = in->imm == SIMT_CSR_MHARTID ? read_mhartid(e) : read_counter(e, before, upper);

    jit_put(e, in->rd == SIMT_X_SINK ? 0 : in->rd, &v);
}

void jit_emit_alu(struct jit_emit *e, const struct simt_insn *in, uint32_t pc)
{
    unsigned rd = in->rd == SIMT_X_SINK ? 0 : in->rd;
    struct jit_value imm;

    switch (simt_op_format(in->op)) {
    case SIMT_FMT_R:
        imm = *jit_get(e, in->rs2);
        emit_int(e, in->op, rd, in->rs1, &imm, in->rs2);
        break;
    case SIMT_FMT_I:
    case SIMT_FMT_SHIFT:
        imm = jit_const(e, (uint32_t)in->imm);
        emit_int(e, jit_base_op(in->op), rd, in->rs1, &imm, 0);
        break;
    case SIMT_FMT_U:
        imm = jit_const(e, (uint32_t)in->imm + (in->op == SIMT_OP_AUIPC ? pc : 0));
        jit_put(e, rd, &imm);
        break;
    case SIMT_FMT_J:
    case SIMT_FMT_JALR:
        imm = jit_const(e, pc + 4);
        jit_put(e, rd, &imm);
        break;
    case SIMT_FMT_CSR:
    case SIMT_FMT_CSRI:
        emit_csr(e, in, pc);
        break;
    case SIMT_FMT_FENCE:
        LLVMBuildFence(e->b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
        break;
    default:
        emit_fp(e, in, pc);
        break;
    }
}
