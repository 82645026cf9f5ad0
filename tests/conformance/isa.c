/* SPDX-License-Identifier: MIT */
/*
 * Every instruction of RV32IMAF_Zicsr against qemu-riscv32.
 *
 * A batch is one memory image: random straight-line code, a table of operands full of special values, room
 * for results. qemu-riscv32 runs the image once for each lane, one after the other; the engine runs it as one
 * warp. Each tested instruction stores its result (and, in flag batches, fflags), so that nothing masks an
 * error. The code and all addresses are the same in both, hence pc-relative results compare too.
 *
 * usage: isa [--count N] [--seed N] [--oracle PROGRAM] [--dir FOLDER] [--jit] [--vector-bits N]
 * [--batch SEED]
 *
 * --batch runs one batch again, by the seed that a message named.
 * --jit compares the JIT, with code that it takes: no CSR instruction. Batches that it
 * leaves to the interpreter all the same count as mismatches. --vector-bits: as struct simt_config has it.
 * Exit status 77 when the engine was built without it.
 */
#include <elf.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "simt/simt.h"
#include "code.h"
#include "rng.h"

/* Memory image, the same in both worlds: above the lowest page a Linux process may map, below the VRAM size.
 */
#define CODE_ADDR    0x00010000u
#define TABLE_ADDR   0x00100000u
#define TABLE_WORDS  0x10000u
#define SCRATCH_ADDR 0x00140000u
#define SCRATCH_SIZE 0x2000u
#define LANE_ADDR    (SCRATCH_ADDR + SCRATCH_SIZE) /* the oracle's loop counter */
#define OUT_ADDR     0x00200000u
#define VRAM_SIZE    (16u << 20)

#define LANES        32u
#define BATCH        3000u /* tested instructions of an image */
#define JIT_BATCH    50u   /* of one that is compiled */
#define TABLE_STRIDE 61u   /* words between the table origins of neighbouring lanes: odd, so that rows mix */

/* Registers the tested code may not use. */
#define REG_RET     27
#define REG_TMP     28
#define REG_SCRATCH 29
#define REG_TABLE   30
#define REG_OUT     31
#define X_OPERANDS  27 /* x0..x26 */

/* What stored result slot i. */
struct slot {
    uint32_t pc, insn;
    bool flags;
};

struct batch {
    struct rng rng;
    struct code code;
    struct slot *slots;
    uint32_t nslots, first_slot; /* of the current case */
    uint32_t tested;
    bool jit;           /* only what the JIT compiles */
    bool observe_flags; /* fflags is stored after each floating-point instruction */
    bool interleaved; /* lanes' words are neighbours: unit-stride accesses; else each lane has its own area */
    uint32_t entry_engine, entry_oracle, out_words;
};

static const uint32_t int_special[] = {
    0,      1,       2,          3,          0x7f,       0x80,       0xff,       0x7fff,     0x8000,
    0xffff, 0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x55555555, 0xaaaaaaaa};

static const uint32_t float_special[] = {
    0x00000000, 0x00000001, 0x00000002, 0x007ffffe, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff,
    0x01000000, 0x33800000, 0x34000000, 0x34000001, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff,
    0x3f800000, 0x3f800001, 0x3fc00000, 0x40000000, 0x40200000, 0x4affffff, 0x4b000000, 0x4b000001,
    0x4b800000, 0x4effffff, 0x4f000000, 0x4f000001, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x5f7fffff,
    0x5f800000, 0x1f800000, 0x20000000, 0x7e800000, 0x7effffff, 0x7f000000, 0x7f7ffffe, 0x7f7fffff,
    0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fc00001, 0x7fffffff};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(*(array))))

static uint32_t random_operand(struct rng *r)
{
    uint32_t sign = rng_u32(r) & 0x80000000u, fraction = rng_u32(r) & 0x7fffffu;

    switch (rng_below(r, 10)) {
    case 0:
        return int_special[rng_below(r, COUNT(int_special))];
    case 1:
    case 2:
        return sign | float_special[rng_below(r, COUNT(float_special))];
    case 3: /* subnormal or close to it */
        return sign | rng_below(r, 3) << 23 | fraction >> rng_below(r, 24);
    case 4: /* about one, so that sums cancel and products stay in range */
        return sign | (uint32_t)rng_range(r, 120, 134) << 23 | fraction;
    case 5: /* few fraction bits: exact results and ties */
        return sign | (uint32_t)rng_range(r, 110, 144) << 23 |
               (fraction & (0x7fffffu << rng_below(r, 24)) & 0x7fffffu);
    case 6: /* about the limits of the integer conversions */
        return sign | (uint32_t)rng_range(r, 147, 160) << 23 | fraction;
    case 7: /* close to the largest */
        return sign | (uint32_t)rng_range(r, 250, 254) << 23 | fraction;
    case 8:
        return (uint32_t)rng_range(r, -4096, 4096);
    default:
        return rng_u32(r);
    }
}

