/* SPDX-License-Identifier: MIT */
#include "decode.h"

#include "fp.h"

#include <stddef.h>

struct op_info {
    uint32_t mask, match;
    const char *mnemonic;
    enum simt_format format;
};

static const struct op_info op_table[] = {
#define X(name, mnemonic, mask, match, format) {mask, match, mnemonic, SIMT_FMT_##format},
    SIMT_OPS(X)
#undef X
};

enum { OP_TABLE_SIZE = sizeof(op_table) / sizeof(op_table[0]) };

static int32_t sign_extend(uint32_t value, unsigned bits)
{
    return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

static int32_t imm_i(uint32_t w)
{
    return sign_extend(w >> 20, 12);
}

static int32_t imm_s(uint32_t w)
{
    return sign_extend((w >> 25) << 5 | ((w >> 7) & 0x1f), 12);
}

static int32_t imm_b(uint32_t w)
{
    return sign_extend(
        (w >> 31) << 12 | ((w >> 7) & 1) << 11 | ((w >> 25) & 0x3f) << 5 | ((w >> 8) & 0xf) << 1, 13);
}

static int32_t imm_j(uint32_t w)
{
    return sign_extend(
        (w >> 31) << 20 | ((w >> 12) & 0xff) << 12 | ((w >> 20) & 1) << 11 | ((w >> 21) & 0x3ff) << 1, 21);
}

static int32_t immediate(uint32_t w, enum simt_format format)
{
    switch (format) {
    case SIMT_FMT_I:
    case SIMT_FMT_LOAD:
    case SIMT_FMT_FLOAD:
    case SIMT_FMT_JALR:
        return imm_i(w);
    case SIMT_FMT_SHIFT:
        return (int32_t)((w >> 20) & 0x1f);
    case SIMT_FMT_STORE:
    case SIMT_FMT_FSTORE:
        return imm_s(w);
    case SIMT_FMT_B:
        return imm_b(w);
    case SIMT_FMT_U:
        return (int32_t)(w & 0xfffff000u);
    case SIMT_FMT_J:
        return imm_j(w);
    case SIMT_FMT_CSR:
    case SIMT_FMT_CSRI:
        return (int32_t)(w >> 20);
    default:
        return 0;
    }
}

static bool format_has_rm(enum simt_format format)
{
    return format == SIMT_FMT_FR || format == SIMT_FMT_FR4 || format == SIMT_FMT_FR1 ||
           format == SIMT_FMT_F2X || format == SIMT_FMT_X2F;
}

static bool csr_writable(uint32_t csr)
{
    return csr == SIMT_CSR_FFLAGS || csr == SIMT_CSR_FRM || csr == SIMT_CSR_FCSR;
}

static bool csr_exists(uint32_t csr)
{
    return csr_writable(csr) || csr == SIMT_CSR_CYCLE || csr == SIMT_CSR_CYCLEH || csr == SIMT_CSR_INSTRET ||
           csr == SIMT_CSR_INSTRETH || csr == SIMT_CSR_MHARTID;
}

/* csrrs and csrrc with rs1 = x0 (or immediate 0) do not write: Unprivileged ISA, chapter 9. */
static bool csr_legal(const struct simt_insn *in)
{
    bool swap = in->op == SIMT_OP_CSRRW || in->op == SIMT_OP_CSRRWI;
    bool writes = swap || in->rs1 != 0;
    return csr_exists((uint32_t)in->imm) && (!writes || csr_writable((uint32_t)in->imm));
}

static bool legal(const struct simt_insn *in, enum simt_format format)
{
    if (format_has_rm(format)) {
        return in->rm <= 4 || in->rm == SIMT_RM_DYN;
    }
    if (format == SIMT_FMT_CSR || format == SIMT_FMT_CSRI) {
        return csr_legal(in);
    }
    return true;
}

/* Index of the first table entry with this major opcode, or the table's size. */
static unsigned first_of_opcode(uint32_t opcode)
{
    unsigned lo = 0, hi = OP_TABLE_SIZE;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if ((op_table[mid].match & 0x7f) < opcode) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

struct simt_insn simt_decode(uint32_t word)
{
    struct simt_insn in = {.op = SIMT_OP_ILLEGAL, .word = word};
    uint32_t opcode = word & 0x7f;

    for (unsigned i = first_of_opcode(opcode); i < OP_TABLE_SIZE && (op_table[i].match & 0x7f) == opcode;
         i++) {
        if ((word & op_table[i].mask) != op_table[i].match) {
            continue;
        }
        in.op = (uint16_t)i;
        in.rd = (word >> 7) & 0x1f;
        in.rs1 = (word >> 15) & 0x1f;
        in.rs2 = (word >> 20) & 0x1f;
        in.rs3 = (uint8_t)(word >> 27);
        in.rm = (word >> 12) & 7;
        in.imm = immediate(word, op_table[i].format);
        if (!legal(&in, op_table[i].format)) {
            in.op = SIMT_OP_ILLEGAL;
        }
        break;
    }
    return in;
}

const char *simt_op_mnemonic(enum simt_op op)
{
    return op < SIMT_OP_ILLEGAL ? op_table[op].mnemonic : "illegal";
}

enum simt_format simt_op_format(enum simt_op op)
{
    return op < SIMT_OP_ILLEGAL ? op_table[op].format : SIMT_FMT_NONE;
}

bool simt_writes_x(const struct simt_insn *in)
{
    switch (simt_op_format(in->op)) {
    case SIMT_FMT_R:
    case SIMT_FMT_I:
    case SIMT_FMT_SHIFT:
    case SIMT_FMT_LOAD:
    case SIMT_FMT_U:
    case SIMT_FMT_J:
    case SIMT_FMT_JALR:
    case SIMT_FMT_CSR:
    case SIMT_FMT_CSRI:
    case SIMT_FMT_AMO:
    case SIMT_FMT_LR:
    case SIMT_FMT_FCMP:
    case SIMT_FMT_F2X:
    case SIMT_FMT_FMVX:
        return true;
    default:
        return false;
    }
}

bool simt_is_branch(enum simt_op op)
{
    return op >= SIMT_OP_BEQ && op <= SIMT_OP_BGEU;
}

bool simt_is_terminator(enum simt_op op)
{
    return simt_is_branch(op) || op == SIMT_OP_JAL || op == SIMT_OP_JALR || op == SIMT_OP_EBREAK ||
           op == SIMT_OP_ILLEGAL;
}

static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

/* The program builder redirects rd = x0, so these look at the word. */
static unsigned word_rd(const struct simt_insn *in)
{
    return (in->word >> 7) & 0x1f;
}

bool simt_is_call(const struct simt_insn *in)
{
    return (in->op == SIMT_OP_JAL || in->op == SIMT_OP_JALR) && is_link(word_rd(in));
}

bool simt_is_return(const struct simt_insn *in)
{
    return in->op == SIMT_OP_JALR && word_rd(in) == 0 && is_link(in->rs1);
}

bool simt_is_indirect_jump(const struct simt_insn *in)
{
    return in->op == SIMT_OP_JALR && !simt_is_call(in) && !simt_is_return(in);
}

static bool is_csr(const struct simt_insn *in)
{
    enum simt_format format = simt_op_format(in->op);
    return format == SIMT_FMT_CSR || format == SIMT_FMT_CSRI;
}

bool simt_reads_flags(const struct simt_insn *in)
{
    return is_csr(in) && word_rd(in) != 0 && (in->imm == SIMT_CSR_FFLAGS || in->imm == SIMT_CSR_FCSR);
}

bool simt_reads_counters(const struct simt_insn *in)
{
    return is_csr(in) && (in->imm == SIMT_CSR_CYCLE || in->imm == SIMT_CSR_CYCLEH ||
                          in->imm == SIMT_CSR_INSTRET || in->imm == SIMT_CSR_INSTRETH);
}

bool simt_rounds_statically(const struct simt_insn *in)
{
    enum simt_format format = simt_op_format(in->op);
    bool rounds =
        format == SIMT_FMT_FR || format == SIMT_FMT_FR4 || format == SIMT_FMT_FR1 || format == SIMT_FMT_X2F;
    return rounds && in->rm != SIMT_RM_DYN && in->rm != SIMT_RNE;
}
