/* SPDX-License-Identifier: MIT */
#include "scalar.h"
#include <stdlib.h>
#include <string.h>
#include "encode.h"

/* Instructions of one thread's turn: small, so that a thread spinning on another one sees it move soon. */
#define TURN 64

enum thread_state { RUNNING, AT_BARRIER, ENDED };

struct thread {
    uint32_t x[32], pc, id[3], mhartid, warp, lane;
    uint32_t reserved_addr, reserved_value;
    bool reserved;
    enum thread_state state;
    uint64_t instret;
    uint8_t private_memory[SCALAR_PRIVATE_SIZE];
};

struct block {
    uint8_t *vram, *shared;
    uint64_t vram_size;
    const struct simt_launch *launch;
    uint32_t id[3], nthreads, warp_size;
    struct thread *threads;
    struct scalar_result result;
};

static bool inside(uint32_t addr, uint32_t base, uint64_t size, uint32_t width)
{
    return addr >= base && (uint64_t)(addr - base) + width <= size;
}

/* Host address of width bytes at addr, NULL if no memory window holds them. */
static uint8_t *memory_at(struct block *b, struct thread *t, uint32_t addr, uint32_t width)
{
    if (inside(addr, 0, b->vram_size, width))
        return b->vram + addr;
    if (inside(addr, SIMT_SHARED_BASE, b->launch->shared_size, width))
        return b->shared + (addr - SIMT_SHARED_BASE);
    if (inside(addr, SIMT_PRIVATE_BASE, SCALAR_PRIVATE_SIZE, width))
        return t->private_memory + (addr - SIMT_PRIVATE_BASE);
    return NULL;
}

/* The control window, a table of words. */
static bool control_word(const struct block *b, const struct thread *t, uint32_t offset, uint32_t *out)
{
    const struct simt_launch *l = b->launch;
    const uint32_t words[] = {t->id[0],    t->id[1],    t->id[2],          0,
                              b->id[0],    b->id[1],    b->id[2],          0,
                              l->block[0], l->block[1], l->block[2],       0,
                              l->grid[0],  l->grid[1],  l->grid[2],        0,
                              t->warp,     t->lane,     (uint32_t)l->args, l->shared_size};

    if (offset % 4 || offset / 4 >= sizeof(words) / 4 || (offset < 0x40 && offset % 16 == 12))
        return false;
    *out = words[offset / 4];
    return true;
}

static enum simt_cause stop(struct block *b, struct thread *t, enum simt_cause cause, uint32_t addr)
{
    b->result.cause = cause;
    b->result.pc = t->pc;
    b->result.addr = addr;
    b->result.mhartid = t->mhartid;
    return cause;
}

static enum simt_cause load(struct block *b, struct thread *t, uint32_t f3, uint32_t addr, uint32_t *out)
{
    uint32_t width = 1u << (f3 & 3), value = 0;
    const uint8_t *p = memory_at(b, t, addr, width);

    if (p)
        memcpy(&value, p, width);
    else if (f3 != 2 || addr < SIMT_CTRL_BASE || !control_word(b, t, addr - SIMT_CTRL_BASE, &value))
        return stop(b, t, SIMT_ACCESS_FAULT, addr);
    if (f3 == 0)
        value = (uint32_t)(int8_t)value;
    else if (f3 == 1)
        value = (uint32_t)(int16_t)value;
    *out = value;
    return SIMT_OK;
}

static enum simt_cause store(struct block *b, struct thread *t, uint32_t f3, uint32_t addr, uint32_t value)
{
    uint8_t *p = memory_at(b, t, addr, 1u << f3);

    if (p)
        memcpy(p, &value, 1u << f3);
    else if (f3 == 2 && addr == SIMT_SYNC_BASE)
        t->state = AT_BARRIER;
    else
        return stop(b, t, SIMT_ACCESS_FAULT, addr);
    return SIMT_OK;
}

