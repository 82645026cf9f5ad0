/* SPDX-License-Identifier: MIT */
/* Never ends: what a time limit is tested with. */
#include "../../kernels/kernel.h"

kernel spin, ""
    j       spin
