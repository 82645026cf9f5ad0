/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* asprintf */
#include "host.h"

#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* x86 has sixteen vector registers, with AVX-512 twice as many, and NEON 32. */
#define REGISTERS(x86, bits) ((x86) && (bits) < 512 ? 16u : 32u)

static bool is_x86(const char *features)
{
    return strstr(features, "+sse2") != NULL;
}

/* Of the widest vectors that have all integer and float operations. */
static unsigned widest(const char *features)
{
    if (strstr(features, "+avx512vl") && strstr(features, "+avx512dq")) {
        return 512;
    }
    return strstr(features, "+avx2") ? 256 : 128;
}

/* What to append to the features: without one of them go all that build on it. */
static const char *narrowed(unsigned bits)
{
    return bits >= 512 ? "" : bits >= 256 ? ",-avx512f" : ",-avx";
}

/* An LLVM vector is a register, or two of 128 bits: which lanes are in registers side by side is for
 * jit_slice_lanes() to say. */
static void choose_vectors(struct jit_host *h, const char *features, unsigned bits)
{
    unsigned real = widest(features);

    real = bits < real ? bits : real;
    h->lanes = bits == 512 ? 16 : 8;
    h->registers = REGISTERS(is_x86(features), real) * real / (h->lanes * 32);
}

bool jit_host_init(struct jit_host *h, unsigned vector_bits)
{
    char *features = LLVMGetHostCPUFeatures();
    unsigned bits = vector_bits ? vector_bits : widest(features);

    h->triple = LLVMGetDefaultTargetTriple();
    h->cpu = LLVMGetHostCPUName();
    if (asprintf(&h->features, "%s%s", features, is_x86(features) ? narrowed(bits) : "") < 0) {
        h->features = NULL;
    }
    choose_vectors(h, features, bits);
    LLVMDisposeMessage(features);
    return h->features != NULL;
}

void jit_host_free(struct jit_host *h)
{
    LLVMDisposeMessage(h->triple);
    LLVMDisposeMessage(h->cpu);
    free(h->features);
}

LLVMTargetMachineRef jit_host_machine(const struct jit_host *h)
{
    char *error = NULL;
    LLVMTargetRef target;
    LLVMTargetMachineRef machine = NULL;

    if (!LLVMGetTargetFromTriple(h->triple, &target, &error)) {
        machine = LLVMCreateTargetMachine(target, h->triple, h->cpu, h->features, LLVMCodeGenLevelDefault,
                                          LLVMRelocPIC, LLVMCodeModelSmall);
    }
    LLVMDisposeMessage(error);
    return machine;
}
