/* SPDX-License-Identifier: MIT */
/*
 * What two runs of a launch have in common beside memory: registers, at block barriers and where a launch
 * faults. Those are the places that every engine passes with each thread at a known instruction.
 *
 * Compiled code keeps no register that its kernel cannot read any more. So only live ones are compared: those
 * that the compiler's analysis says may be read from that instruction on before they are written; all of them
 * when the kernel was interpreted, none where the analysis does not know the place. The first run notes which
 * registers that were, the second one takes the same. Kernels with atomics are left out: what an atomic
 * returns may depend on the order of threads, which is each engine's own.
 */
#ifndef SIMT_WITNESS_H
#define SIMT_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#define SIMT_WITNESS_PLACES 64u

struct simt_cu;
struct simt_warp;
struct simt_path;

struct simt_witness_place {
    uint32_t pc;
    int32_t depth; /* calls around pc */
    uint64_t live; /* bit r for x[r], 32 + r for f[r] */
};

struct simt_witness {
    bool second; /* place is given */
    struct simt_witness_place place[SIMT_WITNESS_PLACES];
    uint32_t places;
    uint64_t barriers; /* sum over threads and barriers of a hash of place, thread and live registers */
    uint64_t fault;    /* the same for the thread that the fault record names */
};

/* A launch is about to run for the first, or (second) again. */
void simt_witness_begin(struct simt_witness *w, bool second);

/* The lanes of path p are at a barrier that is now complete, or the launch ends with cu->fault in them. */
void simt_witness_barrier(struct simt_cu *cu, const struct simt_warp *w, const struct simt_path *p);
void simt_witness_fault(struct simt_cu *cu, const struct simt_warp *w, const struct simt_path *p);

#endif
