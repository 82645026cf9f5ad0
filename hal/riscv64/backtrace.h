// SPDX-License-Identifier: MIT
#ifndef HAL_RISCV64_BACKTRACE_H
#define HAL_RISCV64_BACKTRACE_H

#include "hal/trap.h"

struct trap_frame;

// Fills `pcs` with at most `max` return addresses from where the trap interrupted the code on, innermost
// first; frame->x[0] itself is not among them. Returns the count.
size_t backtrace_from(const struct trap_frame *frame, uintptr_t *pcs, size_t max);

#endif
