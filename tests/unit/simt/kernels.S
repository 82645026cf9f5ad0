/* SPDX-License-Identifier: MIT */
/* Kernels that C cannot say. */
    .text
    .balign 4
    .globl k_endless, k_self_jump_at_barrier, k_limit_at_barrier, k_illegal, k_ecall, k_wild_load, k_wild_store
    .globl k_wild_jump, k_misaligned_jump, k_misaligned_amo, k_amo_private, k_store_ctrl, k_return, k_jalr_same
    .globl k_register_over_barrier, k_dead_over_barrier
    .globl k_round_static, k_frm_by_pointer, k_set_frm, k_instret_uniform
    .globl k_flags, k_frm, k_reserved_frm, k_half_faults, k_mhartid, k_barrier_load, k_long_loop
    .globl k_one_faults, k_one_stays, k_constant_lanes, k_hidden_slot

k_endless:
    addi t0, t0, 1
    j k_endless

/* Thread 0 waits at the barrier, the others never come. */
k_self_jump_at_barrier:
    csrr t0, mhartid
    li t1, 0x80001000
    bnez t0, 1f
    sw zero, 0(t1)
    ret
1:  j 1b

/* The same with a loop that could change its mind. */
k_limit_at_barrier:
    csrr t0, mhartid
    li t1, 0x80001000
    beqz t0, 2f
1:  lw t2, 64(a0)
    beqz t2, 1b
2:  sw zero, 0(t1)
    ret

/* t0 is read behind the barrier, and again it is not. */
k_register_over_barrier:
    csrr t0, mhartid
    li t1, 0x80001000
    sw zero, 0(t1)
    sw t0, -4(sp)
    ret

k_dead_over_barrier:
    csrr t0, mhartid
    sw t0, -4(sp)
    li t1, 0x80001000
    sw zero, 0(t1)
    li t0, 5
    sw t0, -4(sp)
    ret

k_illegal:
    csrr t0, mhartid
    andi t0, t0, 31
    li t1, 5
    blt t0, t1, 1f
    .word 0xffffffff
1:  ret

k_ecall:
    ecall

k_wild_load:
    li t0, 0x70000000
    lw t1, 4(t0)
    ret

k_wild_store:
    li t0, 0x7ffffffe
    sw t1, 0(t0)
    ret

k_wild_jump:
    li t0, 0x70000000
    jr t0

k_misaligned_jump:
    la t0, k_return
    addi t0, t0, 2
    jr t0

k_misaligned_amo:
    addi a0, a0, 2
    amoadd.w t0, t1, (a0)
    ret

k_amo_private:
    amoadd.w t0, t1, (sp)
    ret

k_store_ctrl:
    li t0, 0x80000000
    sw zero, 0(t0)
    ret

k_barrier_load:
    li t0, 0x80001000
    lw t1, 0(t0)
    ret

k_return:
    ret

/* Even lanes load from VRAM, odd lanes from nowhere: no lane may have had its effect. out must stay. */
k_half_faults:
    csrr t0, mhartid
    andi t1, t0, 1
    li t2, 0x70000000
    beqz t1, 1f
    mv a0, t2
1:  sw t0, 0(a0)
    ret

/* rd = rs1 in jalr: the target is read first. */
k_jalr_same:
    la t0, 1f
    jalr t0, 0(t0)
    ebreak
1:  sw t0, 0(a0)
    la t1, 1b
    sub t0, t0, t1
    sw t0, 0(a0)
    ret

k_mhartid:
    csrr t0, mhartid
    lw t1, 4(a0)
    slli t2, t0, 2
    add t2, t2, a0
    sw t0, 0(t2)
    ret

/* The thread whose mhartid is a2 stores outside VRAM. */
k_one_faults:
    csrr t0, mhartid
    bne t0, a2, 1f
    li t1, 0x70000000
    sw t0, 0(t1)
1:  ret

/* It never ends. */
k_one_stays:
    csrr t0, mhartid
1:  beq t0, a2, 1b
    ret

/* Smaller and larger of floats that are constants, but not the same one in all lanes, with a zero and NaNs among them,
 * and of constants that are: -0 and 1. */
