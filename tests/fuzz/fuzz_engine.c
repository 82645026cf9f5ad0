/* SPDX-License-Identifier: MIT */
/* The whole engine: any code, arguments, launch shape, warp size, number of compute units and engine; with
 * engine=check compiled code and the interpreter must agree. */
#include <errno.h>
#include <stdlib.h>
#include "launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_launch l;
    struct simt_fault fault;
    int err;

    if (!fuzz_launch_parse(data, size, &l))
        return -1;
    err = fuzz_launch_run(&l, &fault);
    if (err != 0 && err != -EFAULT && err != -EINVAL)
        abort();
    if (err == -EFAULT &&
        (fault.cause < SIMT_ILLEGAL_INSN || fault.cause > SIMT_BARRIER_DEADLOCK || !fault.count))
        abort();
    free(l.vram);
    return 0;
}
