/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "disasm.h"
#include "soft.h"

void simt_raise(struct simt_cu *cu, const struct simt_warp *w, const struct simt_path *p,
                enum simt_cause cause, uint32_t lanes, uint32_t pc, uint32_t insn, uint32_t addr)
{
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);

    cu->fault = (struct simt_fault){
        .cause = cause,
        .pc = pc,
        .addr = addr,
        .insn = insn,
        .mhartid = simt_mhartid(cu, w, lane),
        .mask = p->mask,
        .thread = {w->thread[0][lane], w->thread[1][lane], w->thread[2][lane]},
        .block = {cu->block[0], cu->block[1], cu->block[2]},
        .count = (uint32_t)__builtin_popcount(lanes),
    };
}

const char *simt_cause_name(enum simt_cause cause)
{
    static const char *const names[] = {
        [SIMT_OK] = "no fault",
        [SIMT_ILLEGAL_INSN] = "illegal instruction",
        [SIMT_FETCH_FAULT] = "instruction fetch fault",
        [SIMT_ACCESS_FAULT] = "memory access fault",
        [SIMT_MISALIGNED_ATOMIC] = "misaligned atomic",
        [SIMT_LIMIT] = "instruction budget or time limit",
        [SIMT_BARRIER_DEADLOCK] = "barrier deadlock",
        [SIMT_BAD_LAUNCH] = "bad launch",
        [SIMT_CANCELLED] = "cancelled",
        [SIMT_ENGINE_MISMATCH] = "compiled code and interpreter disagree",
    };
    return (unsigned)cause < sizeof(names) / sizeof(names[0]) ? names[cause] : "unknown";
}

static bool has_address(enum simt_cause cause)
{
    return cause == SIMT_FETCH_FAULT || cause == SIMT_ACCESS_FAULT || cause == SIMT_MISALIGNED_ATOMIC;
}

int simt_fault_describe(const struct simt_fault *f, char *buf, size_t len)
{
    char text[64], address[32] = "";

    if (f->cause == SIMT_OK || f->cause == SIMT_BAD_LAUNCH || f->cause == SIMT_CANCELLED ||
        f->cause == SIMT_ENGINE_MISMATCH) {
        return snprintf(buf, len, "%s", simt_cause_name(f->cause));
    }
    simt_disasm(f->pc, f->insn, text, sizeof(text));
    if (has_address(f->cause)) {
        snprintf(address, sizeof(address), ", address 0x%08x", f->addr);
    }
    return snprintf(buf, len,
                    "%s at pc 0x%08x (%s)%s, thread (%u,%u,%u) of block (%u,%u,%u), mask 0x%08x, %u thread%s",
                    simt_cause_name(f->cause), f->pc, f->cause == SIMT_FETCH_FAULT ? "no instruction" : text,
                    address, f->thread[0], f->thread[1], f->thread[2], f->block[0], f->block[1], f->block[2],
                    f->mask, f->count, f->count == 1 ? "" : "s");
}