k_constant_lanes:
    li t0, 0x80000044
    lw t0, 0(t0)
    slli t1, t0, 4
    add a0, a0, t1
    addi t1, t0, -5
    fcvt.s.w fa0, t1
    li t1, 0x80000000
    fmv.w.x fa1, t1
    fmin.s fa2, fa0, fa1
    fsw fa2, 0(a0)
    fneg.s fa1, fa1
    fneg.s fa0, fa0
    fmax.s fa2, fa1, fa0
    fsw fa2, 4(a0)
    slli t1, t0, 21
    li t2, 0x7f700000
    add t1, t1, t2
    fmv.w.x fa0, t1
    li t1, 0x3f800000
    fmv.w.x fa1, t1
    fmin.s fa2, fa0, fa1
    fsw fa2, 8(a0)
    fmax.s fa2, fa1, fa0
    fsw fa2, 12(a0)
    ret

/* A word of the stack is written where the address looks like one of shared memory until it is spilled. */
k_hidden_slot:
    li t0, 0x80000044
    lw t0, 0(t0)
    xor t1, t0, t0
    addi t1, t1, -8
    li t2, 0x90000000
    add t1, t2, t1
    sub t1, t1, t2
    sw t1, -4(sp)
    li t3, 7
    sw t3, -8(sp)
    lw t1, -4(sp)
    add t4, t1, sp
    li t5, 9
    sw t5, 0(t4)
    lw t6, -8(sp)
    slli t0, t0, 2
    add a0, a0, t0
    sw t6, 0(a0)
    ret

/* One block of 32 threads, 20000 iterations of v = v * 1664525 + 1013904223: a condition that reaches its body in two
 * ways, an inner loop of v >> 28 steps, and a second exit from the loop. */
k_long_loop:
    li t0, 0x80000000
    lw t6, 0(t0)
    slli t6, t6, 2
    add a1, a1, t6
    lw a3, 0(a1)
    li a2, 20000
    li a5, 0
    li a7, 1664525
    li a6, 1013904223
    li t5, 77
    li t4, 5
    li t3, 1 << 21
    li t1, 1 << 20
    j 3f
1:  and a1, a3, t1
    bnez a1, 6f
    andi a1, a4, 2
    beqz a1, 2f
9:  and a1, a3, t3
    beqz a1, 6f
2:  addi a2, a2, -1
    beqz a2, 5f
3:  mul a3, a3, a7
    add a3, a3, a6
    srli a4, a3, 24
    andi a1, a4, 1
    bnez a1, 1b
    andi a1, a4, 2
    bnez a1, 9b
4:  srli a4, a3, 8
    bne a4, t5, 2b
    bne a5, t4, 2b
5:  add a0, a0, t6
    sw a5, 0(a0)
    ret
6:  slli a1, a5, 1
    add a5, a1, a5
    add a5, a5, a4
    srli a1, a3, 28
    beqz a1, 4b
    li a4, 0
7:  add a5, a5, a4
    addi a4, a4, 1
    bne a4, a1, 7b
    j 2b

/* Every operation that rounds, in each static mode: 32 words a thread. */
    .macro round_all mode
    fadd.s fa3, fa0, fa1, \mode
    fsub.s fa4, fa0, fa1, \mode
    fmul.s fa5, fa0, fa1, \mode
    fdiv.s fa6, fa0, fa1, \mode
    fsqrt.s fa7, fa0, \mode
    fmadd.s ft0, fa0, fa1, fa2, \mode
    fcvt.s.w ft1, t3, \mode
    fcvt.w.s t4, fa0, \mode
    fsw fa3, 0(a0)
    fsw fa4, 4(a0)
    fsw fa5, 8(a0)
    fsw fa6, 12(a0)
    fsw fa7, 16(a0)
    fsw ft0, 20(a0)
    fsw ft1, 24(a0)
    sw t4, 28(a0)
    addi a0, a0, 32
    .endm