static uint32_t divide(uint32_t f3, uint32_t a, uint32_t b)
{
    bool is_signed = !(f3 & 1), remainder = f3 & 2;

    if (b == 0)
        return remainder ? a : 0xffffffffu;
    if (is_signed && a == 0x80000000u && b == 0xffffffffu)
        return remainder ? 0 : a;
    if (is_signed)
        return (uint32_t)(remainder ? (int32_t)a % (int32_t)b : (int32_t)a / (int32_t)b);
    return remainder ? a % b : a / b;
}

static uint32_t multiply_divide(uint32_t f3, uint32_t a, uint32_t b)
{
    switch (f3) {
    case 0:
        return a * b;
    case 1:
        return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
    case 2:
        return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int64_t)b) >> 32);
    case 3:
        return (uint32_t)((uint64_t)a * b >> 32);
    default:
        return divide(f3, a, b);
    }
}

static uint32_t alu(uint32_t f3, bool alternate, uint32_t a, uint32_t b)
{
    switch (f3) {
    case 0:
        return alternate ? a - b : a + b;
    case 1:
        return a << (b & 31);
    case 2:
        return (int32_t)a < (int32_t)b;
    case 3:
        return a < b;
    case 4:
        return a ^ b;
    case 5:
        return alternate ? (uint32_t)((int32_t)a >> (b & 31)) : a >> (b & 31);
    case 6:
        return a | b;
    default:
        return a & b;
    }
}

static bool taken(uint32_t f3, uint32_t a, uint32_t b)
{
    bool condition = f3 < 2 ? a == b : f3 < 6 ? (int32_t)a < (int32_t)b : a < b;

    return condition != (f3 & 1);
}

static uint32_t amo_result(uint32_t funct5, uint32_t old, uint32_t operand)
{
    switch (funct5) {
    case 0x00:
        return old + operand;
    case 0x01:
        return operand;
    case 0x04:
        return old ^ operand;
    case 0x08:
        return old | operand;
    case 0x0c:
        return old & operand;
    case 0x10:
        return (int32_t)old < (int32_t)operand ? old : operand;
    case 0x14:
        return (int32_t)old > (int32_t)operand ? old : operand;
    case 0x18:
        return old < operand ? old : operand;
    default:
        return old > operand ? old : operand;
    }
}

/* lr, sc and amo on VRAM and shared memory; rd is written through out. */
static enum simt_cause atomic(struct block *b, struct thread *t, uint32_t insn, uint32_t operand,
                              uint32_t addr, uint32_t *out)
{
    uint32_t funct5 = insn >> 27, old, value;
    uint8_t *p = addr >= SIMT_PRIVATE_BASE ? NULL : memory_at(b, t, addr, 4);

    if (addr % 4)
        return stop(b, t, SIMT_MISALIGNED_ATOMIC, addr);
    if (!p)
        return stop(b, t, SIMT_ACCESS_FAULT, addr);
    memcpy(&old, p, 4);
    *out = old;
    if (funct5 == 0x02) {
        t->reserved = true;
        t->reserved_addr = addr;
        t->reserved_value = old;
        return SIMT_OK;
    }
    value = amo_result(funct5, old, operand);
    if (funct5 == 0x03) {
        bool success = t->reserved && t->reserved_addr == addr && t->reserved_value == old;

        t->reserved = false;
        *out = !success;
        if (!success)
            return SIMT_OK;
        value = operand;
    }
    memcpy(p, &value, 4);
    return SIMT_OK;
}

static bool legal(uint32_t insn)
{
    uint32_t f3 = insn >> 12 & 7, f7 = insn >> 25;

    switch (insn & 0x7f) {
    case OP_LUI:
    case OP_AUIPC:
    case OP_JAL:
        return true;
    case OP_JALR:
    case OP_MISC_MEM:
        return f3 == 0;
    case OP_BRANCH:
        return f3 != 2 && f3 != 3;
    case OP_LOAD:
        return f3 != 3 && f3 < 6;
    case OP_STORE:
        return f3 < 3;
    case OP_IMM:
        return f3 == 1 ? f7 == 0 : f3 != 5 || (f7 & ~0x20u) == 0;
    case OP_OP:
        return f7 < 2 || (f7 == 0x20 && (f3 == 0 || f3 == 5));
    case OP_AMO:
        return f3 == 2 && (insn >> 27 == 2 ? (insn >> 20 & 31) == 0 : (f7 >> 2 & 3) == 0 || f7 >> 2 < 4);
    default:
        return false;
    }
}

