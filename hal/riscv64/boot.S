/* SPDX-License-Identifier: MIT */
/* S-mode entry from OpenSBI: a0 = hart, a1 = device tree, paging and interrupts off (SBI specification, boot). */
#include "csr.h"

    .section .text.boot, "ax"
    .globl _start
    .type _start, @function
_start:
    csrr    s1, CSR_TIME            /* what boot time is measured from */
    csrw    CSR_SIE, zero
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop

    la      t0, trap_entry
    csrw    CSR_STVEC, t0
    la      t0, trap_stack_top
    csrw    CSR_SSCRATCH, t0
    li      t0, SSTATUS_FS_INITIAL  /* the compiler may use f registers anywhere */
    csrs    CSR_SSTATUS, t0
    csrw    fcsr, zero

    la      t0, bss_start           /* 16-byte aligned and not empty, as link.lds says */
    la      t1, bss_end
1:  sd      zero, (t0)
    sd      zero, 8(t0)
    addi    t0, t0, 16
    bltu    t0, t1, 1b

    la      t0, boot_time
    sd      s1, (t0)
    csrr    t1, cycle               /* the stack protector's canary: a byte of it stays 0 to stop strings */
    slli    t1, t1, 8
    xor     t1, t1, s1
    ld      t2, mix                 /* spreads the low bits (Knuth, multiplicative hashing) */
    mul     t1, t1, t2
    slli    t1, t1, 8
    la      t0, __stack_chk_guard
    sd      t1, (t0)

    la      tp, tls_start           /* one thread: its TLS block is the image's own */
    la      sp, stack_top
    li      s0, 0                   /* the end of the frame chain */
    li      ra, 0
    call    hal_main
    unimp
    .size _start, . - _start

    .section .rodata
    .balign 8
mix:
    .dword  0x9e3779b97f4a7c15

    .section .sbss, "aw", @nobits
    .balign 8
    .globl boot_time, __stack_chk_guard
boot_time:
    .zero 8
__stack_chk_guard:
    .zero 8
