/* SPDX-License-Identifier: MIT */
/* The processor that code is compiled for: this one, or this one as if its vectors were of another width. */
#ifndef SIMT_JIT_HOST_H
#define SIMT_JIT_HOST_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

struct jit_host {
    char *triple, *cpu, *features; /* as LLVM has them */
    unsigned lanes;                /* of a vector in compiled code */
    unsigned registers;            /* vectors of so many lanes that the processor's registers hold */
};

/* Look at this processor; vector_bits: see struct simt_config. False when out of memory. LLVM's native target
 * has been initialised. */
bool jit_host_init(struct jit_host *h, unsigned vector_bits);
void jit_host_free(struct jit_host *h);

/* A target machine for it, NULL when LLVM has none. */
LLVMTargetMachineRef jit_host_machine(const struct jit_host *h);

#endif
