/* SPDX-License-Identifier: MIT */
#include "hart.h"

    .macro for_each_saved op, context
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    \op\()d     s\n, CONTEXT_S(\n)(\context)
    f\op\()d    fs\n, CONTEXT_F(\n)(\context)
    .endr
    .endm

    .text
    .globl context_switch
    .type context_switch, @function
context_switch:
    sd      ra, CONTEXT_RA(a0)
    sd      sp, CONTEXT_SP(a0)
    sd      tp, CONTEXT_TP(a0)
    frcsr   t0
    sd      t0, CONTEXT_FCSR(a0)
    for_each_saved s, a0
    ld      ra, CONTEXT_RA(a1)
    ld      sp, CONTEXT_SP(a1)
    ld      tp, CONTEXT_TP(a1)
    ld      t0, CONTEXT_FCSR(a1)
    fscsr   t0
    for_each_saved l, a1
    ret
    .size context_switch, . - context_switch

    .globl thread_entry
    .type thread_entry, @function
thread_entry:
    li      ra, 0                   /* the end of the frame chain; s0 is 0 already */
    tail    thread_main
    .size thread_entry, . - thread_entry
