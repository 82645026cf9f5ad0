/* SPDX-License-Identifier: MIT */
/*
 * out[m] = a[m] * b[m] for m < count, 4x4 matrices in row order. One thread an element: m = i / 16,
 * row = i / 4 % 4, column = i % 4. a0 = a, a1 = b, a2 = out, a3 = count.
 */
#include "kernel.inc"

kernel matmul_4x4, "pppu"
    global_id t0
    srli    t1, t0, 4           /* matrix */
    end_if_past t1, a3
    andi    t2, t0, 3           /* column */
    andi    t3, t0, -4          /* first element of the row in a */
    slli    t3, t3, 2
    add     a0, a0, t3
    slli    t1, t1, 4           /* first element of the matrix in b */
    add     t1, t1, t2
    slli    t1, t1, 2
    add     a1, a1, t1
    slli    t0, t0, 2
    add     a2, a2, t0

    li      t4, 0
.irp k, 0, 1, 2, 3
    lw      t1, 4 * \k (a0)
    lw      t2, 16 * \k (a1)
    mul     t1, t1, t2
    add     t4, t4, t1
.endr
    sw      t4, 0(a2)
    ebreak
