/* SPDX-License-Identifier: MIT */
/*
 * The oracle for control flow: an interpreter of RV32IMA that knows nothing of warps. Every thread of a
 * launch has its own registers and program counter; the threads of a block take turns, a barrier waits for
 * all of the block that have not ended. Blocks run one after the other. Written from the ISA manual and
 * docs/device.md, it shares no code with the engine.
 *
 * Not modelled: floating point (isa.c covers it), ballot and the exchange window (they depend on the warp).
 */
#ifndef CONFORMANCE_SCALAR_H
#define CONFORMANCE_SCALAR_H

#include <stdint.h>
#include "simt/simt.h"

#define SCALAR_PRIVATE_SIZE (16u << 10)

struct scalar_result {
    enum simt_cause cause; /* SIMT_OK, or why a thread could not go on */
    uint32_t pc, addr, insn, mhartid;
    uint64_t insns;    /* retired by all threads together */
    uint64_t barriers; /* completed */
};

/* Run the launch over vram (size bytes). warp_size only numbers the threads. max_insns bounds all threads
 * together (cause SIMT_LIMIT). */
struct scalar_result scalar_run(void *vram, uint64_t size, const struct simt_launch *launch,
                                uint32_t warp_size, uint64_t max_insns);

#endif
