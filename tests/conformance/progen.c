/* SPDX-License-Identifier: MIT */
#include "progen.h"
#include <string.h>
#include "simt/simt.h"

/* Registers with a purpose; the rest holds data. */
#define RA         1u
#define SP         2u
#define TMP        28u
#define TMP2       29u
#define OUT        30u /* address of this thread's results */
#define FUEL       31u
#define DATA_FIRST 4u
#define DATA_COUNT 24u /* x4..x27 */

#define MAX_FUNCTIONS 4u
#define MAX_DEPTH     6u
#define FRAME         64 /* bytes: ra, loop counters, data */
#define FRAME_COUNTER 4  /* loop counter of depth d is at FRAME_COUNTER + 4 * d */
#define FRAME_DATA    32
#define MAX_FIXUPS    4096u

struct fixups {
    uint32_t at[MAX_FIXUPS], count;
};

struct gen {
    struct code *c;
    struct rng *rng;
    uint32_t functions[MAX_FUNCTIONS], nfunctions;
    uint32_t self;          /* entry of the function being made, 0 in the kernel itself */
    struct fixups to_end;   /* jal x0 to patch: store results and end */
    struct fixups *to_exit; /* the innermost loop's break, NULL outside loops */
    uint32_t budget;        /* statements left, so that the size stays bounded */
    uint32_t loop_depth;
    bool csrs;
};

static void emit(struct gen *g, uint32_t word)
{
    code_emit(g->c, word);
}

static uint32_t data_reg(struct gen *g)
{
    return DATA_FIRST + rng_below(g->rng, DATA_COUNT);
}

static uint32_t source_reg(struct gen *g)
{
    return rng_one_in(g->rng, 12) ? 0 : data_reg(g);
}

static void jump_later(struct gen *g, struct fixups *f)
{
    if (f->count == MAX_FIXUPS) {
        fprintf(stderr, "progen: more than %u jumps\n", MAX_FIXUPS);
        exit(2);
    }
    f->at[f->count++] = code_here(g->c);
    emit(g, RV_NOP);
}

static void land_jumps(struct gen *g, struct fixups *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        code_patch(g->c, f->at[i], rv_jal(0, (int32_t)(code_here(g->c) - f->at[i])));
    f->count = 0;
}

static uint32_t branch_f3(struct gen *g)
{
    static const uint8_t f3[] = {0, 1, 4, 5, 6, 7};

    return f3[rng_below(g->rng, 6)];
}

/* A condition that splits warps often: compares few bits. */
static void condition(struct gen *g)
{
    if (rng_one_in(g->rng, 2)) {
        emit(g, rv_andi(TMP, data_reg(g), rng_range(g->rng, 1, 7)));
        emit(g, rv_andi(TMP2, data_reg(g), rng_range(g->rng, 0, 7)));
    } else {
        emit(g, rv_addi(TMP, data_reg(g), rng_range(g->rng, -3, 3)));
        emit(g, rv_addi(TMP2, source_reg(g), 0));
    }
}

/* Emit a branch over what follows; returns its address for branch_lands(). Range of a branch: 4 KiB, of jal:
 * 1 MiB. */
static uint32_t branch_around(struct gen *g)
{
    uint32_t at;

    condition(g);
    emit(g, rv_b(branch_f3(g), TMP, TMP2, 8));
    at = code_here(g->c);
    emit(g, RV_NOP);
    return at;
}

static void branch_lands(struct gen *g, uint32_t at)
{
    code_patch(g->c, at, rv_jal(0, (int32_t)(code_here(g->c) - at)));
}

