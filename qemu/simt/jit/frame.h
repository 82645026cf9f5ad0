/* SPDX-License-Identifier: MIT */
/* What compiled code is called with. Compiled code finds fields by offsetof; the pointer is its only
 * argument. */
#ifndef SIMT_JIT_FRAME_H
#define SIMT_JIT_FRAME_H

#include "../src/cu.h"
#include "graph.h"

/* How compiled code came back. */
enum jit_status {
    JIT_REJECTED, /* the registers are not what the code was compiled for; nothing was done */
    JIT_DONE,     /* all lanes of mask ended; with JIT_BEGIN those of all warps up to frame.index */
    JIT_BARRIER,  /* all lanes of mask stored to the barrier, to go on at pc */
    JIT_LEFT, /* the interpreter goes on: lanes of left at pc, lanes of pend[i] at node i, the others ended */
    JIT_FUEL, /* like LEFT, because limit was reached */
};

struct jit_frame {
    uint8_t *vram, *shared;
    uint64_t vram_size, shared_size, private_size;
    uint32_t ctrl[21];  /* words of the control window that are the same in all lanes, by offset / 4 */
    uint32_t hart_base; /* mhartid of the block's first thread */
    uint32_t args[SIMT_ARG_REGS]; /* with JIT_BEGIN */
    uint32_t mask;                /* in: lanes to run */
    uint32_t entry; /* in: which of the entry points with JIT_LEAN (all lanes) or JIT_MASKED, rows being lean;
                     * or JIT_BEGIN: the kernel's start, for all lanes and without rows */
    const uint64_t *instret; /* in: instructions retired by each lane, but for */
    uint64_t retired;        /* those of this path */
    uint64_t limit;          /* in: come back soon after so many instructions */
    uint32_t alone;          /* in: the warp is its block's only one, so that no barrier holds it up */
    uint32_t stream;         /* in: what is written once goes past the caches; the caller has the fence */

    /* With JIT_BEGIN, warps one after the other as long as they end and fewer instructions than sweep_limit
     * have been issued: from the block's warp index on, and then those of blocks blocks further on in x. */
    struct simt_warp *const *warps; /* of the block, so many: */
    uint32_t warp_count, index;     /* in: the first, out: the last that was begun */
    uint64_t blocks;                /* in: that may follow, out: that have not been begun */
    uint64_t sweep_limit;
    uint64_t begun; /* out: instructions issued before the last one began */

    uint64_t bytes; /* out, and not beside transactions: loads of both at once would wait for both stores */
    uint64_t insns; /* out: issued */
    uint64_t lane_insns; /* out: the same times active lanes */
    uint64_t divergences, transactions;
    uint64_t barriers; /* out: that were complete at once */
    uint32_t exit;     /* out: rows are as left at exit number exit - 1; 0: they were not touched */
    uint32_t pc, left; /* out: see enum jit_status */
    int32_t depth;     /* out: calls around pc */
    uint32_t pend[JIT_MAX_NODES]; /* in: 0; out: lanes that wait at a node */

    simt_row scratch; /* values of a scatter; addresses are in the warp's addr row */
    struct simt_cu *cu;
    struct simt_warp *warp; /* the one that runs */
    const struct simt_program *prog;
    uint32_t (*help)(struct jit_frame *frame, uint32_t insn, uint32_t mask);
    void (*count)(struct jit_frame *frame, uint32_t mask, uint32_t size);
    uint64_t (*poll)(struct jit_frame *frame, uint64_t insns);
};

#define JIT_POLL_INSNS 8192u
#define JIT_LEAN       0x80000000u
#define JIT_MASKED     0x20000000u
#define JIT_BEGIN      0x40000000u

typedef uint32_t (*jit_code_fn)(struct jit_frame *frame);

/* Execute instruction prog->insns[insn] for the lanes of mask on the warp's register rows as the interpreter
 * would. 0, or non-zero when nothing was done and the interpreter must go on there. */
uint32_t jit_help(struct jit_frame *frame, uint32_t insn, uint32_t mask);

/* Count the memory transactions of an access of size bytes at the warp's addr row by the lanes of mask. */
void jit_count(struct jit_frame *frame, uint32_t mask, uint32_t size);

/* A masked loop has issued insns instructions of its warp, its limit: the next limit, or 0 to come back now.
 */
uint64_t jit_poll(struct jit_frame *frame, uint64_t insns);

#endif
