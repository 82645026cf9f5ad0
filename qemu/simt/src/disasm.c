/* SPDX-License-Identifier: MIT */
#include "disasm.h"

#include <stdio.h>

#include "decode.h"

static const char *const x_names[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                        "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                        "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

static const char *const f_names[32] = {"ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5", "ft6",  "ft7",
                                        "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
                                        "fa6", "fa7", "fs2",  "fs3",  "fs4", "fs5", "fs6",  "fs7",
                                        "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

const char *simt_x_name(unsigned reg)
{
    return x_names[reg & 31];
}

const char *simt_f_name(unsigned reg)
{
    return f_names[reg & 31];
}

/* The rounding mode as a last operand; nothing for dynamic rounding. */
static const char *rm_suffix(unsigned rm)
{
    static const char *const names[8] = {",rne", ",rtz", ",rdn", ",rup", ",rmm", "", "", ""};
    return names[rm];
}

static const char *csr_name(int32_t csr)
{
    switch (csr) {
    case SIMT_CSR_FFLAGS:
        return "fflags";
    case SIMT_CSR_FRM:
        return "frm";
    case SIMT_CSR_FCSR:
        return "fcsr";
    case SIMT_CSR_CYCLE:
        return "cycle";
    case SIMT_CSR_INSTRET:
        return "instret";
    case SIMT_CSR_CYCLEH:
        return "cycleh";
    case SIMT_CSR_INSTRETH:
        return "instreth";
    default:
        return "mhartid";
    }
}

static const char *ordering_suffix(uint32_t word)
{
    static const char *const names[4] = {"", ".rl", ".aq", ".aqrl"};
    return names[word >> 25 & 3];
}

/* "iorw" subsets of a fence's predecessor or successor set. */
static const char *fence_set(unsigned bits)
{
    static const char *const names[16] = {"unknown", "w",  "r",  "rw",  "o",  "ow",  "or",  "orw",
                                          "i",       "iw", "ir", "irw", "io", "iow", "ior", "iorw"};
    return names[bits & 15];
}

int simt_disasm(uint32_t pc, uint32_t word, char *buf, size_t len)
{
    struct simt_insn in = simt_decode(word);
    const char *m = simt_op_mnemonic(in.op);
    const char *xd = x_names[in.rd], *x1 = x_names[in.rs1], *x2 = x_names[in.rs2];
    const char *fd = f_names[in.rd], *f1 = f_names[in.rs1], *f2 = f_names[in.rs2], *f3 = f_names[in.rs3];
    uint32_t target = pc + (uint32_t)in.imm;

    if (in.op == SIMT_OP_ILLEGAL) {
        return snprintf(buf, len, ".word 0x%08x", word);
    }
    switch (simt_op_format(in.op)) {
    case SIMT_FMT_R:
        return snprintf(buf, len, "%s %s,%s,%s", m, xd, x1, x2);
    case SIMT_FMT_I:
        return snprintf(buf, len, "%s %s,%s,%d", m, xd, x1, in.imm);
    case SIMT_FMT_SHIFT:
        return snprintf(buf, len, "%s %s,%s,0x%x", m, xd, x1, (unsigned)in.imm);
    case SIMT_FMT_LOAD:
    case SIMT_FMT_JALR:
        return snprintf(buf, len, "%s %s,%d(%s)", m, xd, in.imm, x1);
    case SIMT_FMT_FLOAD:
        return snprintf(buf, len, "%s %s,%d(%s)", m, fd, in.imm, x1);
    case SIMT_FMT_STORE:
        return snprintf(buf, len, "%s %s,%d(%s)", m, x2, in.imm, x1);
    case SIMT_FMT_FSTORE:
        return snprintf(buf, len, "%s %s,%d(%s)", m, f2, in.imm, x1);
    case SIMT_FMT_B:
        return snprintf(buf, len, "%s %s,%s,0x%x", m, x1, x2, target);
    case SIMT_FMT_U:
        return snprintf(buf, len, "%s %s,0x%x", m, xd, (uint32_t)in.imm >> 12);
    case SIMT_FMT_J:
        return snprintf(buf, len, "%s %s,0x%x", m, xd, target);
    case SIMT_FMT_FENCE:
        return snprintf(buf, len, "%s %s,%s", m, fence_set(word >> 24), fence_set(word >> 20));
    case SIMT_FMT_NONE:
        return snprintf(buf, len, "%s", m);
    case SIMT_FMT_CSR:
        return snprintf(buf, len, "%s %s,%s,%s", m, xd, csr_name(in.imm), x1);
    case SIMT_FMT_CSRI:
        return snprintf(buf, len, "%s %s,%s,%u", m, xd, csr_name(in.imm), in.rs1);
    case SIMT_FMT_AMO:
        return snprintf(buf, len, "%s%s %s,%s,(%s)", m, ordering_suffix(word), xd, x2, x1);
    case SIMT_FMT_LR:
        return snprintf(buf, len, "%s%s %s,(%s)", m, ordering_suffix(word), xd, x1);
    case SIMT_FMT_FR:
        return snprintf(buf, len, "%s %s,%s,%s%s", m, fd, f1, f2, rm_suffix(in.rm));
    case SIMT_FMT_FR4:
        return snprintf(buf, len, "%s %s,%s,%s,%s%s", m, fd, f1, f2, f3, rm_suffix(in.rm));
    case SIMT_FMT_FR1:
        return snprintf(buf, len, "%s %s,%s%s", m, fd, f1, rm_suffix(in.rm));
    case SIMT_FMT_FF:
        return snprintf(buf, len, "%s %s,%s,%s", m, fd, f1, f2);
    case SIMT_FMT_FCMP:
        return snprintf(buf, len, "%s %s,%s,%s", m, xd, f1, f2);
    case SIMT_FMT_F2X:
        return snprintf(buf, len, "%s %s,%s%s", m, xd, f1, rm_suffix(in.rm));
    case SIMT_FMT_X2F:
        return snprintf(buf, len, "%s %s,%s%s", m, fd, x1, rm_suffix(in.rm));
    case SIMT_FMT_FMVX:
        return snprintf(buf, len, "%s %s,%s", m, xd, f1);
    case SIMT_FMT_XMVF:
        return snprintf(buf, len, "%s %s,%s", m, fd, x1);
    case SIMT_FMT_NARROW:
        return snprintf(buf, len, "%s %s,%s", m, fd, f1);
    }
    return -1;
}