static uint32_t result_stride(const struct batch *b)
{
    return b->interleaved ? 4 * LANES : 4;
}

static void emit(struct batch *b, uint32_t word)
{
    code_emit(&b->code, word);
}

static int32_t next_slot(struct batch *b, uint32_t pc, uint32_t insn, bool flags)
{
    b->slots[b->nslots] = (struct slot){pc, insn, flags};
    return (int32_t)((b->nslots++ - b->first_slot) * result_stride(b));
}

static uint32_t last_pc(const struct batch *b)
{
    return code_here(&b->code) - 4;
}

/* The instruction just emitted left its result in integer register rd. */
static void store_x(struct batch *b, uint32_t rd)
{
    uint32_t pc = last_pc(b), insn = b->code.words[b->code.count - 1];

    emit(b, rv_sw(rd, REG_OUT, next_slot(b, pc, insn, false)));
}

static void store_flags(struct batch *b, uint32_t pc, uint32_t insn)
{
    if (!b->observe_flags)
        return;
    if (rng_one_in(&b->rng, 4)) /* let them accumulate */
        emit(b, rv_csr(2, REG_TMP, CSR_FFLAGS, 0));
    else
        emit(b, rv_csr(1, REG_TMP, CSR_FFLAGS, 0));
    emit(b, rv_sw(REG_TMP, REG_OUT, next_slot(b, pc, insn, true)));
}

/* The floating-point instruction just emitted left its result in x[rd] or f[rd]. */
static void store_fp(struct batch *b, uint32_t rd, bool to_x)
{
    uint32_t pc = last_pc(b), insn = b->code.words[b->code.count - 1];
    int32_t offset = next_slot(b, pc, insn, false);

    emit(b, to_x ? rv_sw(rd, REG_OUT, offset) : rv_fsw(rd, REG_OUT, offset));
    store_flags(b, pc, insn);
}

static uint32_t any_x(struct batch *b)
{
    return rng_below(&b->rng, X_OPERANDS);
}

static uint32_t any_f(struct batch *b)
{
    return rng_below(&b->rng, 32);
}

/* Results go mostly to the upper half, so that sources stay fresh. */
static uint32_t f_result(struct batch *b)
{
    return rng_one_in(&b->rng, 4) ? any_f(b) : 16 + rng_below(&b->rng, 16);
}

static uint32_t f_source(struct batch *b)
{
    return rng_one_in(&b->rng, 8) ? any_f(b) : rng_below(&b->rng, 16);
}

static uint32_t any_rm(struct batch *b)
{
    static const uint8_t rm[] = {RM_RNE, RM_RTZ, RM_RDN, RM_RUP, RM_RMM, RM_DYN, RM_DYN};

    return rm[rng_below(&b->rng, COUNT(rm))];
}

/* Byte offset in the lane's scratch area for an access of size bytes; misaligned ones where lanes have room.
 */
static int32_t scratch_offset(struct batch *b, uint32_t size, bool aligned)
{
    if (b->interleaved)
        return (int32_t)(rng_below(&b->rng, 15) * 4 * LANES + rng_below(&b->rng, 4 / size) * size);
    return (int32_t)(aligned ? rng_below(&b->rng, 32) * size : rng_below(&b->rng, 200));
}

static void gen_op(struct batch *b)
{
    uint32_t f3 = rng_below(&b->rng, 8), rd = any_x(b);
    uint32_t f7 = (f3 == 0 || f3 == 5) && rng_one_in(&b->rng, 2) ? 0x20 : 0;

    emit(b, rv_r(OP_OP, f3, f7, rd, any_x(b), any_x(b)));
    store_x(b, rd);
}

static void gen_muldiv(struct batch *b)
{
    uint32_t rd = any_x(b);

    emit(b, rv_r(OP_OP, rng_below(&b->rng, 8), 1, rd, any_x(b), any_x(b)));
    store_x(b, rd);
}

