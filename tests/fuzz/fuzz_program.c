/* SPDX-License-Identifier: MIT */
/* Decoder, discovery and control-flow graph: any words as a program, of which only the first block runs. */
#include <stdlib.h>
#include "launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_launch l;
    struct simt_fault fault;

    if (!fuzz_launch_parse(data, size, &l))
        return -1;
    l.config.max_insns = 1;
    l.config.num_cus = 1;
    l.launch.grid[0] = l.launch.grid[1] = l.launch.grid[2] = 1;
    fuzz_launch_run(&l, &fault);
    free(l.vram);
    return 0;
}
