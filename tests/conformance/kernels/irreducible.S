/* SPDX-License-Identifier: MIT */
/* A loop with two entries, and a second one that crosses it. */
    .section .text.entry, "ax"
    .globl kernel
kernel:
    csrr    t0, mhartid
    li      t1, 0x9e3779b1
    mul     t1, t1, t0
    li      a3, 0
    li      a4, 60
    andi    t2, t1, 64
    bnez    t2, second
first:
    addi    a3, a3, 1
    addi    a4, a4, -1
    bltz    a4, out
    srli    t2, t1, 3
    xor     t1, t1, t2
    andi    t2, t1, 1
    beqz    t2, first
second:
    slli    t2, t1, 5
    xor     t1, t1, t2
    addi    a3, a3, 100
    addi    a4, a4, -1
    bltz    a4, out
    andi    t2, t1, 32
    bnez    t2, third
    andi    t2, t1, 2
    bnez    t2, second
    j       first
third:
    li      t2, 10000
    add     a3, a3, t2
    andi    t2, t1, 0x180
    beqz    t2, out
    addi    t1, t1, 0x123
    andi    t2, t1, 4
    bnez    t2, first
    j       second
out:
    li      t1, 0x80000000
    andi    t3, t0, 0x3ff       /* warp and lane: the thread's index, as warps are full but the last */
    slli    t3, t3, 8
    srli    t4, t0, 13
    lw      t5, 0x20(t1)
    lw      t6, 0x24(t1)
    mul     t5, t5, t6
    lw      t6, 0x28(t1)
    mul     t5, t5, t6          /* threads of a block */
    mul     t4, t4, t5
    slli    t4, t4, 8
    add     a0, a0, t3
    add     a0, a0, t4
    sw      a3, 0(a0)
    sw      a4, 4(a0)
    ret
