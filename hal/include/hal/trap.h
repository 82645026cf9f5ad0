// SPDX-License-Identifier: MIT
// What panics need to know about the code that was running.
#ifndef HAL_TRAP_H
#define HAL_TRAP_H

#include "hal/types.h"

// Finds the function that contains `pc` in the symbol table linked into the image. Returns its name and sets
// `*offset` to the distance from its first instruction, or NULL when pc is not in the kernel's text.
const char *symbol_lookup(uintptr_t pc, size_t *offset);

#endif