static void gen_op_imm(struct batch *b)
{
    uint32_t f3 = rng_below(&b->rng, 8), rd = any_x(b), imm = rng_u32(&b->rng) & 0xfff;

    if (f3 == 1 || f3 == 5)
        imm &= 0x1f;
    if (f3 == 5 && rng_one_in(&b->rng, 2))
        imm |= 0x400;
    emit(b, rv_i(OP_IMM, f3, rd, any_x(b), (int32_t)imm));
    store_x(b, rd);
}

static void gen_upper(struct batch *b)
{
    uint32_t rd = any_x(b);

    emit(b, rv_u(rng_one_in(&b->rng, 2) ? OP_LUI : OP_AUIPC, rd, rng_u32(&b->rng)));
    store_x(b, rd);
}

static void gen_branch(struct batch *b)
{
    static const uint8_t f3[] = {0, 1, 4, 5, 6, 7};
    uint32_t rd = 1 + rng_below(&b->rng, X_OPERANDS - 1), pc = code_here(&b->code);
    uint32_t insn = rv_b(f3[rng_below(&b->rng, 6)], any_x(b), any_x(b), 8);

    emit(b, insn);
    emit(b, rv_i(OP_IMM, 4, rd, rd, -1));
    emit(b, rv_sw(rd, REG_OUT, next_slot(b, pc, insn, false)));
}

static void gen_jal(struct batch *b)
{
    uint32_t rd = any_x(b), pc = code_here(&b->code), insn = rv_jal(rd, 8);

    emit(b, insn);
    emit(b, rv_addi(rd, rd, 1));
    emit(b, rv_sw(rd, REG_OUT, next_slot(b, pc, insn, false)));
}

static void gen_jalr(struct batch *b)
{
    uint32_t rd = rng_one_in(&b->rng, 3) ? REG_TMP : any_x(b); /* rd = rs1: the target is read first */
    int32_t offset = rng_range(&b->rng, -2048, 2047);
    uint32_t pc = code_here(&b->code) + 8, target = pc + 8;
    uint32_t insn = rv_jalr(rd, REG_TMP, offset);

    code_li(&b->code, REG_TMP, target - (uint32_t)offset + rng_below(&b->rng, 2)); /* bit 0 is cleared */
    emit(b, insn);
    emit(b, rv_addi(rd, rd, 1));
    emit(b, rv_sw(rd, REG_OUT, next_slot(b, pc, insn, false)));
}

static void gen_load(struct batch *b)
{
    static const uint8_t f3s[] = {0, 1, 2, 4, 5};
    uint32_t f3 = f3s[rng_below(&b->rng, 5)], rd = any_x(b);

    emit(b, rv_i(OP_LOAD, f3, rd, REG_SCRATCH, scratch_offset(b, 1u << (f3 & 3), false)));
    store_x(b, rd);
}

static void gen_store(struct batch *b)
{
    uint32_t f3 = rng_below(&b->rng, 3), pc = code_here(&b->code);
    int32_t offset = scratch_offset(b, 1u << f3, false);
    uint32_t insn = rv_s(OP_STORE, f3, REG_SCRATCH, any_x(b), offset);

    emit(b, insn);
    emit(b, rv_lw(REG_TMP, REG_SCRATCH, b->interleaved ? offset & ~3 : offset));
    emit(b, rv_sw(REG_TMP, REG_OUT, next_slot(b, pc, insn, false)));
}

static void gen_fp_memory(struct batch *b)
{
    uint32_t rd = any_f(b), pc;
    int32_t offset = scratch_offset(b, 4, false);

    emit(b, rv_fsw(any_f(b), REG_SCRATCH, offset));
    pc = code_here(&b->code);
    emit(b, rv_flw(rd, REG_SCRATCH, offset));
    emit(b, rv_fsw(rd, REG_OUT, next_slot(b, pc, b->code.words[b->code.count - 1], false)));
}

static uint32_t amo(struct batch *b, uint32_t funct5, uint32_t rd, uint32_t rs2)
{
    return rv_r(OP_AMO, 2, funct5 << 2 | rng_below(&b->rng, 4), rd, REG_TMP, rs2);
}

static void gen_amo(struct batch *b)
{
    static const uint8_t funct5[] = {0x01, 0x00, 0x04, 0x0c, 0x08, 0x10, 0x14, 0x18, 0x1c};
    uint32_t rd = any_x(b), pc, insn;

    emit(b, rv_addi(REG_TMP, REG_SCRATCH, scratch_offset(b, 4, true)));
    pc = code_here(&b->code);
    insn = amo(b, funct5[rng_below(&b->rng, COUNT(funct5))], rd, any_x(b));
    emit(b, insn);
    store_x(b, rd);
    emit(b, rv_lw(REG_TMP, REG_TMP, 0));
    emit(b, rv_sw(REG_TMP, REG_OUT, next_slot(b, pc, insn, false)));
}

