// SPDX-License-Identifier: MIT
// The symbol table that tools/ksyms makes from the linked image and the second link puts into it.
#ifndef HAL_RISCV64_SYMBOLS_H
#define HAL_RISCV64_SYMBOLS_H

#include <stdint.h>

extern const uint32_t ksyms_count;
extern const uint32_t ksyms_offsets[]; // of each function from image_start, ascending
extern const char ksyms_names[];       // in the same order, each ended by a zero byte

#endif