/* csrrs rd, {cycle, instret, mhartid}, x0 and ebreak: all the SYSTEM instructions these programs use. */
static enum simt_cause system_insn(struct block *b, struct thread *t, uint32_t insn, uint32_t *out)
{
    if (insn == RV_EBREAK) {
        t->state = ENDED;
        return SIMT_OK;
    }
    if ((insn & 0xff07f) != (2u << 12 | OP_SYSTEM))
        return stop(b, t, SIMT_ILLEGAL_INSN, 0);
    switch (insn >> 20) {
    case CSR_CYCLE:
    case CSR_INSTRET:
        *out = (uint32_t)t->instret;
        return SIMT_OK;
    case CSR_MHARTID:
        *out = t->mhartid;
        return SIMT_OK;
    default:
        return stop(b, t, SIMT_ILLEGAL_INSN, 0);
    }
}

static int32_t imm_i(uint32_t insn)
{
    return (int32_t)insn >> 20;
}

static uint32_t imm_s(uint32_t insn)
{
    return (uint32_t)((int32_t)insn >> 25) << 5 | (insn >> 7 & 31);
}

static uint32_t imm_b(uint32_t insn)
{
    return (uint32_t)((int32_t)insn >> 31) << 12 | (insn >> 7 & 1) << 11 | (insn >> 25 & 63) << 5 |
           (insn >> 8 & 15) << 1;
}

static uint32_t imm_j(uint32_t insn)
{
    return (uint32_t)((int32_t)insn >> 31) << 20 | (insn & 0xff000) | (insn >> 20 & 1) << 11 |
           (insn >> 21 & 0x3ff) << 1;
}

/* One instruction of one thread. */
static enum simt_cause step(struct block *b, struct thread *t)
{
    uint32_t insn, next = t->pc + 4, value = 0, rd;
    enum simt_cause cause = SIMT_OK;

    if (t->pc == SIMT_EXIT_PC) {
        t->state = ENDED;
        return SIMT_OK;
    }
    if (t->pc % 4 || !inside(t->pc, 0, b->vram_size, 4))
        return stop(b, t, SIMT_FETCH_FAULT, t->pc);
    memcpy(&insn, b->vram + t->pc, 4);
    b->result.insn = insn;
    rd = insn >> 7 & 31;

    uint32_t f3 = insn >> 12 & 7, s1 = t->x[insn >> 15 & 31], s2 = t->x[insn >> 20 & 31];

    if ((insn & 0x7f) != OP_SYSTEM && !legal(insn))
        return stop(b, t, SIMT_ILLEGAL_INSN, 0);
    switch (insn & 0x7f) {
    case OP_LUI:
        value = insn & 0xfffff000u;
        break;
    case OP_AUIPC:
        value = t->pc + (insn & 0xfffff000u);
        break;
    case OP_JAL:
        value = next;
        next = t->pc + imm_j(insn);
        break;
    case OP_JALR:
        value = next;
        next = (s1 + (uint32_t)imm_i(insn)) & ~1u;
        break;
    case OP_BRANCH:
        rd = 0;
        if (taken(f3, s1, s2))
            next = t->pc + imm_b(insn);
        break;
    case OP_LOAD:
        cause = load(b, t, f3, s1 + (uint32_t)imm_i(insn), &value);
        break;
    case OP_STORE:
        rd = 0;
        cause = store(b, t, f3, s1 + imm_s(insn), s2);
        break;
    case OP_IMM:
        value = alu(f3, f3 == 5 && insn >> 30 & 1, s1, (uint32_t)imm_i(insn));
        break;
    case OP_OP:
        value = insn >> 25 == 1 ? multiply_divide(f3, s1, s2) : alu(f3, insn >> 30 & 1, s1, s2);
        break;
    case OP_MISC_MEM:
        rd = 0;
        break;
    case OP_AMO:
        cause = atomic(b, t, insn, s2, s1, &value);
        break;
    default:
        if (insn == RV_EBREAK)
            rd = 0;
        cause = system_insn(b, t, insn, &value);
        break;
    }
    if (cause)
        return cause;
    if (rd)
        t->x[rd] = value;
    t->pc = next;
    t->instret++;
    b->result.insns++;
    return SIMT_OK;
}

