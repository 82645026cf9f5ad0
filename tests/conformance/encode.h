/* SPDX-License-Identifier: MIT */
/* Instruction words of RV32IMAF_Zicsr, by format (RISC-V unprivileged ISA, "RV32/64G Instruction Set
 * Listings"). */
#ifndef CONFORMANCE_ENCODE_H
#define CONFORMANCE_ENCODE_H

#include <stdint.h>

enum rv_opcode {
    OP_LOAD = 0x03,
    OP_LOAD_FP = 0x07,
    OP_MISC_MEM = 0x0f,
    OP_IMM = 0x13,
    OP_AUIPC = 0x17,
    OP_STORE = 0x23,
    OP_STORE_FP = 0x27,
    OP_AMO = 0x2f,
    OP_OP = 0x33,
    OP_LUI = 0x37,
    OP_MADD = 0x43,
    OP_MSUB = 0x47,
    OP_NMSUB = 0x4b,
    OP_NMADD = 0x4f,
    OP_FP = 0x53,
    OP_BRANCH = 0x63,
    OP_JALR = 0x67,
    OP_JAL = 0x6f,
    OP_SYSTEM = 0x73,
};

enum rv_csr {
    CSR_FFLAGS = 1,
    CSR_FRM = 2,
    CSR_FCSR = 3,
    CSR_CYCLE = 0xc00,
    CSR_INSTRET = 0xc02,
    CSR_MHARTID = 0xf14
};
enum rv_rm { RM_RNE, RM_RTZ, RM_RDN, RM_RUP, RM_RMM, RM_DYN = 7 };

#define RV_EBREAK 0x00100073u
#define RV_ECALL  0x00000073u
#define RV_NOP    0x00000013u

static inline uint32_t rv_r(uint32_t op, uint32_t f3, uint32_t f7, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static inline uint32_t rv_r4(uint32_t op, uint32_t rm, uint32_t rd, uint32_t rs1, uint32_t rs2, uint32_t rs3)
{
    return rs3 << 27 | rs2 << 20 | rs1 << 15 | rm << 12 | rd << 7 | op;
}

static inline uint32_t rv_i(uint32_t op, uint32_t f3, uint32_t rd, uint32_t rs1, int32_t imm)
{
    return ((uint32_t)imm & 0xfff) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static inline uint32_t rv_s(uint32_t op, uint32_t f3, uint32_t rs1, uint32_t rs2, int32_t imm)
{
    uint32_t u = (uint32_t)imm;

    return (u >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (u & 0x1f) << 7 | op;
}

static inline uint32_t rv_b(uint32_t f3, uint32_t rs1, uint32_t rs2, int32_t offset)
{
    uint32_t u = (uint32_t)offset;

    return (u >> 12 & 1) << 31 | (u >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
           (u >> 1 & 0xf) << 8 | (u >> 11 & 1) << 7 | OP_BRANCH;
}

static inline uint32_t rv_u(uint32_t op, uint32_t rd, uint32_t value)
{
    return (value & 0xfffff000u) | rd << 7 | op;
}

static inline uint32_t rv_jal(uint32_t rd, int32_t offset)
{
    uint32_t u = (uint32_t)offset;

    return (u >> 20 & 1) << 31 | (u >> 1 & 0x3ff) << 21 | (u >> 11 & 1) << 20 | (u >> 12 & 0xff) << 12 |
           rd << 7 | OP_JAL;
}

static inline uint32_t rv_csr(uint32_t f3, uint32_t rd, uint32_t csr, uint32_t rs1)
{
    return csr << 20 | rs1 << 15 | f3 << 12 | rd << 7 | OP_SYSTEM;
}

/* The common ones by name. */
static inline uint32_t rv_addi(uint32_t rd, uint32_t rs1, int32_t imm)
{
    return rv_i(OP_IMM, 0, rd, rs1, imm);
}

static inline uint32_t rv_add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return rv_r(OP_OP, 0, 0, rd, rs1, rs2);
}

static inline uint32_t rv_andi(uint32_t rd, uint32_t rs1, int32_t imm)
{
    return rv_i(OP_IMM, 7, rd, rs1, imm);
}

static inline uint32_t rv_slli(uint32_t rd, uint32_t rs1, uint32_t shift)
{
    return rv_i(OP_IMM, 1, rd, rs1, (int32_t)shift);
}

static inline uint32_t rv_mul(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return rv_r(OP_OP, 0, 1, rd, rs1, rs2);
}

static inline uint32_t rv_lw(uint32_t rd, uint32_t rs1, int32_t offset)
{
    return rv_i(OP_LOAD, 2, rd, rs1, offset);
}

static inline uint32_t rv_sw(uint32_t rs2, uint32_t rs1, int32_t offset)
{
    return rv_s(OP_STORE, 2, rs1, rs2, offset);
}

static inline uint32_t rv_flw(uint32_t rd, uint32_t rs1, int32_t offset)
{
    return rv_i(OP_LOAD_FP, 2, rd, rs1, offset);
}

static inline uint32_t rv_fsw(uint32_t rs2, uint32_t rs1, int32_t offset)
{
    return rv_s(OP_STORE_FP, 2, rs1, rs2, offset);
}

static inline uint32_t rv_jalr(uint32_t rd, uint32_t rs1, int32_t offset)
{
    return rv_i(OP_JALR, 0, rd, rs1, offset);
}

static inline uint32_t rv_beq(uint32_t rs1, uint32_t rs2, int32_t offset)
{
    return rv_b(0, rs1, rs2, offset);
}

static inline uint32_t rv_bne(uint32_t rs1, uint32_t rs2, int32_t offset)
{
    return rv_b(1, rs1, rs2, offset);
}

#endif