static void gen_alu(struct gen *g)
{
    uint32_t f3 = rng_below(g->rng, 8), rd = data_reg(g);

    switch (rng_below(g->rng, 4)) {
    case 0:
        emit(g, rv_r(OP_OP, f3, 1, rd, source_reg(g), source_reg(g)));
        break;
    case 1:
        emit(g, rv_i(OP_IMM, f3 == 1 || f3 == 5 ? 0 : f3, rd, source_reg(g), rng_range(g->rng, -2048, 2047)));
        break;
    case 2:
        emit(g, rv_i(OP_IMM, f3 & 1 ? 5 : 1, rd, source_reg(g), rng_range(g->rng, 0, 31)));
        break;
    default:
        emit(g, rv_r(OP_OP, f3, f3 == 0 || f3 == 5 ? 0x20 * rng_below(g->rng, 2) : 0, rd, source_reg(g),
                     source_reg(g)));
        break;
    }
}

static void gen_stack(struct gen *g)
{
    int32_t offset = FRAME_DATA + 4 * rng_range(g->rng, 0, 7);

    if (rng_one_in(g->rng, 2))
        emit(g, rv_s(OP_STORE, rng_below(g->rng, 3), SP, data_reg(g), offset));
    else
        emit(g, rv_lw(data_reg(g), SP, offset));
}

/* Atomics and misaligned stores on the thread's own result area. */
static void gen_own_memory(struct gen *g)
{
    static const uint8_t funct5[] = {0x00, 0x01, 0x04, 0x08, 0x0c, 0x10, 0x14, 0x18, 0x1c};

    if (rng_one_in(g->rng, 2)) {
        emit(g, rv_addi(TMP, OUT, 4 * rng_range(g->rng, 0, 31)));
        emit(g,
             rv_r(OP_AMO, 2, (uint32_t)funct5[rng_below(g->rng, 9)] << 2, data_reg(g), TMP, source_reg(g)));
    } else {
        emit(g, rv_s(OP_STORE, rng_below(g->rng, 3), OUT, data_reg(g), rng_range(g->rng, 0, 124)));
    }
}

static void gen_identity(struct gen *g)
{
    static const uint32_t csrs[] = {CSR_INSTRET, CSR_MHARTID, CSR_CYCLE};
    static const uint8_t words[] = {0x00, 0x04, 0x08, 0x10, 0x14, 0x18, 0x20,
                                    0x24, 0x28, 0x30, 0x34, 0x38, 0x40, 0x44};

    if (rng_one_in(g->rng, 2) && g->csrs) {
        emit(g, rv_csr(2, data_reg(g), csrs[rng_below(g->rng, 3)], 0));
    } else {
        code_li(g->c, TMP, SIMT_CTRL_BASE);
        emit(g, rv_lw(data_reg(g), TMP, words[rng_below(g->rng, sizeof(words))]));
    }
}

static void gen_barrier(struct gen *g)
{
    code_li(g->c, TMP, SIMT_SYNC_BASE);
    emit(g, rv_sw(0, TMP, 0));
}

/* Take one unit of fuel, or leave for the end. */
static void gen_fuel(struct gen *g)
{
    emit(g, rv_addi(FUEL, FUEL, -1));
    emit(g, rv_b(5, FUEL, 0, 8)); /* bge fuel, x0: go on */
    jump_later(g, &g->to_end);
}

static void gen_statements(struct gen *g, uint32_t depth);

static void gen_if(struct gen *g, uint32_t depth)
{
    uint32_t around = branch_around(g), join;

    gen_statements(g, depth + 1);
    if (rng_one_in(g->rng, 2)) {
        branch_lands(g, around);
        return;
    }
    join = code_here(g->c);
    emit(g, RV_NOP);
    branch_lands(g, around);
    gen_statements(g, depth + 1);
    branch_lands(g, join);
}

