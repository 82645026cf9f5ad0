/* SPDX-License-Identifier: MIT */
/*
 * out[0] = x1 + ... + x19 of twenty arguments (out, x1, ..., x19): those past the eighth are in no register but
 * in the argument block, whose address the control window gives at 0x48.
 */
#include "../../kernels/kernel.inc"

#define CTRL_ARGS 0x48

kernel sum_args, "piiiiiiiiiiiiiiiiiii"
    global_id t0
    bnez    t0, done
    lui     t0, 0x80000
    lw      t0, CTRL_ARGS(t0)
    li      t1, 19
    li      t2, 0
each:
    addi    t0, t0, 4
    lw      t3, 0(t0)
    add     t2, t2, t3
    addi    t1, t1, -1
    bnez    t1, each
    sw      t2, 0(a0)
done:
    ebreak