/* lr then sc to the same word, to another one, to that and then the same (both must fail), or sc alone. */
static void gen_lr_sc(struct batch *b)
{
    uint32_t rd = any_x(b), way = rng_below(&b->rng, 5), pc;
    int32_t offset = scratch_offset(b, 4, true);

    emit(b, rv_addi(REG_TMP, REG_SCRATCH, offset));
    if (way != 0) {
        emit(b, amo(b, 0x02, rd, 0));
        store_x(b, rd);
    }
    if (way <= 2)
        emit(b, rv_addi(REG_TMP, REG_SCRATCH, scratch_offset(b, 4, true)));
    if (way == 2) {
        emit(b, amo(b, 0x03, rd, any_x(b)));
        store_x(b, rd);
        emit(b, rv_addi(REG_TMP, REG_SCRATCH, offset));
    }
    pc = code_here(&b->code);
    emit(b, amo(b, 0x03, rd, any_x(b)));
    store_x(b, rd);
    emit(b, rv_lw(REG_TMP, REG_TMP, 0));
    emit(b, rv_sw(REG_TMP, REG_OUT, next_slot(b, pc, b->code.words[b->code.count - 3], false)));
}

static void gen_fp_arith(struct batch *b)
{
    static const uint8_t f7s[] = {0x00, 0x04, 0x08, 0x0c, 0x2c};
    uint32_t f7 = f7s[rng_below(&b->rng, 5)], rd = f_result(b);

    emit(b, rv_r(OP_FP, any_rm(b), f7, rd, f_source(b), f7 == 0x2c ? 0 : f_source(b)));
    store_fp(b, rd, false);
}

static void gen_fma(struct batch *b)
{
    uint32_t op = OP_MADD + 4 * rng_below(&b->rng, 4), rd = f_result(b);

    emit(b, rv_r4(op, any_rm(b), rd, f_source(b), f_source(b), f_source(b)));
    store_fp(b, rd, false);
}

/* The rounding error of a product or sum: cancellation that only an exact fused operation survives. */
static void gen_fma_residue(struct batch *b)
{
    uint32_t x = f_source(b), y = f_source(b), t = 16 + rng_below(&b->rng, 16), rd = f_result(b);
    uint32_t op = rng_one_in(&b->rng, 2) ? OP_MSUB : OP_NMSUB;

    emit(b, rv_r(OP_FP, any_rm(b), 0x08, t, x, y));
    store_fp(b, t, false);
    emit(b, rv_r4(op, any_rm(b), rd, x, y, t));
    store_fp(b, rd, false);
}

static void gen_fp_sign_minmax(struct batch *b)
{
    bool minmax = rng_one_in(&b->rng, 2);
    uint32_t rd = f_result(b), f3 = rng_below(&b->rng, minmax ? 2 : 3);

    emit(b, rv_r(OP_FP, f3, minmax ? 0x14 : 0x10, rd, f_source(b), f_source(b)));
    store_fp(b, rd, false);
}

static void gen_fp_compare(struct batch *b)
{
    uint32_t rd = any_x(b);

    emit(b, rv_r(OP_FP, rng_below(&b->rng, 3), 0x50, rd, f_source(b), f_source(b)));
    store_fp(b, rd, true);
}

static void gen_fp_convert(struct batch *b)
{
    bool to_x = rng_one_in(&b->rng, 2);
    uint32_t rd = to_x ? any_x(b) : f_result(b), rs1 = to_x ? f_source(b) : any_x(b);
    uint32_t rm = to_x && b->jit ? rng_below(&b->rng, 5) : any_rm(b);

    emit(b, rv_r(OP_FP, rm, to_x ? 0x60 : 0x68, rd, rs1, rng_below(&b->rng, 2)));
    store_fp(b, rd, to_x);
}

static void gen_fp_move_class(struct batch *b)
{
    uint32_t way = rng_below(&b->rng, 3), rd = way == 2 ? f_result(b) : any_x(b);

    if (way == 2)
        emit(b, rv_r(OP_FP, 0, 0x78, rd, any_x(b), 0)); /* fmv.w.x */
    else
        emit(b, rv_r(OP_FP, way, 0x70, rd, f_source(b), 0)); /* fmv.x.w, fclass.s */
    store_fp(b, rd, way != 2);
}

