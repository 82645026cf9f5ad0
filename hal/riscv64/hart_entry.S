/* SPDX-License-Identifier: MIT */
/* Where the other harts start: a1 = its struct hart, paging and interrupts off (SBI specification, 9.1). */
#include "csr.h"
#include "hart.h"

    .text
    .globl hart_entry
    .type hart_entry, @function
hart_entry:
    csrw    CSR_SIE, zero
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      t0, trap_entry
    csrw    CSR_STVEC, t0
    ld      t0, HART_TRAP_TOP(a1)
    csrw    CSR_SSCRATCH, t0
    li      t0, SSTATUS_FS_INITIAL
    csrs    CSR_SSTATUS, t0
    csrw    fcsr, zero
    ld      t0, HART_IDLE(a1)       /* a thread begins with its context */
    ld      sp, CONTEXT_SP(t0)
    ld      tp, CONTEXT_TP(t0)
    ld      t0, HART_SATP(a1)
    sfence.vma
    csrw    CSR_SATP, t0            /* the image is at its physical address: nothing moves */
    sfence.vma
    li      s0, 0                   /* the end of the frame chain */
    li      ra, 0
    tail    hart_main
    .size hart_entry, . - hart_entry
