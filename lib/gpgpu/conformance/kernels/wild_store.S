/* SPDX-License-Identifier: MIT */
/* Thread a1 of the grid stores to address a0; the others end. What fault reports are tested with. */
#include "../../kernels/kernel.inc"

kernel wild_store, "uu"
    global_id t0
    bne     t0, a1, done
    sw      t0, 0(a0)
done:
    ebreak
