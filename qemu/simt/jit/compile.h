/* SPDX-License-Identifier: MIT */
/* From a program to host code, through LLVM's ORC JIT. */
#ifndef SIMT_JIT_COMPILE_H
#define SIMT_JIT_COMPILE_H

#include "abs.h"
#include "frame.h"
#include "rows.h"

struct jit_compiler;

/* Machine code for one program and variant. Immutable. */
struct jit_compiled {
    jit_code_fn fn;
    const struct jit_graph *graph;   /* owned */
    const struct jit_state *full;    /* at the entry of each node's full body; owned */
    const struct jit_masked *masked; /* owned */
    struct jit_exits exits;          /* owned */
    uint32_t *entries;               /* node of each entry point, owned */
    uint32_t entry_count;
    uint32_t longest;  /* instructions that can be issued between two looks at the limit */
    size_t code_bytes; /* estimate */
    uint32_t streamed; /* words that a thread may write past the caches */
    bool helps;        /* it calls jit_help */
    bool dirties;      /* it writes private memory */
    void *tracker;     /* of the JIT's resources */
};

/* A compiler for this host, or NULL with a reason in *why. vector_bits: see struct simt_config. */
struct jit_compiler *jit_compiler_create(unsigned vector_bits, const char **why);
void jit_compiler_destroy(struct jit_compiler *c);

/* Compile prog. 0 and *out, or -1 with a constant reason in *why. Any thread, one at a time. */
int jit_compile(struct jit_compiler *c, const struct simt_program *prog, const struct jit_variant *v,
                struct jit_compiled *out, const char **why);
void jit_compiled_free(struct jit_compiler *c, struct jit_compiled *code);

#endif
