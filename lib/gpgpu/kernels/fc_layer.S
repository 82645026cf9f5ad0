/* SPDX-License-Identifier: MIT */
/*
 * Fully connected: out[o] = bias[o] + sum over i < in_dim of weight[o][i] * in[i], o < out_dim. One thread an
 * output. a0 = in, a1 = weight, a2 = bias, a3 = out, a4 = in_dim, a5 = out_dim.
 */
#include "kernel.inc"

kernel fc_layer, "ppppuu"
    global_id t0
    end_if_past t0, a5
    slli    t1, t0, 2
    add     a2, a2, t1
    add     a3, a3, t1
    lw      t2, 0(a2)
    mul     t0, t0, a4
    slli    t0, t0, 2
    add     a1, a1, t0
    beqz    a4, done
each:
    lw      t0, 0(a0)
    lw      t1, 0(a1)
    mul     t0, t0, t1
    add     t2, t2, t0
    addi    a0, a0, 4
    addi    a1, a1, 4
    addi    a4, a4, -1
    bnez    a4, each
done:
    sw      t2, 0(a3)
    ebreak
