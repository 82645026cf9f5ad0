/* SPDX-License-Identifier: MIT */
#include "soft.h"

#include "fp.h"
#include "narrow.h"

/* One lane of an arithmetic instruction; x is the integer operand of a convert. */
static uint32_t soft_lane(const struct simt_insn *in, uint32_t a, uint32_t b, uint32_t c, uint32_t x,
                          enum simt_rm rm, uint32_t *flags)
{
    switch ((enum simt_op)in->op) {
    case SIMT_OP_FMADD:
        return simt_f32_fma(a, b, c, rm, flags);
    case SIMT_OP_FMSUB:
        return simt_f32_fma(a, b, c ^ SIMT_F32_SIGN, rm, flags);
    case SIMT_OP_FNMSUB:
        return simt_f32_fma(a ^ SIMT_F32_SIGN, b, c, rm, flags);
    case SIMT_OP_FNMADD:
        return simt_f32_fma(a ^ SIMT_F32_SIGN, b, c ^ SIMT_F32_SIGN, rm, flags);
    case SIMT_OP_FADD:
        return simt_f32_add(a, b, rm, flags);
    case SIMT_OP_FSUB:
        return simt_f32_sub(a, b, rm, flags);
    case SIMT_OP_FMUL:
        return simt_f32_mul(a, b, rm, flags);
    case SIMT_OP_FDIV:
        return simt_f32_div(a, b, rm, flags);
    case SIMT_OP_FSQRT:
        return simt_f32_sqrt(a, rm, flags);
    case SIMT_OP_FMIN:
        return simt_f32_min(a, b, flags);
    case SIMT_OP_FMAX:
        return simt_f32_max(a, b, flags);
    case SIMT_OP_FEQ:
        return simt_f32_eq(a, b, flags);
    case SIMT_OP_FLT:
        return simt_f32_lt(a, b, flags);
    case SIMT_OP_FLE:
        return simt_f32_le(a, b, flags);
    case SIMT_OP_FCVT_W:
        return simt_f32_to_i32(a, rm, flags);
    case SIMT_OP_FCVT_WU:
        return simt_f32_to_u32(a, rm, flags);
    case SIMT_OP_FCVT_S_W:
        return simt_i32_to_f32(x, rm, flags);
    case SIMT_OP_FCVT_S_WU:
        return simt_u32_to_f32(x, rm, flags);
    default:
        __builtin_unreachable();
    }
}

static bool has_rm(const struct simt_insn *in)
{
    enum simt_format format = simt_op_format(in->op);
    return format != SIMT_FMT_FF && format != SIMT_FMT_FCMP;
}

uint32_t simt_soft_fp(struct simt_warp *w, uint32_t mask, const struct simt_insn *in)
{
    bool dynamic = has_rm(in) && in->rm == SIMT_RM_DYN;
    uint32_t *dst = simt_writes_x(in) ? w->x[in->rd] : w->f[in->rd];
    uint32_t illegal = 0;

    if (dynamic) {
        EACH_LANE (mask, l) {
            illegal |= (uint32_t)(w->frm[l] > SIMT_RMM) << l;
        }
        if (illegal) {
            return illegal;
        }
    }
    EACH_LANE (mask, l) {
        enum simt_rm rm = dynamic ? w->frm[l] : in->rm;
        dst[l] = soft_lane(in, w->f[in->rs1][l], w->f[in->rs2][l], w->f[in->rs3][l], w->x[in->rs1][l], rm,
                           &w->fflags[l]);
    }
    return 0;
}

static uint32_t narrow_lane(enum simt_op op, uint32_t a)
{
    switch (op) {
    case SIMT_OP_FCVT_S_BF16:
        return simt_bf16_to_f32(a);
    case SIMT_OP_FCVT_BF16_S:
        return simt_f32_to_bf16(a);
    case SIMT_OP_FCVT_S_E4M3:
        return simt_e4m3_to_f32(a);
    case SIMT_OP_FCVT_E4M3_S:
        return simt_f32_to_e4m3(a);
    case SIMT_OP_FCVT_S_E5M2:
        return simt_e5m2_to_f32(a);
    case SIMT_OP_FCVT_E5M2_S:
        return simt_f32_to_e5m2(a);
    case SIMT_OP_FCVT_S_E2M1:
        return simt_e2m1_to_f32(a);
    default:
        return simt_f32_to_e2m1(a);
    }
}