/* do { ...break... } while (--counter >= 0), the counter in the frame. */
static void gen_loop(struct gen *g, uint32_t depth)
{
    struct fixups breaks = {.count = 0}, *outer = g->to_exit;
    int32_t slot = FRAME_COUNTER + 4 * (int32_t)g->loop_depth++;
    uint32_t top;

    emit(g, rv_andi(TMP, data_reg(g), rng_range(g->rng, 0, 7)));
    emit(g, rv_sw(TMP, SP, slot));
    top = code_here(g->c);
    g->to_exit = &breaks;
    gen_fuel(g);
    gen_statements(g, depth + 1);
    emit(g, rv_lw(TMP, SP, slot));
    emit(g, rv_addi(TMP, TMP, -1));
    emit(g, rv_sw(TMP, SP, slot));
    emit(g, rv_b(4, TMP, 0, 8)); /* blt counter, x0: done */
    emit(g, rv_jal(0, (int32_t)(top - code_here(g->c))));
    land_jumps(g, &breaks);
    g->to_exit = outer;
    g->loop_depth--;
}

static void gen_break(struct gen *g)
{
    uint32_t around;

    if (!g->to_exit)
        return;
    around = branch_around(g);
    jump_later(g, g->to_exit);
    branch_lands(g, around);
}

static void gen_early_end(struct gen *g)
{
    uint32_t around = branch_around(g);

    if (rng_one_in(g->rng, 2))
        emit(g, RV_EBREAK);
    else
        jump_later(g, &g->to_end);
    branch_lands(g, around);
}

/* Jump through a table of addresses. */
static void gen_switch(struct gen *g, uint32_t depth)
{
    uint32_t arms = 1u << rng_range(g->rng, 1, 3), table;
    struct fixups breaks = {.count = 0};

    emit(g, rv_andi(TMP, data_reg(g), (int32_t)arms - 1));
    emit(g, rv_slli(TMP, TMP, 2));
    emit(g, rv_u(OP_AUIPC, TMP2, 0));
    emit(g, rv_add(TMP, TMP, TMP2));
    emit(g, rv_lw(TMP, TMP, 16));
    emit(g, rv_jalr(0, TMP, 0));
    table = code_here(g->c); /* auipc + 16 */
    for (uint32_t i = 0; i < arms; i++)
        emit(g, 0);
    for (uint32_t i = 0; i < arms; i++) {
        code_patch(g->c, table + 4 * i, code_here(g->c));
        gen_statements(g, MAX_DEPTH - 1 > depth ? depth + 2 : depth + 1);
        if (!rng_one_in(g->rng, 4)) /* else: fall through */
            jump_later(g, &breaks);
    }
    land_jumps(g, &breaks);
}

/* Direct, indirect with per-thread targets, or recursive. */
static void gen_call(struct gen *g)
{
    uint32_t around = 0, f;

    if (g->self && rng_one_in(g->rng, 3)) {
        around = branch_around(g);
        gen_fuel(g);
        emit(g, rv_jal(RA, (int32_t)(g->self - code_here(g->c))));
        branch_lands(g, around);
        return;
    }
    if (!g->nfunctions)
        return;
    f = g->functions[rng_below(g->rng, g->nfunctions)];
    if (rng_one_in(g->rng, 2)) {
        emit(g, rv_jal(RA, (int32_t)(f - code_here(g->c))));
        return;
    }
    code_li(g->c, TMP2, f);
    emit(g, rv_andi(TMP, data_reg(g), 3));
    emit(g, rv_bne(TMP, 0, 12));
    code_li(g->c, TMP2, g->functions[rng_below(g->rng, g->nfunctions)]);
    emit(g, rv_jalr(RA, TMP2, 0));
}

static void gen_statement(struct gen *g, uint32_t depth)
{
    uint32_t pick = rng_below(g->rng, 100);
    bool deep = depth >= MAX_DEPTH;

    if (pick < 40 || (deep && pick < 70))
        gen_alu(g);
    else if (pick < 55)
        gen_if(g, depth);
    else if (pick < 63 && g->loop_depth < 6)
        gen_loop(g, depth);
    else if (pick < 70)
        gen_switch(g, depth);
    else if (pick < 76)
        gen_stack(g);
    else if (pick < 81)
        gen_own_memory(g);
    else if (pick < 86)
        gen_identity(g);
    else if (pick < 90)
        gen_call(g);
    else if (pick < 95)
        gen_break(g);
    else if (pick < 97)
        gen_early_end(g);
    else
        gen_barrier(g);
}