/* Leaves a valid rounding mode behind: a dynamic one must not trap. */
static void gen_csr(struct batch *b)
{
    static const uint8_t f3s[] = {1, 2, 3, 5, 6, 7};
    uint32_t csr = 1 + rng_below(&b->rng, 3), rd = any_x(b);

    if (!b->observe_flags) {
        gen_op(b);
        return;
    }
    emit(b, rv_csr(f3s[rng_below(&b->rng, 6)], rd, csr, any_x(b)));
    store_x(b, rd);
    emit(b, rv_csr(2, rd, CSR_FCSR, 0));
    store_x(b, rd);
    emit(b, rv_csr(5, 0, CSR_FRM, rng_below(&b->rng, 5)));
}

static const struct {
    void (*generate)(struct batch *);
    uint32_t weight;
} kinds[] = {
    {gen_op, 14},         {gen_op_imm, 10},     {gen_muldiv, 14},       {gen_upper, 3},
    {gen_branch, 6},      {gen_jal, 2},         {gen_jalr, 3},          {gen_load, 6},
    {gen_store, 5},       {gen_fp_memory, 3},   {gen_amo, 8},           {gen_lr_sc, 3},
    {gen_fp_arith, 34},   {gen_fma, 18},        {gen_fma_residue, 6},   {gen_fp_sign_minmax, 10},
    {gen_fp_compare, 10}, {gen_fp_convert, 14}, {gen_fp_move_class, 6}, {gen_csr, 4},
};

static void gen_one(struct batch *b)
{
    uint32_t total = 0, pick, i;

    for (i = 0; i < COUNT(kinds); i++)
        total += kinds[i].weight;
    pick = rng_below(&b->rng, total);
    for (i = 0; pick >= kinds[i].weight; i++)
        pick -= kinds[i].weight;
    kinds[i].generate(b);
}

/* Fresh operands from a random place of the table. */
static void gen_operands(struct batch *b)
{
    uint32_t span = 512 + TABLE_STRIDE * LANES;
    uint32_t reg;

    code_li(&b->code, REG_TMP, 4 * rng_below(&b->rng, TABLE_WORDS - span));
    emit(b, rv_add(REG_TMP, REG_TMP, REG_TABLE));
    for (reg = 1; reg < X_OPERANDS; reg += 1 + rng_below(&b->rng, 5))
        emit(b, rv_lw(reg, REG_TMP, (int32_t)(4 * rng_below(&b->rng, 500))));
    for (reg = 0; reg < 18; reg += 1 + rng_below(&b->rng, 2))
        emit(b, rv_flw(reg, REG_TMP, (int32_t)(4 * rng_below(&b->rng, 500))));
}

/* Some lanes sit this case out: the masked forms run. Returns the address of the branch to patch, 0 if none.
 */
static uint32_t gen_mask(struct batch *b)
{
    uint32_t at;

    if (rng_one_in(&b->rng, 2))
        return 0;
    emit(b, rv_lw(REG_TMP, REG_TMP, (int32_t)(4 * rng_below(&b->rng, 500))));
    emit(b, rv_andi(REG_TMP, REG_TMP, 1 << rng_below(&b->rng, 3)));
    at = code_here(&b->code);
    emit(b, RV_NOP);
    return at;
}

static void gen_case(struct batch *b, uint32_t limit)
{
    uint32_t length = 12 + rng_below(&b->rng, 12), branch, start = b->nslots;
    uint32_t room = 2000 / result_stride(b) - 4; /* one generator stores at most four words */

    b->first_slot = b->nslots;
    gen_operands(b);
    if (!b->jit) {
        emit(b, rv_csr(5, 0, CSR_FRM, rng_below(&b->rng, 5)));
        emit(b, rv_csr(5, 0, CSR_FFLAGS, 0));
    }
    branch = gen_mask(b);
    for (uint32_t i = 0; i < length && b->nslots - start < room && b->tested < limit; i++, b->tested++)
        gen_one(b);
    if (branch)
        code_patch(&b->code, branch,
                   rv_b(rng_below(&b->rng, 2), REG_TMP, 0, (int32_t)(code_here(&b->code) - branch)));
    emit(b, rv_addi(REG_OUT, REG_OUT, (int32_t)((b->nslots - start) * result_stride(b))));
}

