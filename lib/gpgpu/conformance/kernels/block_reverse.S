/* SPDX-License-Identifier: MIT */
/*
 * Each block reverses its own part of data through shared memory, with a barrier between writing and reading.
 * a0 = data; one dimension, whole blocks.
 */
#include "../../kernels/kernel.inc"

#define SHARED  0x90000
#define BARRIER 0x80001

kernel block_reverse, "p"
    global_id t0
    slli    t0, t0, 2
    add     a0, a0, t0          /* own element */
    lui     t6, 0x80000
    lw      t1, CTRL_THREAD_X(t6)
    lw      t2, CTRL_BLOCK_DIM_X(t6)
    slli    t3, t1, 2
    lui     t4, SHARED
    add     t3, t3, t4
    lw      t5, 0(a0)
    sw      t5, 0(t3)
    lui     t5, BARRIER
    sw      zero, 0(t5)
    sub     t2, t2, t1
    addi    t2, t2, -1          /* place in the block of the element that comes here */
    slli    t2, t2, 2
    add     t2, t2, t4
    lw      t5, 0(t2)
    sw      t5, 0(a0)
    ebreak