k_round_static:
    csrr t0, mhartid
    srli t1, t0, 13
    slli t1, t1, 7
    andi t0, t0, 127
    add t0, t0, t1
    li t1, 12
    mul t1, t0, t1
    add a1, a1, t1
    slli t0, t0, 7
    add a0, a0, t0
    flw fa0, 0(a1)
    flw fa1, 4(a1)
    flw fa2, 8(a1)
    lw t3, 8(a1)
    round_all rtz
    round_all rdn
    round_all rup
    round_all rmm
    ret

/* Calls k_set_frm by pointer, then divides by 3 for so long that the interpreter asks again who executes. */
k_frm_by_pointer:
    mv s0, ra
    csrr t0, mhartid
    srli t1, t0, 13
    slli t1, t1, 7
    andi t0, t0, 127
    add t0, t0, t1
    slli t0, t0, 2
    add a0, a0, t0
    add a1, a1, t0
    la t1, k_set_frm
    jalr t1
    li t2, 3
    fcvt.s.w fa1, t2
    flw fa0, 0(a1)
    li t2, 5000
1:  fdiv.s fa2, fa0, fa1
    addi t2, t2, -1
    bnez t2, 1b
    fsw fa2, 0(a0)
    jr s0

/* What reads CSRs comes first in the image, fflags before all: code that lies behind a kernel may be reached by pointer,
 * so kernels before k_flags would not be compiled, and those before k_instret not for masks. */
    .section .text.startup, "ax"
/* out[t] = instret behind a loop that all lanes go round equally often, and cycleh. */
k_instret_uniform:
    csrr t0, mhartid
    srli t1, t0, 5
    slli t1, t1, 3
    andi t0, t0, 31
    slli t0, t0, 3
    slli t1, t1, 5
    add t0, t0, t1
    add a0, a0, t0
    li t2, 40
1:  addi t2, t2, -1
    rdinstret t3
    bnez t2, 1b
    rdcycleh t4
    sw t3, 0(a0)
    sw t4, 4(a0)
    ret

    .section .text.unlikely, "ax"
/* out[0] = fflags after 1/3, out[1] = fflags after 1/0, out[2] = after inf - inf, out[3] = fcsr. */
k_flags:
    li t0, 1
    fcvt.s.w fa0, t0
    li t0, 3
    fcvt.s.w fa1, t0
    fmv.w.x fa2, zero
    fdiv.s fa3, fa0, fa1
    frflags t1
    sw t1, 0(a0)
    fsflags zero
    fdiv.s fa3, fa0, fa2
    frflags t1
    sw t1, 4(a0)
    fsub.s fa4, fa3, fa3
    frflags t1
    sw t1, 8(a0)
    fsw fa4, 16(a0)
    fsrmi 3
    frcsr t1
    sw t1, 12(a0)
    ret

/* out[lane] = 1/3 rounded by frm = lane % 5, then static modes rdn and rup behind it. No flags are read. */
k_frm:
    csrr t0, mhartid
    andi t0, t0, 31
    li t1, 5
    remu t1, t0, t1
    fsrm t1
    li t2, 1
    fcvt.s.w fa0, t2
    li t2, 3
    fcvt.s.w fa1, t2
    fdiv.s fa2, fa0, fa1
    fneg.s fa3, fa0
    fdiv.s fa3, fa3, fa1
    fadd.s fa4, fa2, fa3, rdn
    slli t3, t0, 4
    add a0, a0, t3
    fsw fa2, 0(a0)
    fsw fa3, 4(a0)
    fdiv.s fa4, fa0, fa1, rdn
    fsw fa4, 8(a0)
    fdiv.s fa4, fa0, fa1, rup
    fsw fa4, 12(a0)
    ret

/* Lanes 3 and up set a reserved rounding mode. */
k_reserved_frm:
    csrr t0, mhartid
    andi t0, t0, 31
    li t1, 3
    sltu t1, t0, t1
    xori t1, t1, 1
    slli t1, t1, 2
    addi t1, t1, 1
    fsrm t1
    fadd.s fa0, fa0, fa0
    ret

/* A function that only a pointer leads to: frm becomes rup. */
k_set_frm:
    fsrmi 3
    ret