/* x5 = lane: set the lane's pointers. */
static void gen_pointers(struct batch *b, uint32_t out_at[2])
{
    static const uint32_t regs[] = {REG_SCRATCH, REG_TABLE, REG_OUT};
    uint32_t base[] = {SCRATCH_ADDR, TABLE_ADDR, OUT_ADDR};
    uint32_t stride[] = {b->interleaved ? 4 : SCRATCH_SIZE / LANES, 4 * TABLE_STRIDE, 4};

    for (uint32_t i = 0; i < 3; i++) {
        out_at[0] = code_here(&b->code);
        code_li(&b->code, REG_TMP, stride[i]);
        emit(b, rv_mul(REG_TMP, REG_TMP, 5));
        code_li(&b->code, regs[i], base[i]);
        emit(b, rv_add(regs[i], regs[i], REG_TMP));
    }
    out_at[1] = code_here(&b->code);
}

static uint32_t gen_main(struct batch *b, uint32_t count)
{
    uint32_t start = code_here(&b->code);

    for (uint32_t reg = 1; reg < X_OPERANDS; reg++)
        emit(b, rv_addi(reg, 0, 0));
    for (uint32_t reg = 0; reg < 32; reg++)
        emit(b, rv_r(OP_FP, 0, 0x78, reg, 0, 0));
    while (b->tested < count)
        gen_case(b, count);
    emit(b, rv_jalr(0, REG_RET, 0));
    return start;
}

/* Engine: lane = thread id x. */
static void gen_entry_engine(struct batch *b, uint32_t main_addr, uint32_t out_stride)
{
    uint32_t out_at[2];

    b->entry_engine = code_here(&b->code);
    code_li(&b->code, REG_TMP, SIMT_CTRL_BASE);
    emit(b, rv_lw(5, REG_TMP, 0));
    gen_pointers(b, out_at);
    code_patch_li(&b->code, out_at[0], REG_TMP, out_stride);
    emit(b, rv_addi(REG_RET, 1, 0));
    emit(b, rv_jal(0, (int32_t)(main_addr - code_here(&b->code))));
}

/* Oracle: for lane = 0 .. 31: main; then write(1, out, size); exit(0). */
static void gen_entry_oracle(struct batch *b, uint32_t main_addr, uint32_t out_stride, uint32_t out_size)
{
    uint32_t out_at[2], loop;

    b->entry_oracle = code_here(&b->code);
    loop = b->entry_oracle;
    code_li(&b->code, REG_TMP, LANE_ADDR);
    emit(b, rv_lw(5, REG_TMP, 0));
    gen_pointers(b, out_at);
    code_patch_li(&b->code, out_at[0], REG_TMP, out_stride);
    emit(b, rv_jal(REG_RET, (int32_t)(main_addr - code_here(&b->code))));
    code_li(&b->code, REG_TMP, LANE_ADDR);
    emit(b, rv_lw(5, REG_TMP, 0));
    emit(b, rv_addi(5, 5, 1));
    emit(b, rv_sw(5, REG_TMP, 0));
    emit(b, rv_addi(6, 0, LANES));
    emit(b, rv_bne(5, 6, (int32_t)(loop - code_here(&b->code))));
    emit(b, rv_addi(10, 0, 1));
    code_li(&b->code, 11, OUT_ADDR);
    code_li(&b->code, 12, out_size);
    emit(b, rv_addi(17, 0, 64)); /* Linux: write */
    emit(b, RV_ECALL);
    emit(b, rv_addi(10, 0, 0));
    emit(b, rv_addi(17, 0, 93)); /* Linux: exit */
    emit(b, RV_ECALL);
}

