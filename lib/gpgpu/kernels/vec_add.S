/* SPDX-License-Identifier: MIT */
/* out[i] = a[i] + b[i], i < n. a0 = a, a1 = b, a2 = out, a3 = n. */
#include "kernel.inc"

kernel vec_add, "pppu"
    global_id t0
    end_if_past t0, a3
    slli    t0, t0, 2
    add     a0, a0, t0
    add     a1, a1, t0
    add     a2, a2, t0
    lw      t1, 0(a0)
    lw      t2, 0(a1)
    add     t1, t1, t2
    sw      t1, 0(a2)
    ebreak
