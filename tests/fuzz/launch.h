/* SPDX-License-Identifier: MIT */
/*
 * How a fuzzer's input becomes a launch: a header of fixed size, then words that are put at FUZZ_CODE_ADDR.
 * What is chosen by the header stays small, so that one input runs for milliseconds; VRAM is a heap block, so
 * that ASan sees every step outside.
 */
#ifndef FUZZ_LAUNCH_H
#define FUZZ_LAUNCH_H

#include <stddef.h>
#include "simt/simt.h"

#define FUZZ_VRAM_SIZE 0x10000u
#define FUZZ_CODE_ADDR 0x1000u
#define FUZZ_ARGS_ADDR 0x100u

struct fuzz_header {
    uint8_t grid[3], block[3];
    uint8_t warp_size, num_cus;
    uint8_t flags;  /* bit 0 deterministic, bits 1..3: odd launches, bits 4..6: engine */
    uint8_t shared; /* in 64 bytes */
    uint8_t insns;  /* scale of the budget */
    uint8_t reserved;
    uint32_t args[SIMT_ARG_REGS];
};

struct fuzz_launch {
    struct simt_config config;
    struct simt_launch launch;
    uint8_t *vram;
};

/* False: the input is too short. vram is allocated; free() it. */
bool fuzz_launch_parse(const uint8_t *data, size_t size, struct fuzz_launch *out);

/* Run it; what simt_run() returns. A launch the device refuses is fine, one it refuses after accepting is
 * not. */
int fuzz_launch_run(struct fuzz_launch *l, struct simt_fault *fault);

#endif
