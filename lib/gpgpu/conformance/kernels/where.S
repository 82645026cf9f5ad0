/* SPDX-License-Identifier: MIT */
/*
 * out[i] = z << 24 | y << 16 | x << 8 | block for every thread, i the number of the thread in the whole grid,
 * counted x fastest in blocks and in the grid. a0 = out.
 */
#include "../../kernels/kernel.inc"

/* \rd = (z * dim_y + y) * dim_x + x of the triples at \at and \dims of the window. */
.macro linear rd, at, dims
    lw      \rd, \at + 8 (t6)
    lw      t5, \dims + 4 (t6)
    mul     \rd, \rd, t5
    lw      t5, \at + 4 (t6)
    add     \rd, \rd, t5
    lw      t5, \dims (t6)
    mul     \rd, \rd, t5
    lw      t5, \at (t6)
    add     \rd, \rd, t5
.endm

kernel where, "p"
    lui     t6, 0x80000
    linear  t0, 0x10, 0x30      /* block in the grid */
    linear  t1, 0x00, 0x20      /* thread in the block */
    lw      t2, 0x20(t6)
    lw      t3, 0x24(t6)
    mul     t2, t2, t3
    lw      t3, 0x28(t6)
    mul     t2, t2, t3          /* threads of a block */
    mul     t2, t2, t0
    add     t2, t2, t1
    slli    t2, t2, 2
    add     a0, a0, t2
    lw      t1, 0x08(t6)
    slli    t1, t1, 8
    lw      t2, 0x04(t6)
    or      t1, t1, t2
    slli    t1, t1, 8
    lw      t2, 0x00(t6)
    or      t1, t1, t2
    slli    t1, t1, 8
    or      t1, t1, t0
    sw      t1, 0(a0)
    ebreak
