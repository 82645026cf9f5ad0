/* SPDX-License-Identifier: MIT */
/*
 * What the compiler works on: the program's basic blocks as nodes, with direct calls inlined (a node per call
 * site), cut behind block barriers, and put into an order in which every loop is contiguous.
 */
#ifndef SIMT_JIT_GRAPH_H
#define SIMT_JIT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "../src/program.h"

#define JIT_MAX_NODES 256u
#define JIT_MAX_INSNS 4096u
#define JIT_MAX_DEPTH 8u
#define JIT_NO_NODE   UINT32_MAX

/* How a node ends. */
enum jit_end {
    JIT_END_FALL,    /* goes on at succ[0] */
    JIT_END_BRANCH,  /* taken: succ[0], else succ[1] */
    JIT_END_CALL,    /* writes the link register, goes on at succ[0] */
    JIT_END_RETURN,  /* jalr to where the call came from: succ[0], or JIT_NO_NODE for the end of the thread */
    JIT_END_EXIT,    /* the thread ends */
    JIT_END_BARRIER, /* the last instruction stores to the block barrier; goes on at succ[0] */
    JIT_END_LEAVE,   /* the interpreter goes on at the last instruction */
};

struct jit_node {
    uint32_t pc;
    uint32_t first, count; /* instructions, in the program's insns */
    enum jit_end end;
    uint32_t succ[2];   /* JIT_NO_NODE: outside the graph, the interpreter goes on there */
    uint32_t return_pc; /* RETURN: where the call came from, SIMT_EXIT_PC at depth 0 */
    int32_t depth;      /* calls inlined around it */
    uint32_t loop;      /* innermost loop, JIT_NO_NODE for none */
    bool returns_home;  /* RETURN: the link register is known to hold return_pc */
    bool joins;         /* has several predecessors or is a loop header */
    uint64_t live_in;   /* registers read before written from here on: bit r for x[r], 32 + r for f[r] */
};

struct jit_loop {
    uint32_t header, last; /* nodes header..last are the loop */
    uint32_t parent;       /* enclosing loop or JIT_NO_NODE */
    bool innermost;
};

struct jit_graph {
    const struct simt_program *prog;
    struct jit_node *nodes; /* in order: node 0 is the entry */
    uint32_t n;
    struct jit_loop *loops;
    uint32_t loop_count;
};

/* Registers an instruction reads and writes, as bits like jit_node.live_in; x0 is never among them. */
uint64_t jit_uses(const struct simt_insn *in);
uint64_t jit_defs(const struct simt_insn *in);

/* Float arithmetic that compiled code leaves to the interpreter's functions: narrow formats, static rounding.
 */
static inline bool jit_is_soft(const struct simt_insn *in)
{
    return simt_op_format(in->op) == SIMT_FMT_NARROW || simt_rounds_statically(in);
}

/* Build the graph of prog from its first root. barriers: pcs of the stores known to be block barriers. NULL,
 * and a reason in *why, when the program is not for the compiler; the reason is a constant string. */
struct jit_graph *jit_graph_build(const struct simt_program *prog, const uint32_t *barriers,
                                  uint32_t barrier_count, const char **why);

/* Compute live_in of every node; needs returns_home. */
void jit_graph_liveness(struct jit_graph *g);

/* Registers live at pc in every node that holds it at that depth; 0 when none does. */
uint64_t jit_graph_live_at(const struct jit_graph *g, uint32_t pc, int32_t depth);

/* Node b is reached from a by going back to a loop header. */
static inline bool jit_is_back_edge(uint32_t a, uint32_t b)
{
    return b <= a;
}

void jit_graph_free(struct jit_graph *g);

#endif
