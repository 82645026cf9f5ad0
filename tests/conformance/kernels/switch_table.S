/* SPDX-License-Identifier: MIT */
/* A switch through a table of addresses: eight targets at once, one of them reached by falling through. */
    .section .text.entry, "ax"
    .globl kernel
kernel:
    li      t1, 0x80000000
    lw      t2, 0(t1)
    lw      t3, 0x10(t1)
    lw      t4, 0x20(t1)
    mul     t3, t3, t4
    add     t2, t2, t3          /* thread x in the grid's x */
    li      a3, 0
    li      a4, 12
again:
    add     t3, t2, a4
    mul     t3, t3, t3
    srli    t3, t3, 1
    andi    t3, t3, 7
    slli    t3, t3, 2
    la      t4, table
    add     t4, t4, t3
    lw      t4, 0(t4)
    jr      t4
case0:
    addi    a3, a3, 1
    j       next
case1:
    slli    a3, a3, 1
case2:
    addi    a3, a3, 3
    j       next
case3:
    xori    a3, a3, 0x55
    andi    t5, a3, 1
    beqz    t5, case2
    j       next
case4:
    addi    a4, a4, -1
    bgtz    a4, again
    j       next
case5:
    neg     a3, a3
case6:
    addi    a3, a3, 77
next:
    addi    a4, a4, -1
    bgez    a4, again
case7:
    lw      t3, 4(t1)
    lw      t4, 8(t1)
    or      t3, t3, t4
    lw      t4, 0x14(t1)
    or      t3, t3, t4
    lw      t4, 0x18(t1)
    or      t3, t3, t4
    bnez    t3, done            /* only the first row writes */
    slli    t2, t2, 8
    add     a0, a0, t2
    sw      a3, 0(a0)
    sw      a4, 4(a0)
done:
    ebreak
    .balign 4
table:
    .word   case0, case1, case2, case3, case4, case5, case6, case7
