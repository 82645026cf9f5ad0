// SPDX-License-Identifier: MIT
#ifndef HAL_RISCV64_BACKTRACE_H
#define HAL_RISCV64_BACKTRACE_H

#include "hal/trap.h"

// As backtrace(), from the frame pointer `fp` on.
size_t backtrace_from(uintptr_t fp, uintptr_t *pcs, size_t max);

#endif
