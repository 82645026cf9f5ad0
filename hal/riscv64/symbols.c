// SPDX-License-Identifier: MIT
// The symbol table that tools/ksyms makes from the linked image and the second link puts into it.
#include "boot.h"

#include <string.h>

#include "hal/trap.h"

extern const uint32_t ksyms_count;
extern const uint32_t ksyms_offsets[]; // of each function from image_start, ascending
extern const char ksyms_names[];       // in the same order, each ended by a zero byte

const char *symbol_lookup(uintptr_t pc, size_t *offset)
{
    if (pc < (uintptr_t)image_start || pc >= (uintptr_t)text_end)
        return NULL;
    uint32_t at = (uint32_t)(pc - (uintptr_t)image_start);
    const char *found = NULL, *name = ksyms_names;
    for (uint32_t i = 0; i < ksyms_count && ksyms_offsets[i] <= at; i++) {
        found = name;
        *offset = at - ksyms_offsets[i];
        name += strlen(name) + 1;
    }
    return found;
}
