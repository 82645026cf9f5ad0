/* SPDX-License-Identifier: MIT */
/*
 * What is known about a register when code is compiled: the same in all lanes, affine in the lane index, or
 * anything; which window an address of it is likely to point into; whether float bits are exact.
 */
#ifndef SIMT_JIT_ABS_H
#define SIMT_JIT_ABS_H

#include "graph.h"

enum jit_kind {
    JIT_UNSEEN,  /* code not reached by the analysis */
    JIT_CONST,   /* value in all lanes */
    JIT_UNIFORM, /* one scalar for all lanes */
    JIT_AFFINE,  /* scalar base + value * lane index */
    JIT_VARYING,
};

/* Where an address probably points. Only a guess for which check to compile first, never a proof. */
enum jit_window { JIT_VRAM, JIT_SHARED, JIT_PRIVATE, JIT_CTRL, JIT_SYNC };

/* Float registers hold host arithmetic results whose NaNs are canonicalised only where their bits are seen.
 */
enum jit_bits {
    JIT_BITS_ANY,   /* no non-canonical NaN: both of the others are true */
    JIT_BITS_EXACT, /* the bits are the guest's */
    JIT_BITS_RAW,   /* a NaN stands for the canonical one */
};

struct jit_abs {
    uint8_t kind;   /* enum jit_kind */
    uint8_t window; /* enum jit_window */
    uint8_t bits;   /* enum jit_bits */
    uint8_t align;  /* low bits of a uniform value or of an affine base known to be 0 */
    int32_t value;  /* constant or stride */
};

#define JIT_REGS  64 /* x[0..31], f[0..31] */
#define JIT_SLOTS 64 /* words of private memory from the initial stack pointer down */

/* What is known of registers, and of the words that a function's frame is made of: a value that comes back
 * from the stack is what it was. A slot's value is in memory; of an affine one lane 0 has the base. */
struct jit_state {
    struct jit_abs reg[JIT_REGS], slot[JIT_SLOTS];
};

/* Launch properties code is specialised on; part of the cache's key. */
struct jit_variant {
    bool linear_x;   /* thread id x is affine in the lane index: block.x is a multiple of 32 or y = z = 1 */
    bool full_warps; /* the block is a multiple of 32 threads */
    bool exact;      /* each lane's instructions must be counted: compile no masked bodies */
    bool hopes; /* expect one quotient for all lanes of an affine value divided, and words of VRAM that all
                 * lanes load to be aligned; code tests it */
    uint32_t private_top; /* initial sp */
};

struct jit_abs jit_abs_const(uint32_t value);
struct jit_abs jit_abs_of(enum jit_kind kind);
struct jit_abs jit_abs_affine(int32_t stride, unsigned align);
enum jit_window jit_window_of(struct jit_abs a);

/* Result of an integer register or immediate operation. */
struct jit_abs jit_abs_alu(enum simt_op op, struct jit_abs a, struct jit_abs b);
/* An unsigned division or remainder that the variant expects to have one quotient for all lanes. */
bool jit_expects_quotient(const struct jit_variant *v, enum simt_op op, struct jit_abs a, struct jit_abs b);
/* jit_abs_alu(), or what the expectation says. */
struct jit_abs jit_abs_register_op(const struct jit_variant *v, enum simt_op op, struct jit_abs a,
                                   struct jit_abs b);
/* The base operation that an immediate instruction stands for (ADDI: ADD), or op itself. */
enum simt_op jit_base_op(enum simt_op op);

/* A load of the control window at a constant offset. */
struct jit_abs jit_abs_ctrl(const struct jit_variant *v, uint32_t offset);

/* What an instruction leaves in its destination. */
struct jit_abs jit_abs_insn(const struct jit_variant *v, const struct jit_state *s,
                            const struct simt_insn *in, uint32_t pc);

/* The slot at this address, JIT_SLOTS when it is none or nobody knows. */
unsigned jit_slot_of(const struct jit_variant *v, struct jit_abs addr);

/* The state behind an instruction; masked: for some lanes of the warp. */
void jit_abs_step(const struct jit_variant *v, struct jit_state *s, const struct simt_insn *in, uint32_t pc,
                  bool masked);

/* Merge from into the state at a node's entry; true if it changed. prefer_raw: the node is a loop header. */
bool jit_state_merge(struct jit_state *into, const struct jit_state *from, bool prefer_raw);

/* The state of a warp about to start. */
void jit_state_entry(struct jit_state *s, const struct jit_variant *v);

/* States at the entry of each node for full warps, over transfers that keep the warp together. */
struct jit_state *jit_analyse_full(const struct jit_graph *g, const struct jit_variant *v);

/* The same for masked bodies, and what analysis of them needs. One allocation; free() it. */
struct jit_masked {
    struct jit_state *entry, *after;   /* by node; UNSEEN registers where there is no masked body */
    uint64_t *live_entry, *live_after; /* registers that any lane anywhere may still read */
};

/* Over the order in which masked bodies are visited; they exist from the first one that can be reached on. */
struct jit_masked *jit_analyse_masked(const struct jit_graph *g, const struct jit_variant *v,
                                      const struct jit_state *full);

/* A comparison of a and b is one of their scalars: they are uniform, or as far apart in all lanes. */
bool jit_compares_scalars(enum simt_op op, struct jit_abs a, struct jit_abs b);

/* The branch at the end of node i is decided by registers that are uniform in state s (that of its end). */
bool jit_branch_is_uniform(const struct jit_graph *g, uint32_t i, const struct jit_state *s);

/* State after node i's instructions (a barrier's or branch's included); masked: as in jit_abs_step(). */
void jit_state_through(const struct jit_graph *g, const struct jit_variant *v, uint32_t i, bool masked,
                       struct jit_state *s);

#endif
