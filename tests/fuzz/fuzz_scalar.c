/* SPDX-License-Identifier: MIT */
/*
 * One thread of any code, against the scalar oracle: memory, and on a fault its cause, pc, address and
 * instruction. Not compared: what the oracle does not know (floating point, fflags, the warp's windows), code
 * that rewrites itself (the engine may run either version), and launches that the oracle's budget ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "encode.h"
#include "launch.h"
#include "scalar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool in_warp_windows(uint32_t addr)
{
    return addr >= SIMT_CTRL_BASE && addr < SIMT_SYNC_BASE + 0x1000;
}

static bool comparable(const struct scalar_result *r)
{
    if (r->cause == SIMT_LIMIT)
        return false;
    if (r->cause == SIMT_ACCESS_FAULT || r->cause == SIMT_MISALIGNED_ATOMIC)
        return !in_warp_windows(r->addr);
    if (r->cause == SIMT_ILLEGAL_INSN)
        switch (r->insn & 0x7f) {
        case OP_LOAD_FP:
        case OP_STORE_FP:
        case OP_MADD:
        case OP_MSUB:
        case OP_NMSUB:
        case OP_NMADD:
        case OP_FP:
        case OP_SYSTEM:
            return false;
        }
    return true;
}

static void different(const char *what, const struct scalar_result *r, const struct simt_fault *f)
{
    fprintf(stderr,
            "fuzz_scalar: %s differs\n engine: %s pc %#x addr %#x insn %08x\n oracle: %s pc %#x addr %#x "
            "insn %08x\n",
            what, simt_cause_name(f->cause), f->pc, f->addr, f->insn, simt_cause_name(r->cause), r->pc,
            r->addr, r->insn);
    abort();
}

static void compare(const struct scalar_result *r, const struct simt_fault *f, const uint8_t *want,
                    const uint8_t *got)
{
    bool has_addr = r->cause >= SIMT_FETCH_FAULT && r->cause <= SIMT_MISALIGNED_ATOMIC;

    if (f->cause != r->cause)
        different("the outcome", r, f);
    if (r->cause && f->pc != r->pc)
        different("the faulting pc", r, f);
    if (has_addr && f->addr != r->addr)
        different("the faulting address", r, f);
    if (r->cause && r->cause != SIMT_FETCH_FAULT && f->insn != r->insn)
        different("the faulting instruction", r, f);
    if (memcmp(want, got, FUZZ_VRAM_SIZE))
        different("memory", r, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *want, *original;
    struct scalar_result oracle;
    struct simt_fault fault;
    struct fuzz_launch l;

    if (!fuzz_launch_parse(data, size, &l))
        return -1;
    l.config.max_insns = l.config.engine == SIMT_ENGINE_INTERP ? 4000 : 0; /* the oracle tells that it ends */
    l.config.private_size = SCALAR_PRIVATE_SIZE;
    for (int d = 0; d < 3; d++)
        l.launch.grid[d] = l.launch.block[d] = 1;
    l.launch.kernel = FUZZ_CODE_ADDR;
    l.launch.args = FUZZ_ARGS_ADDR;
    want = malloc(FUZZ_VRAM_SIZE);
    original = malloc(FUZZ_VRAM_SIZE);
    if (!want || !original)
        abort();
    memcpy(want, l.vram, FUZZ_VRAM_SIZE);
    memcpy(original, l.vram, FUZZ_VRAM_SIZE);
    oracle = scalar_run(want, FUZZ_VRAM_SIZE, &l.launch, l.config.warp_size, 2000);
    if (comparable(&oracle) && !memcmp(want + FUZZ_CODE_ADDR, original + FUZZ_CODE_ADDR, size)) {
        fuzz_launch_run(&l, &fault);
        compare(&oracle, &fault, want, l.vram);
    }
    free(want);
    free(original);
    free(l.vram);
    return 0;
}
