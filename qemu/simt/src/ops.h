/* SPDX-License-Identifier: MIT */
/*
 * Every instruction the device knows, once: X(name, mnemonic, mask, match, format), sorted by major opcode.
 * A word is that instruction when (word & mask) == match. Source: RISC-V Unprivileged ISA 20191213,
 * chapter 24; the last group (funct7 0x22, 0x24, 0x26) is the device's own, its rm field is ignored.
 */
#ifndef SIMT_OPS_H
#define SIMT_OPS_H

/* clang-format off */
#define SIMT_OPS(X)                                                \
    X(LB,      "lb",      0x0000707f, 0x00000003, LOAD)            \
    X(LH,      "lh",      0x0000707f, 0x00001003, LOAD)            \
    X(LW,      "lw",      0x0000707f, 0x00002003, LOAD)            \
    X(LBU,     "lbu",     0x0000707f, 0x00004003, LOAD)            \
    X(LHU,     "lhu",     0x0000707f, 0x00005003, LOAD)            \
    X(FLW,     "flw",     0x0000707f, 0x00002007, FLOAD)           \
    X(FENCE,   "fence",   0x0000707f, 0x0000000f, FENCE)           \
    X(ADDI,    "addi",    0x0000707f, 0x00000013, I)               \
    X(SLLI,    "slli",    0xfe00707f, 0x00001013, SHIFT)           \
    X(SLTI,    "slti",    0x0000707f, 0x00002013, I)               \
    X(SLTIU,   "sltiu",   0x0000707f, 0x00003013, I)               \
    X(XORI,    "xori",    0x0000707f, 0x00004013, I)               \
    X(SRLI,    "srli",    0xfe00707f, 0x00005013, SHIFT)           \
    X(SRAI,    "srai",    0xfe00707f, 0x40005013, SHIFT)           \
    X(ORI,     "ori",     0x0000707f, 0x00006013, I)               \
    X(ANDI,    "andi",    0x0000707f, 0x00007013, I)               \
    X(AUIPC,   "auipc",   0x0000007f, 0x00000017, U)               \
    X(SB,      "sb",      0x0000707f, 0x00000023, STORE)           \
    X(SH,      "sh",      0x0000707f, 0x00001023, STORE)           \
    X(SW,      "sw",      0x0000707f, 0x00002023, STORE)           \
    X(FSW,     "fsw",     0x0000707f, 0x00002027, FSTORE)          \
    X(AMOADD,  "amoadd.w",  0xf800707f, 0x0000202f, AMO)           \
    X(AMOSWAP, "amoswap.w", 0xf800707f, 0x0800202f, AMO)           \
    X(LR,      "lr.w",      0xf9f0707f, 0x1000202f, LR)            \
    X(SC,      "sc.w",      0xf800707f, 0x1800202f, AMO)           \
    X(AMOXOR,  "amoxor.w",  0xf800707f, 0x2000202f, AMO)           \
    X(AMOOR,   "amoor.w",   0xf800707f, 0x4000202f, AMO)           \
    X(AMOAND,  "amoand.w",  0xf800707f, 0x6000202f, AMO)           \
    X(AMOMIN,  "amomin.w",  0xf800707f, 0x8000202f, AMO)           \
    X(AMOMAX,  "amomax.w",  0xf800707f, 0xa000202f, AMO)           \
    X(AMOMINU, "amominu.w", 0xf800707f, 0xc000202f, AMO)           \
    X(AMOMAXU, "amomaxu.w", 0xf800707f, 0xe000202f, AMO)           \
    X(ADD,     "add",     0xfe00707f, 0x00000033, R)               \
    X(SUB,     "sub",     0xfe00707f, 0x40000033, R)               \
    X(SLL,     "sll",     0xfe00707f, 0x00001033, R)               \
    X(SLT,     "slt",     0xfe00707f, 0x00002033, R)               \
    X(SLTU,    "sltu",    0xfe00707f, 0x00003033, R)               \
    X(XOR,     "xor",     0xfe00707f, 0x00004033, R)               \
    X(SRL,     "srl",     0xfe00707f, 0x00005033, R)               \
    X(SRA,     "sra",     0xfe00707f, 0x40005033, R)               \
    X(OR,      "or",      0xfe00707f, 0x00006033, R)               \
    X(AND,     "and",     0xfe00707f, 0x00007033, R)               \
    X(MUL,     "mul",     0xfe00707f, 0x02000033, R)               \
    X(MULH,    "mulh",    0xfe00707f, 0x02001033, R)               \
    X(MULHSU,  "mulhsu",  0xfe00707f, 0x02002033, R)               \
    X(MULHU,   "mulhu",   0xfe00707f, 0x02003033, R)               \
    X(DIV,     "div",     0xfe00707f, 0x02004033, R)               \
    X(DIVU,    "divu",    0xfe00707f, 0x02005033, R)               \
    X(REM,     "rem",     0xfe00707f, 0x02006033, R)               \
    X(REMU,    "remu",    0xfe00707f, 0x02007033, R)               \
    X(LUI,     "lui",     0x0000007f, 0x00000037, U)               \
    X(FMADD,   "fmadd.s",  0x0600007f, 0x00000043, FR4)            \
    X(FMSUB,   "fmsub.s",  0x0600007f, 0x00000047, FR4)            \
    X(FNMSUB,  "fnmsub.s", 0x0600007f, 0x0000004b, FR4)            \
    X(FNMADD,  "fnmadd.s", 0x0600007f, 0x0000004f, FR4)            \
    X(FADD,    "fadd.s",   0xfe00007f, 0x00000053, FR)             \
    X(FSUB,    "fsub.s",   0xfe00007f, 0x08000053, FR)             \
    X(FMUL,    "fmul.s",   0xfe00007f, 0x10000053, FR)             \
    X(FDIV,    "fdiv.s",   0xfe00007f, 0x18000053, FR)             \
    X(FSQRT,   "fsqrt.s",  0xfff0007f, 0x58000053, FR1)            \
    X(FSGNJ,   "fsgnj.s",  0xfe00707f, 0x20000053, FF)             \
    X(FSGNJN,  "fsgnjn.s", 0xfe00707f, 0x20001053, FF)             \
    X(FSGNJX,  "fsgnjx.s", 0xfe00707f, 0x20002053, FF)             \
    X(FMIN,    "fmin.s",   0xfe00707f, 0x28000053, FF)             \
    X(FMAX,    "fmax.s",   0xfe00707f, 0x28001053, FF)             \
    X(FCVT_W,  "fcvt.w.s",  0xfff0007f, 0xc0000053, F2X)           \
    X(FCVT_WU, "fcvt.wu.s", 0xfff0007f, 0xc0100053, F2X)           \
    X(FMV_X,   "fmv.x.w",   0xfff0707f, 0xe0000053, FMVX)          \
    X(FCLASS,  "fclass.s",  0xfff0707f, 0xe0001053, FMVX)          \
    X(FEQ,     "feq.s",     0xfe00707f, 0xa0002053, FCMP)          \
    X(FLT,     "flt.s",     0xfe00707f, 0xa0001053, FCMP)          \
    X(FLE,     "fle.s",     0xfe00707f, 0xa0000053, FCMP)          \
    X(FCVT_S_W,  "fcvt.s.w",  0xfff0007f, 0xd0000053, X2F)         \
    X(FCVT_S_WU, "fcvt.s.wu", 0xfff0007f, 0xd0100053, X2F)         \
    X(FMV_W,     "fmv.w.x",   0xfff0707f, 0xf0000053, XMVF)        \
    X(FCVT_S_BF16, "fcvt.s.bf16", 0xfff0007f, 0x44000053, NARROW)  \
    X(FCVT_BF16_S, "fcvt.bf16.s", 0xfff0007f, 0x44100053, NARROW)  \
    X(FCVT_S_E4M3, "fcvt.s.e4m3", 0xfff0007f, 0x48000053, NARROW)  \
    X(FCVT_E4M3_S, "fcvt.e4m3.s", 0xfff0007f, 0x48100053, NARROW)  \
    X(FCVT_S_E5M2, "fcvt.s.e5m2", 0xfff0007f, 0x48200053, NARROW)  \
    X(FCVT_E5M2_S, "fcvt.e5m2.s", 0xfff0007f, 0x48300053, NARROW)  \
    X(FCVT_S_E2M1, "fcvt.s.e2m1", 0xfff0007f, 0x4c000053, NARROW)  \
    X(FCVT_E2M1_S, "fcvt.e2m1.s", 0xfff0007f, 0x4c100053, NARROW)  \
    X(BEQ,     "beq",     0x0000707f, 0x00000063, B)               \
    X(BNE,     "bne",     0x0000707f, 0x00001063, B)               \
    X(BLT,     "blt",     0x0000707f, 0x00004063, B)               \
    X(BGE,     "bge",     0x0000707f, 0x00005063, B)               \
    X(BLTU,    "bltu",    0x0000707f, 0x00006063, B)               \
    X(BGEU,    "bgeu",    0x0000707f, 0x00007063, B)               \
    X(JALR,    "jalr",    0x0000707f, 0x00000067, JALR)            \
    X(JAL,     "jal",     0x0000007f, 0x0000006f, J)               \
    X(EBREAK,  "ebreak",  0xffffffff, 0x00100073, NONE)            \
    X(CSRRW,   "csrrw",   0x0000707f, 0x00001073, CSR)             \
    X(CSRRS,   "csrrs",   0x0000707f, 0x00002073, CSR)             \
    X(CSRRC,   "csrrc",   0x0000707f, 0x00003073, CSR)             \
    X(CSRRWI,  "csrrwi",  0x0000707f, 0x00005073, CSRI)            \
    X(CSRRSI,  "csrrsi",  0x0000707f, 0x00006073, CSRI)            \
    X(CSRRCI,  "csrrci",  0x0000707f, 0x00007073, CSRI)
/* clang-format on */

#endif
