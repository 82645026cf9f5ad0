/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counter registers: what the engine counted, on top of what came with a migration. */
#include "qemu/osdep.h"
#include "gpgpu.h"

static void read_engine(GPGPUState *s, uint64_t counts[GPGPU_NUM_COUNTERS])
{
    struct simt_counters c;

    simt_counters_read(s->simt, &c);
    const uint64_t in_register_order[GPGPU_NUM_COUNTERS] = {
        c.insns, c.lane_insns, c.divergences, c.transactions, c.bytes, c.barriers, c.launches, c.busy_ns,
    };
    memcpy(counts, in_register_order, sizeof(in_register_order));
}

uint32_t gpgpu_read_counter(GPGPUState *s, enum gpgpu_reg reg)
{
    uint64_t counts[GPGPU_NUM_COUNTERS];
    unsigned index = (reg - REG_COUNT_INSNS_LO) / 2;
    uint64_t value;

    read_engine(s, counts);
    value = s->counter_base[index] + counts[index];
    s->reg[reg + 1] = (uint32_t)(value >> 32);
    return (uint32_t)value;
}

void gpgpu_counters_clear(GPGPUState *s)
{
    memset(s->counter_base, 0, sizeof(s->counter_base));
    simt_counters_clear(s->simt);
}

/* Move all counts to counter_base, which migrates. */
void gpgpu_counters_fold(GPGPUState *s)
{
    uint64_t counts[GPGPU_NUM_COUNTERS];

    read_engine(s, counts);
    for (unsigned i = 0; i < GPGPU_NUM_COUNTERS; i++) {
        s->counter_base[i] += counts[i];
    }
    simt_counters_clear(s->simt);
}

void gpgpu_write_count_clear(GPGPUState *s, uint32_t value)
{
    gpgpu_counters_clear(s);
}