static void gen_statements(struct gen *g, uint32_t depth)
{
    uint32_t n = 1 + rng_below(g->rng, 5);

    for (uint32_t i = 0; i < n && g->budget; i++) {
        g->budget--;
        gen_statement(g, depth);
    }
}

static void gen_function(struct gen *g)
{
    g->self = code_here(g->c);
    g->budget = 25;
    emit(g, rv_addi(SP, SP, -FRAME));
    emit(g, rv_sw(RA, SP, 0));
    gen_statements(g, 2);
    emit(g, rv_lw(RA, SP, 0));
    emit(g, rv_addi(SP, SP, FRAME));
    emit(g, rv_jalr(0, RA, 0));
    g->functions[g->nfunctions++] = g->self;
}

/* OUT = args word 0 + stride * linear thread index in the grid; data registers get values of their own. */
static void gen_entry(struct gen *g, uint32_t fuel)
{
    emit(g, rv_addi(OUT, 10, 0));
    code_li(g->c, TMP, SIMT_CTRL_BASE);
    emit(g, rv_lw(4, TMP, 0x00));
    emit(g, rv_lw(5, TMP, 0x04));
    emit(g, rv_lw(6, TMP, 0x08));
    emit(g, rv_lw(7, TMP, 0x10));
    emit(g, rv_lw(8, TMP, 0x14));
    emit(g, rv_lw(9, TMP, 0x18));
    emit(g, rv_lw(10, TMP, 0x20));
    emit(g, rv_lw(11, TMP, 0x24));
    emit(g, rv_lw(12, TMP, 0x28));
    emit(g, rv_lw(13, TMP, 0x30));
    emit(g, rv_lw(14, TMP, 0x34));
    emit(g, rv_mul(9, 9, 14)); /* block: (z * gridY + y) * gridX + x */
    emit(g, rv_add(9, 9, 8));
    emit(g, rv_mul(9, 9, 13));
    emit(g, rv_add(9, 9, 7));
    emit(g, rv_mul(6, 6, 11)); /* thread: (z * blockY + y) * blockX + x */
    emit(g, rv_add(6, 6, 5));
    emit(g, rv_mul(6, 6, 10));
    emit(g, rv_add(4, 4, 6));
    emit(g, rv_mul(15, 10, 11)); /* threads of a block */
    emit(g, rv_mul(15, 15, 12));
    emit(g, rv_mul(15, 15, 9));
    emit(g, rv_add(4, 4, 15));
    code_li(g->c, TMP, PROGEN_OUT_STRIDE);
    emit(g, rv_mul(TMP, TMP, 4));
    emit(g, rv_add(OUT, OUT, TMP));
    emit(g, rv_addi(SP, SP, -FRAME));
    for (uint32_t r = DATA_FIRST + 1; r < DATA_FIRST + DATA_COUNT; r++) {
        code_li(g->c, TMP, rng_u32(g->rng) | 1);
        if (rng_one_in(g->rng, 4)) { /* the same in all threads */
            emit(g, rv_addi(r, TMP, 0));
        } else {
            emit(g, rv_mul(r, TMP, r - 1));
            emit(g, rv_i(OP_IMM, 5, TMP, r, rng_range(g->rng, 1, 15)));
            emit(g, rv_r(OP_OP, 4, 0, r, r, TMP));
        }
    }
    code_li(g->c, FUEL, fuel);
}

