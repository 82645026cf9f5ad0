/* SPDX-License-Identifier: MIT */
/*
 * out[c][y][x] = max of in[c][2y..2y+1][2x..2x+1]; an odd last row or column is left out.
 * One thread an output. a0 = in, a1 = out, a2 = h, a3 = w, a4 = c.
 */
#include "kernel.inc"

.macro max rd, rs
    bge     \rd, \rs, .Lkeep\@
    mv      \rd, \rs
.Lkeep\@:
.endm

kernel max_pool_2x2, "ppuuu"
    global_id t0
    srli    t1, a2, 1           /* output height */
    srli    t2, a3, 1           /* output width */
    mul     t3, t1, t2          /* outputs a plane */
    mul     t4, t3, a4
    end_if_past t0, t4

    divu    t4, t0, t3          /* c */
    remu    t3, t0, t3          /* place in the plane */
    slli    t0, t0, 2
    add     a1, a1, t0
    mul     t4, t4, a2          /* first input row of plane c */
    divu    t1, t3, t2          /* y */
    remu    t3, t3, t2          /* x */
    slli    t1, t1, 1
    add     t4, t4, t1
    mul     t4, t4, a3
    slli    t3, t3, 1
    add     t4, t4, t3
    slli    t4, t4, 2
    add     a0, a0, t4          /* in[c][2y][2x] */
    slli    a3, a3, 2
    add     a3, a0, a3          /* the row below */

    lw      t0, 0(a0)
    lw      t1, 4(a0)
    max     t0, t1
    lw      t1, 0(a3)
    max     t0, t1
    lw      t1, 4(a3)
    max     t0, t1
    sw      t0, 0(a1)
    ebreak
