/* SPDX-License-Identifier: MIT */
/*
 * A program: the code reachable from a set of roots, decoded, cut into basic blocks, with the immediate
 * post-dominator of each. Immutable once built and reference-counted; code found while running (targets of
 * indirect jumps) makes a new program that replaces the old one.
 */
#ifndef SIMT_PROGRAM_H
#define SIMT_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "decode.h"

#define SIMT_NO_BLOCK UINT32_MAX
#define SIMT_NO_PC    1u /* never a legal pc: the virtual exit as a reconvergence point */

/* Bounds that keep a hostile kernel from making the device build for seconds or without end. */
#define SIMT_PROGRAM_MAX_INSNS 0x40000u
#define SIMT_PROGRAM_MAX_EDGES 4096u
#define SIMT_BLOCK_MAX_INSNS   1024u

/* A register number that nothing reads: integer results for x0 go there. */
#define SIMT_X_SINK 32u

struct simt_block {
    uint32_t pc;
    uint32_t first; /* index of the first instruction; a pseudo END follows when the block falls through */
    uint32_t count; /* instructions, without END */
    uint32_t taken; /* block a branch or jal goes to, or SIMT_NO_BLOCK when it is not part of the program */
    uint32_t fall;  /* block at the next pc, or SIMT_NO_BLOCK */
    uint32_t ipdom; /* pc of the immediate post-dominator, SIMT_NO_PC for the virtual exit */
    uint32_t order; /* place in a reverse postorder: smaller than its successors' but for back edges */
};

/* Consecutive instructions. */
struct simt_range {
    uint32_t pc, count;
    uint32_t first; /* index into words and block_of */
};

struct simt_edge {
    uint32_t from, to; /* pc of an indirect jump, a target it was seen to take */
};

struct simt_program {
    atomic_uint refs;
    struct simt_insn *insns;
    struct simt_block *blocks; /* sorted by pc */
    uint32_t block_count;
    struct simt_range *ranges; /* sorted by pc */
    uint32_t range_count;
    uint32_t *words;    /* by rank of pc */
    uint32_t *block_of; /* by rank of pc */
    uint32_t word_count;
    uint32_t *roots; /* roots[0] is the pc the kernel starts at */
    uint32_t root_count;
    struct simt_edge *edges;
    uint32_t edge_count;
    uint32_t block_limit; /* longest block */
    unsigned reads;       /* what its instructions read: SIMT_READS_* */
};

#define SIMT_READS_FLAGS    1u /* fflags or fcsr */
#define SIMT_READS_COUNTERS 2u /* cycle, instret or their upper halves */

/* Where code is read from. */
struct simt_code {
    const uint8_t *vram;
    uint64_t vram_size;
};

/* Build the program reachable from pc (a multiple of 4 inside VRAM); blocks hold at most block_limit
 * instructions. 0, or -ENOMEM. The caller owns one reference. */
int simt_program_build(struct simt_program **out, const struct simt_code *code, uint32_t pc,
                       uint32_t block_limit);

/* Build a program that also has root pc (unless SIMT_NO_PC) and the given indirect-jump edges. Code that old
 * knows is not read again. When old is full, the result knows only what is reachable from pc. 0 or -ENOMEM.
 */
int simt_program_extend(struct simt_program **out, const struct simt_program *old,
                        const struct simt_code *code, uint32_t pc, const struct simt_edge *edges,
                        uint32_t edge_count);

struct simt_program *simt_program_ref(struct simt_program *p);
void simt_program_unref(struct simt_program *p); /* NULL is allowed */

/* VRAM still holds exactly the words the program was built from. */
bool simt_program_matches(const struct simt_program *p, const struct simt_code *code);

/* SIMT_READS_* of code within 64 KiB behind the program (functions reached only by pointer). */
unsigned simt_program_reads_nearby(const struct simt_program *p, const struct simt_code *code);

/* The block that holds pc, and in *offset the instruction's index in it. NULL when pc is not in the program.
 */
const struct simt_block *simt_program_find(const struct simt_program *p, uint32_t pc, uint32_t *offset);

bool simt_program_has_edge(const struct simt_program *p, uint32_t from, uint32_t to);

#endif