void simt_soft_narrow(struct simt_warp *w, uint32_t mask, const struct simt_insn *in)
{
    EACH_LANE (mask, l) {
        w->f[in->rd][l] = narrow_lane(in->op, w->f[in->rs1][l]);
    }
}

uint32_t simt_mhartid(const struct simt_cu *cu, const struct simt_warp *w, uint32_t lane)
{
    return (uint32_t)cu->block_linear * SIMT_HARTS_A_BLOCK | w->index << 5 | lane;
}

/* Bits of fcsr (fflags in 4:0, frm in 7:5) that a CSR address shows, and where. */
static uint32_t csr_read(const struct simt_cu *cu, const struct simt_warp *w, uint32_t lane, int32_t csr,
                         uint64_t retired)
{
    uint64_t instret = w->tree.instret[lane] + retired;
    switch (csr) {
    case SIMT_CSR_FFLAGS:
        return w->fflags[lane];
    case SIMT_CSR_FRM:
        return w->frm[lane];
    case SIMT_CSR_FCSR:
        return w->frm[lane] << 5 | w->fflags[lane];
    case SIMT_CSR_CYCLE:
    case SIMT_CSR_INSTRET:
        return (uint32_t)instret;
    case SIMT_CSR_CYCLEH:
    case SIMT_CSR_INSTRETH:
        return (uint32_t)(instret >> 32);
    default:
        return simt_mhartid(cu, w, lane);
    }
}

static void csr_write(struct simt_warp *w, uint32_t lane, int32_t csr, uint32_t value)
{
    if (csr == SIMT_CSR_FRM) {
        w->frm[lane] = value & 7;
        return;
    }
    w->fflags[lane] = value & 0x1f;
    if (csr == SIMT_CSR_FCSR) {
        w->frm[lane] = value >> 5 & 7;
    }
}

static uint32_t csr_new_value(enum simt_op op, uint32_t old, uint32_t operand)
{
    switch (op) {
    case SIMT_OP_CSRRW:
    case SIMT_OP_CSRRWI:
        return operand;
    case SIMT_OP_CSRRS:
    case SIMT_OP_CSRRSI:
        return old | operand;
    default:
        return old & ~operand;
    }
}

void simt_soft_csr(struct simt_cu *cu, struct simt_warp *w, uint32_t mask, const struct simt_insn *in,
                   uint64_t retired)
{
    bool immediate = simt_op_format(in->op) == SIMT_FMT_CSRI;
    bool writes = in->op == SIMT_OP_CSRRW || in->op == SIMT_OP_CSRRWI || in->rs1 != 0;

    EACH_LANE (mask, l) {
        uint32_t old = csr_read(cu, w, l, in->imm, retired);
        uint32_t operand = immediate ? in->rs1 : w->x[in->rs1][l];
        if (writes) {
            csr_write(w, l, in->imm, csr_new_value(in->op, old, operand));
        }
        w->x[in->rd][l] = old;
    }
    if (writes) {
        simt_update_rm_mode(cu, w);
    }
}

/* Static modes other than RMM are always host-roundable; the dynamic one when all lanes agree on it. */
void simt_update_rm_mode(const struct simt_cu *cu, struct simt_warp *w)
{
    uint32_t frm = w->frm[0];
    bool uniform = frm <= SIMT_RUP;

    for (unsigned l = 1; l < SIMT_LANES; l++) {
        uniform &= w->frm[l] == frm;
    }
    for (unsigned rm = 0; rm < 8; rm++) {
        w->rm_mode[rm] = rm <= SIMT_RUP && !cu->track_flags ? (uint8_t)rm : SIMT_RM_SOFT;
    }
    w->rm_mode[SIMT_RM_DYN] = uniform && !cu->track_flags ? (uint8_t)frm : SIMT_RM_SOFT;
}
