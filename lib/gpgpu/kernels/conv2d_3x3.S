/* SPDX-License-Identifier: MIT */
/*
 * One input plane, out_c output planes, 3x3 window, stride 1, no padding:
 *     out[c][y][x] = bias[c] + sum over i, j < 3 of in[y + i][x + j] * weight[c][i][j]
 * One thread an output. a0 = in, a1 = weight, a2 = bias, a3 = out, a4 = in_h, a5 = in_w, a6 = out_c.
 */
#include "kernel.inc"

kernel conv2d_3x3, "ppppuuu"
    global_id t0
    addi    a4, a4, -2          /* output height */
    addi    t1, a5, -2          /* output width */
    mul     t2, a4, t1          /* outputs a plane */
    mul     t3, t2, a6
    end_if_past t0, t3

    divu    t4, t0, t2          /* c */
    remu    t2, t0, t2          /* place in the plane */
    slli    t0, t0, 2
    add     a3, a3, t0
    slli    t0, t4, 2
    add     a2, a2, t0
    lw      t3, 0(a2)           /* the sum starts as bias[c] */
    li      t0, 36
    mul     t4, t4, t0
    add     a1, a1, t4          /* weight[c] */

    divu    t4, t2, t1          /* y */
    remu    t2, t2, t1          /* x */
    mul     t4, t4, a5
    add     t4, t4, t2
    slli    t4, t4, 2
    add     a0, a0, t4          /* in[y][x] */
    slli    a5, a5, 2           /* bytes of an input row */
    li      t0, 3
row:
.irp j, 0, 4, 8
    lw      t1, \j (a0)
    lw      t2, \j (a1)
    mul     t1, t1, t2
    add     t3, t3, t1
.endr
    add     a0, a0, a5
    addi    a1, a1, 12
    addi    t0, t0, -1
    bnez    t0, row
    sw      t3, 0(a3)
    ebreak
