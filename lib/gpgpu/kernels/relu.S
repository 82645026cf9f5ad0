/* SPDX-License-Identifier: MIT */
/* out[i] = max(in[i], 0), i < n. a0 = in, a1 = out, a2 = n. */
#include "kernel.inc"

kernel relu, "ppu"
    global_id t0
    end_if_past t0, a2
    slli    t0, t0, 2
    add     a0, a0, t0
    add     a1, a1, t0
    lw      t1, 0(a0)
    bgez    t1, positive        /* lanes with a negative value take the other way */
    li      t1, 0
positive:
    sw      t1, 0(a1)
    ebreak