static void die(const char *what)
{
    fprintf(stderr, "isa: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void generate(struct batch *b, uint64_t seed, uint32_t count, bool jit)
{
    uint32_t main_addr, out_stride, out_size;

    *b = (struct batch){
        .rng = {seed}, .code.base = CODE_ADDR, .slots = calloc(4 * count + 8, sizeof(struct slot))};
    if (!b->slots)
        die("slots");
    b->jit = jit;
    b->observe_flags = rng_below(&b->rng, 2) && !jit;
    b->interleaved = rng_below(&b->rng, 2);
    main_addr = gen_main(b, count);
    out_stride = b->interleaved ? 4 : 4 * b->nslots;
    out_size = 4 * b->nslots * LANES;
    gen_entry_engine(b, main_addr, out_stride);
    gen_entry_oracle(b, main_addr, out_stride, out_size);
    b->out_words = b->nslots * LANES;
    if (code_here(&b->code) > TABLE_ADDR || OUT_ADDR + out_size > VRAM_SIZE) {
        fprintf(stderr, "isa: batch too large: %u words of code, %u result slots\n", b->code.count,
                b->nslots);
        exit(2);
    }
}

static void fill_image(struct batch *b, uint8_t *vram)
{
    uint32_t *table = (uint32_t *)(vram + TABLE_ADDR), *scratch = (uint32_t *)(vram + SCRATCH_ADDR);

    memset(vram, 0, VRAM_SIZE);
    memcpy(vram + CODE_ADDR, b->code.words, 4 * (size_t)b->code.count);
    for (uint32_t i = 0; i < TABLE_WORDS; i++)
        table[i] = random_operand(&b->rng);
    for (uint32_t i = 0; i < SCRATCH_SIZE / 4; i++)
        scratch[i] = random_operand(&b->rng);
}

/* One segment holds everything; the file part ends before the results. */
static void write_elf(const char *path, const struct batch *b, const uint8_t *vram)
{
    Elf32_Ehdr eh = {.e_type = ET_EXEC,
                     .e_machine = EM_RISCV,
                     .e_version = EV_CURRENT,
                     .e_entry = b->entry_oracle,
                     .e_phoff = sizeof(eh),
                     .e_ehsize = sizeof(eh),
                     .e_phentsize = sizeof(Elf32_Phdr),
                     .e_phnum = 1};
    Elf32_Phdr ph = {.p_type = PT_LOAD,
                     .p_offset = 0x1000,
                     .p_vaddr = CODE_ADDR,
                     .p_paddr = CODE_ADDR,
                     .p_filesz = OUT_ADDR - CODE_ADDR,
                     .p_memsz = OUT_ADDR - CODE_ADDR + 4 * b->out_words,
                     .p_flags = PF_R | PF_W | PF_X,
                     .p_align = 0x1000};
    FILE *f = fopen(path, "wb");

    if (!f)
        die(path);
    memcpy(eh.e_ident, ELFMAG, SELFMAG);
    eh.e_ident[EI_CLASS] = ELFCLASS32;
    eh.e_ident[EI_DATA] = ELFDATA2LSB;
    eh.e_ident[EI_VERSION] = EV_CURRENT;
    if (fwrite(&eh, sizeof(eh), 1, f) != 1 || fwrite(&ph, sizeof(ph), 1, f) != 1 ||
        fseek(f, 0x1000, SEEK_SET) || fwrite(vram + CODE_ADDR, ph.p_filesz, 1, f) != 1 || fclose(f) ||
        chmod(path, 0755))
        die(path);
}

static uint32_t *run_oracle(const char *oracle, const char *elf, uint32_t words)
{
    uint32_t *out = malloc(4 * (size_t)words);
    char command[1024];
    FILE *pipe;
    size_t got;
    int status;

    snprintf(command, sizeof(command), "exec '%s' '%s'", oracle, elf);
    pipe = popen(command, "r");
    if (!out || !pipe)
        die(oracle);
    got = fread(out, 4, words, pipe);
    status = pclose(pipe);
    if (got != words || status) {
        fprintf(stderr, "isa: %s %s: status %#x, %zu of %u words\n", oracle, elf, (unsigned)status, got,
                words);
        exit(2);
    }
    return out;
}

static uint32_t vector_bits;
static const char *const no_jit = "all kernels are interpreted";

/* Kernels that the JIT refused; without a JIT there is nothing to do. */
static void note(void *opaque, const char *msg)
{
    if (strstr(msg, no_jit)) {
        printf("isa: %s\n", msg);
        exit(77);
    }
    fprintf(stderr, "%s\n", msg);
    ++*(uint32_t *)opaque;
}

/* The engine runs the first `lanes` lanes as one block of warps of warp_size. */
/* Returns how many messages it logged. */
static uint32_t run_engine(const struct batch *b, uint8_t *vram, uint32_t lanes, uint32_t warp_size)
{
    uint32_t messages = 0;
    struct simt_config config = {.num_cus = 1,
                                 .warp_size = warp_size,
                                 .deterministic = true,
                                 .engine = b->jit ? SIMT_ENGINE_JIT : SIMT_ENGINE_INTERP,
                                 .vector_bits = vector_bits,
                                 .log = note,
                                 .log_opaque = &messages};
    struct simt_launch launch = {.kernel = b->entry_engine, .grid = {1, 1, 1}, .block = {lanes, 1, 1}};
    struct simt_fault fault;
    struct simt *s;
    char text[512];
    int err = simt_create(&s, &config, vram, VRAM_SIZE);

    if (!err) {
        err = simt_run(s, &launch, &fault);
        if (err == -EFAULT)
            simt_fault_describe(&fault, text, sizeof(text));
        else
            snprintf(text, sizeof(text), "%s", strerror(-err));
        simt_destroy(s);
    } else {
        snprintf(text, sizeof(text), "create: %s", strerror(-err));
    }
    if (err) {
        fprintf(stderr, "isa: the engine did not finish: %s\n", text);
        exit(1);
    }
    return messages;
}

struct totals {
    uint64_t tested, results, mismatches;
};

static void compare(const struct batch *b, const uint32_t *want, const uint32_t *got, uint32_t lanes,
                    struct totals *t)
{
    for (uint32_t i = 0; i < b->nslots; i++)
        for (uint32_t lane = 0; lane < lanes; lane++) {
            uint32_t at = b->interleaved ? i * LANES + lane : lane * b->nslots + i;

            t->results++;
            if (want[at] == got[at])
                continue;
            if (t->mismatches++ < 20)
                fprintf(stderr, "isa: pc %#x insn %08x lane %u: %s %08x, the oracle has %08x%s\n",
                        b->slots[i].pc, b->slots[i].insn, lane, b->slots[i].flags ? "fflags" : "result",
                        got[at], want[at], b->observe_flags ? "" : " (flags not observed)");
        }
}

static void run_batch(uint64_t seed, uint32_t count, bool jit, const char *oracle, const char *dir,
                      uint8_t *vram, struct totals *t)
{
    uint64_t before = t->mismatches;
    struct batch b;
    uint32_t lanes, warp_size, *want;
    char elf[512];

    generate(&b, seed, count, jit);
    lanes = rng_one_in(&b.rng, 3) ? 1 + rng_below(&b.rng, LANES) : LANES;
    warp_size = rng_one_in(&b.rng, 8) ? 1 + rng_below(&b.rng, LANES) : LANES;
    fill_image(&b, vram);
    snprintf(elf, sizeof(elf), "%s/isa-%" PRIx64 ".elf", dir, seed);
    write_elf(elf, &b, vram);
    want = run_oracle(oracle, elf, b.out_words);
    t->mismatches += run_engine(&b, vram, lanes, warp_size);
    compare(&b, want, (const uint32_t *)(vram + OUT_ADDR), lanes, t);
    t->tested += b.tested;
    if (t->mismatches == before)
        unlink(elf);
    else
        fprintf(stderr, "isa: batch seed %#" PRIx64 ", %u lanes, warps of %u; image kept: %s\n", seed, lanes,
                warp_size, elf);
    free(want);
    free(b.slots);
    code_free(&b.code);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"count", 1, NULL, 'n'},       {"seed", 1, NULL, 's'},
                                            {"oracle", 1, NULL, 'o'},      {"dir", 1, NULL, 'd'},
                                            {"jit", 0, NULL, 'j'},         {"batch", 1, NULL, 'b'},
                                            {"vector-bits", 1, NULL, 'v'}, {NULL, 0, NULL, 0}};
    uint64_t count = 100000, seed = 1;
    const char *oracle = "qemu-riscv32", *dir = "/tmp";
    struct totals t = {0};
    uint64_t one_batch = 0;
    bool jit = false;
    uint8_t *vram = calloc(1, VRAM_SIZE);
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'n')
            count = strtoull(optarg, NULL, 0);
        else if (c == 's')
            seed = strtoull(optarg, NULL, 0);
        else if (c == 'o')
            oracle = optarg;
        else if (c == 'd')
            dir = optarg;
        else if (c == 'j')
            jit = true;
        else if (c == 'v')
            vector_bits = (uint32_t)strtoul(optarg, NULL, 0);
        else if (c == 'b')
            one_batch = strtoull(optarg, NULL, 0);
        else
            return 2;
    }
    if (!vram)
        die("VRAM");
    printf("isa: seed %" PRIu64 ", %" PRIu64 " instructions, oracle %s\n", seed, count, oracle);
    if (one_batch)
        run_batch(one_batch, jit ? JIT_BATCH : BATCH, jit, oracle, dir, vram, &t);
    for (uint64_t batch = 0; !one_batch && t.tested < count; batch++) {
        uint64_t left = count - t.tested;
        uint32_t most = jit ? JIT_BATCH : BATCH;

        run_batch(seed << 32 | batch, left < most ? (uint32_t)left : most, jit, oracle, dir, vram, &t);
    }
    printf("compared %" PRIu64 " instructions, %" PRIu64 " results, mismatches %" PRIu64 "\n", t.tested,
           t.results, t.mismatches);
    free(vram);
    return t.mismatches ? 1 : 0;
}
