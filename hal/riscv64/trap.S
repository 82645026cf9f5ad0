/* SPDX-License-Identifier: MIT */
/*
 * Trap entry. Traps run on a stack of their own, so that an overflow of the kernel's stack is still reported.
 * sscratch holds the trap stack's top while ordinary code runs, and 0 while a trap is being handled: finding 0
 * means that the handler itself trapped, which is reported from a last, small stack.
 */
#include "csr.h"
#include "trap.h"

    .macro for_each_x op
    .irp n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \op     x\n, FRAME_X(\n)(sp)
    .endr
    .endm

    .macro for_each_f op
    .set    slot, 0
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
    \op     f\n, FRAME_F(slot)(sp)
    .set    slot, slot + 1
    .endr
    .endm

    .text
    .balign 4
    .globl trap_entry
    .type trap_entry, @function
trap_entry:
    csrrw   sp, CSR_SSCRATCH, sp
    bnez    sp, 1f
    la      sp, last_stack_top
1:  addi    sp, sp, -FRAME_SIZE
    for_each_x sd
    csrrw   t0, CSR_SSCRATCH, zero
    sd      t0, FRAME_X(2)(sp)
    csrr    t0, CSR_SEPC
    sd      t0, FRAME_PC(sp)
    csrr    t0, CSR_SSTATUS
    sd      t0, FRAME_STATUS(sp)
    csrr    t0, CSR_SCAUSE
    sd      t0, FRAME_CAUSE(sp)
    csrr    t0, CSR_STVAL
    sd      t0, FRAME_VALUE(sp)
    csrr    t0, fcsr
    sd      t0, FRAME_FCSR(sp)
    for_each_f fsd

    mv      a0, sp
    call    trap_handle             /* returns from interrupts only */

    for_each_f fld
    ld      t0, FRAME_FCSR(sp)
    csrw    fcsr, t0
    ld      t0, FRAME_PC(sp)
    csrw    CSR_SEPC, t0
    ld      t0, FRAME_STATUS(sp)
    csrw    CSR_SSTATUS, t0
    addi    t0, sp, FRAME_SIZE
    csrw    CSR_SSCRATCH, t0
    for_each_x ld
    ld      sp, FRAME_X(2)(sp)
    sret
    .size trap_entry, . - trap_entry

    .section .noinit, "aw", @nobits
    .balign 16
    .zero 4096
last_stack_top:
