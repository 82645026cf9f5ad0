/* SPDX-License-Identifier: MIT */
/* Compiled programs by content, bounded; compilation in the background or at once. */
#ifndef SIMT_JIT_CACHE_H
#define SIMT_JIT_CACHE_H

#include "compile.h"

enum jit_entry_state { JIT_ENTRY_NEW, JIT_ENTRY_QUEUED, JIT_ENTRY_READY, JIT_ENTRY_REFUSED };

struct jit_entry {
    struct simt_program *prog;
    struct jit_variant variant;
    _Atomic int state;        /* enum jit_entry_state */
    struct jit_compiled code; /* when READY */
    uint64_t ready_ns;        /* when it became READY */
    uint64_t runs, lefts;     /* of the code; how many were left to the interpreter */
    atomic_bool misfit;       /* the code is left too often: compile without its expectations */
    unsigned users;
    uint64_t used;          /* for replacement */
    struct jit_entry *next; /* in the cache */
    struct jit_entry *next_queued;
};

struct jit;

/* The entry for a program, made if there is none, with a user more. NULL: out of memory. */
struct jit_entry *jit_entry_get(struct jit *j, struct simt_program *prog, const struct jit_variant *v);
void jit_entry_put(struct jit *j, struct jit_entry *entry);

/* The code ran so often, and was left so often: one of four, and it is not worth its expectations. */
void jit_entry_note(struct jit *j, struct jit_entry *entry, uint64_t runs, uint64_t lefts);

/* Have it compiled by the background thread; with wait, return when that is done. */
void jit_entry_request(struct jit *j, struct jit_entry *entry, bool wait);

#endif