/* All registers that hold data, then the end: by ret through the initial ra, or ebreak. */
static void gen_end(struct gen *g)
{
    uint32_t slot = 0;

    land_jumps(g, &g->to_end);
    for (uint32_t r = DATA_FIRST; r < DATA_FIRST + DATA_COUNT; r++)
        emit(g, rv_sw(r, OUT, (int32_t)(4 * slot++)));
    emit(g, rv_sw(FUEL, OUT, (int32_t)(4 * slot++)));
    if (g->csrs) {
        emit(g, rv_csr(2, TMP, CSR_INSTRET, 0));
        emit(g, rv_sw(TMP, OUT, (int32_t)(4 * slot)));
    }
    if (rng_one_in(g->rng, 2)) {
        code_li(g->c, TMP, SIMT_EXIT_PC);
        emit(g, rv_jalr(0, TMP, 0));
    } else {
        emit(g, RV_EBREAK);
    }
}

/* Blocks with edges drawn at random: irreducible loops, calls that never return, returns to anywhere. */
static void gen_blocks(struct gen *g)
{
    uint32_t nblocks = rng_range(g->rng, 2, 16), address[16], pending[64], target[64], npending = 0;

    for (uint32_t i = 0; i < nblocks; i++) {
        uint32_t n = rng_below(g->rng, 5), other = rng_below(g->rng, nblocks);

        address[i] = code_here(g->c);
        gen_fuel(g);
        for (uint32_t k = 0; k < n; k++)
            (rng_one_in(g->rng, 4) ? gen_identity : rng_one_in(g->rng, 4) ? gen_own_memory : gen_alu)(g);
        if (rng_one_in(g->rng, 12))
            gen_barrier(g);
        switch (rng_below(g->rng, 8)) {
        case 0: /* call (ra stays valid whatever happens) */
        case 1: /* jump */
            target[npending] = other;
            pending[npending++] = code_here(g->c);
            emit(g, rv_jal(i & 1 ? RA : 0, 0));
            break;
        case 2: /* return to wherever ra points: at first, the end of the thread */
            emit(g, rv_jalr(0, RA, 0));
            break;
        case 3: /* one of two blocks by pointer, as a jump or a call */
            condition(g);
            target[npending] = other;
            pending[npending++] = code_here(g->c);
            code_li(g->c, 27, 0);
            emit(g, rv_b(branch_f3(g), TMP, TMP2, 12));
            target[npending] = rng_below(g->rng, nblocks);
            pending[npending++] = code_here(g->c);
            code_li(g->c, 27, 0);
            emit(g, rv_jalr(rng_below(g->rng, 2), 27, 0));
            break;
        default: /* a branch, then on to the next block */
            condition(g);
            emit(g, rv_b(branch_f3(g), TMP, TMP2, 8));
            target[npending] = other;
            pending[npending++] = code_here(g->c);
            emit(g, rv_jal(0, 0));
            break;
        }
    }
    jump_later(g, &g->to_end);
    for (uint32_t i = 0; i < npending; i++) {
        uint32_t word = g->c->words[(pending[i] - g->c->base) / 4], to = address[target[i]];

        if ((word & 0x7f) == OP_JAL)
            code_patch(g->c, pending[i], rv_jal(word >> 7 & 31, (int32_t)(to - pending[i])));
        else
            code_patch_li(g->c, pending[i], 27, to);
    }
}

struct progen progen_generate(struct code *c, struct rng *rng, bool csrs)
{
    struct gen *g = calloc(1, sizeof(*g));
    struct progen p = {.structured = !rng_one_in(rng, 3), .fuel = 20 + rng_below(rng, 80)};
    struct fixups over = {.count = 0};

    if (!g)
        exit(2);
    g->c = c;
    g->rng = rng;
    g->csrs = csrs;
    gen_entry(g, p.fuel);
    if (p.structured) {
        jump_later(g, &over);
        for (uint32_t n = rng_below(rng, MAX_FUNCTIONS + 1); n; n--)
            gen_function(g);
        land_jumps(g, &over);
        g->self = 0;
        g->budget = 60;
        do
            gen_statements(g, 0);
        while (rng_one_in(rng, 2));
    } else {
        gen_blocks(g);
    }
    gen_end(g);
    free(g);
    return p;
}
