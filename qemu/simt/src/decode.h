/* SPDX-License-Identifier: MIT */
/* Instruction decoder: one 32-bit word to one compact record. Pure. */
#ifndef SIMT_DECODE_H
#define SIMT_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "ops.h"

enum simt_op {
#define X(name, mnemonic, mask, match, format) SIMT_OP_##name,
    SIMT_OPS(X)
#undef X
        SIMT_OP_ILLEGAL, /* any word the device refuses */
    SIMT_OP_END,         /* pseudo: the basic block ends here and falls through; never decoded */
    SIMT_OP_COUNT,
};

/* Which fields of a word mean what. */
enum simt_format {
    SIMT_FMT_R,      /* rd, rs1, rs2 */
    SIMT_FMT_I,      /* rd, rs1, imm */
    SIMT_FMT_SHIFT,  /* rd, rs1, shamt */
    SIMT_FMT_LOAD,   /* rd, imm(rs1) */
    SIMT_FMT_FLOAD,  /* fd, imm(rs1) */
    SIMT_FMT_STORE,  /* rs2, imm(rs1) */
    SIMT_FMT_FSTORE, /* fs2, imm(rs1) */
    SIMT_FMT_B,      /* rs1, rs2, pc-relative imm */
    SIMT_FMT_U,      /* rd, imm with the low 12 bits 0 */
    SIMT_FMT_J,      /* rd, pc-relative imm */
    SIMT_FMT_JALR,   /* rd, imm(rs1) */
    SIMT_FMT_FENCE,
    SIMT_FMT_NONE,
    SIMT_FMT_CSR,    /* rd, csr in imm, rs1 */
    SIMT_FMT_CSRI,   /* rd, csr in imm, 5-bit immediate in rs1 */
    SIMT_FMT_AMO,    /* rd, rs2, (rs1) */
    SIMT_FMT_LR,     /* rd, (rs1) */
    SIMT_FMT_FR,     /* fd, fs1, fs2, rm */
    SIMT_FMT_FR4,    /* fd, fs1, fs2, fs3, rm */
    SIMT_FMT_FR1,    /* fd, fs1, rm */
    SIMT_FMT_FF,     /* fd, fs1, fs2 */
    SIMT_FMT_FCMP,   /* rd, fs1, fs2 */
    SIMT_FMT_F2X,    /* rd, fs1, rm */
    SIMT_FMT_X2F,    /* fd, rs1, rm */
    SIMT_FMT_FMVX,   /* rd, fs1 */
    SIMT_FMT_XMVF,   /* fd, rs1 */
    SIMT_FMT_NARROW, /* fd, fs1 */
};

/* Control and status registers the device has (Zicsr, F; Zicntr without time; mhartid). */
enum {
    SIMT_CSR_FFLAGS = 0x001,
    SIMT_CSR_FRM = 0x002,
    SIMT_CSR_FCSR = 0x003,
    SIMT_CSR_CYCLE = 0xc00,
    SIMT_CSR_INSTRET = 0xc02,
    SIMT_CSR_CYCLEH = 0xc80,
    SIMT_CSR_INSTRETH = 0xc82,
    SIMT_CSR_MHARTID = 0xf14,
};

#define SIMT_RM_DYN 7u

struct simt_insn {
    uint16_t op; /* enum simt_op */
    uint8_t rd, rs1, rs2, rs3;
    uint8_t rm;
    uint8_t reserved;
    int32_t imm;
    uint32_t word;
};

/* Decode word; op is SIMT_OP_ILLEGAL for whatever the device refuses (reserved rounding modes, unknown CSRs
 * and writes to read-only ones included). */
struct simt_insn simt_decode(uint32_t word);

const char *simt_op_mnemonic(enum simt_op op);
enum simt_format simt_op_format(enum simt_op op);

/* The instruction writes an integer register. */
bool simt_writes_x(const struct simt_insn *in);

/* The instruction can continue elsewhere than at pc + 4. */
bool simt_is_terminator(enum simt_op op);
bool simt_is_branch(enum simt_op op);

/* jal or jalr that writes a link register: x1 or x5 (Unprivileged ISA, table 2.1). */
bool simt_is_call(const struct simt_insn *in);
/* jalr x0 through a link register. */
bool simt_is_return(const struct simt_insn *in);
/* jalr that is neither call nor return: a switch table or a tail call. */
bool simt_is_indirect_jump(const struct simt_insn *in);

/* The instruction reads fflags or fcsr into a register. */
bool simt_reads_flags(const struct simt_insn *in);
/* The instruction reads cycle, instret or their upper halves. */
bool simt_reads_counters(const struct simt_insn *in);
/* The instruction is arithmetic that rounds by a static mode other than to nearest even. */
bool simt_rounds_statically(const struct simt_insn *in);

#endif
