/* SPDX-License-Identifier: MIT */
/* Never ends: what a time limit is tested with. */
#include "../../kernels/kernel.inc"

kernel spin, ""
    j       spin
