/* SPDX-License-Identifier: MIT */
#include "witness.h"

#include "device.h"
#include "jit_seam.h"

#define ALL_REGISTERS (~1ull)

void simt_witness_begin(struct simt_witness *w, bool second)
{
    w->second = second;
    w->places = second ? w->places : 0;
    w->barriers = w->fault = 0;
}

static bool has_atomics(const struct simt_program *prog)
{
    for (uint32_t b = 0; b < prog->block_count; b++) {
        for (uint32_t i = 0; i < prog->blocks[b].count; i++) {
            enum simt_format format = simt_op_format(prog->insns[prog->blocks[b].first + i].op);
            if (format == SIMT_FMT_AMO || format == SIMT_FMT_LR) {
                return true;
            }
        }
    }
    return false;
}

static uint64_t live_now(const struct simt_cu *cu, uint32_t pc, int32_t depth)
{
    if (has_atomics(cu->prog)) {
        return 0;
    }
    return cu->jit ? jit_live(cu->jit, pc, depth) : ALL_REGISTERS;
}

/* The registers to compare there. The second run finds what the first one noted; a place that the first one
 * did not pass gives all, so that the sums differ. */
static uint64_t live_at(const struct simt_cu *cu, uint32_t pc, int32_t depth)
{
    struct simt_witness *w = cu->witness;

    for (uint32_t i = 0; i < w->places; i++) {
        if (w->place[i].pc == pc && w->place[i].depth == depth) {
            return w->place[i].live;
        }
    }
    if (w->places == SIMT_WITNESS_PLACES) {
        return 0;
    }
    uint64_t live = w->second ? ALL_REGISTERS : live_now(cu, pc, depth);
    w->place[w->places++] = (struct simt_witness_place){pc, depth, live};
    return live;
}

/* One step of a hash: multiply and fold, as in wyhash (Wang Yi, public domain). */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    __uint128_t product = (__uint128_t)(hash ^ 0x9e3779b97f4a7c15u) * (value ^ 0xd6e8feb86659fd93u);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_lane(const struct simt_cu *cu, const struct simt_warp *w, uint32_t lane, uint32_t pc,
                          uint64_t live, const struct simt_registers *r)
{
    uint64_t hash = mix(mix(cu->block_linear, (uint64_t)w->index << 5 | lane), pc);

    for (uint64_t todo = live; todo != 0; todo &= todo - 1) {
        unsigned n = (unsigned)__builtin_ctzll(todo);
        hash = mix(hash, (uint64_t)n << 32 | (n < 32 ? r->x[n][lane] : r->f[n - 32][lane]));
    }
    return hash;
}

void simt_witness_barrier(struct simt_cu *cu, const struct simt_warp *w, const struct simt_path *p)
{
    uint64_t live = live_at(cu, p->pc, p->depth);
    struct simt_registers r;

    jit_registers(cu->jit, w, &r);
    EACH_LANE (p->mask, l) {
        cu->witness->barriers += hash_lane(cu, w, l, p->pc, live, &r);
    }
}

void simt_witness_fault(struct simt_cu *cu, const struct simt_warp *w, const struct simt_path *p)
{
    uint64_t live = live_at(cu, p->pc, p->depth);
    struct simt_registers r;

    jit_registers(cu->jit, w, &r);
    cu->witness->fault = hash_lane(cu, w, cu->fault.mhartid & 31, p->pc, live, &r);
}