static void start_threads(struct block *b, uint64_t linear)
{
    const struct simt_launch *l = b->launch;

    for (uint32_t i = 0; i < b->nthreads; i++) {
        struct thread *t = &b->threads[i];

        memset(t, 0, sizeof(*t));
        t->id[0] = i % l->block[0];
        t->id[1] = i / l->block[0] % l->block[1];
        t->id[2] = i / l->block[0] / l->block[1];
        t->warp = i / b->warp_size;
        t->lane = i % b->warp_size;
        t->mhartid = (uint32_t)linear << 13 | t->warp << 5 | t->lane;
        t->pc = (uint32_t)l->kernel;
        t->x[1] = SIMT_EXIT_PC;
        t->x[2] = SIMT_PRIVATE_BASE + SCALAR_PRIVATE_SIZE;
        for (uint32_t a = 0; a < SIMT_ARG_REGS; a++)
            if (inside((uint32_t)l->args + 4 * a, 0, b->vram_size, 4))
                memcpy(&t->x[10 + a], b->vram + l->args + 4 * a, 4);
    }
}

/* Every thread that has not ended waits: let them go. */
static void release_barrier(struct block *b)
{
    for (uint32_t i = 0; i < b->nthreads; i++)
        if (b->threads[i].state == AT_BARRIER)
            b->threads[i].state = RUNNING;
    b->result.barriers++;
}

/* One turn of each thread. */
static enum simt_cause turns(struct block *b, uint32_t *running, uint32_t *waiting)
{
    *running = *waiting = 0;
    for (uint32_t i = 0; i < b->nthreads; i++) {
        struct thread *t = &b->threads[i];

        for (uint32_t n = 0; n < TURN && t->state == RUNNING; n++)
            if (step(b, t))
                return b->result.cause;
        *running += t->state == RUNNING;
        *waiting += t->state == AT_BARRIER;
    }
    return SIMT_OK;
}

static enum simt_cause run_block(struct block *b, uint64_t max_insns)
{
    uint32_t running, waiting;

    do {
        if (turns(b, &running, &waiting))
            return b->result.cause;
        if (b->result.insns > max_insns)
            return b->result.cause = SIMT_LIMIT;
        if (!running && waiting)
            release_barrier(b);
    } while (running || waiting);
    return SIMT_OK;
}

struct scalar_result scalar_run(void *vram, uint64_t size, const struct simt_launch *launch,
                                uint32_t warp_size, uint64_t max_insns)
{
    struct block b = {.vram = vram, .vram_size = size, .launch = launch, .warp_size = warp_size};
    uint64_t linear = 0;

    b.nthreads = launch->block[0] * launch->block[1] * launch->block[2];
    b.threads = malloc(b.nthreads * sizeof(*b.threads));
    b.shared = malloc(launch->shared_size + 1);
    if (!b.threads || !b.shared)
        abort();
    for (b.id[2] = 0; b.id[2] < launch->grid[2]; b.id[2]++)
        for (b.id[1] = 0; b.id[1] < launch->grid[1]; b.id[1]++)
            for (b.id[0] = 0; b.id[0] < launch->grid[0] && !b.result.cause; b.id[0]++) {
                memset(b.shared, 0, launch->shared_size + 1);
                start_threads(&b, linear++);
                run_block(&b, max_insns);
            }
    free(b.threads);
    free(b.shared);
    return b.result;
}
