// SPDX-License-Identifier: MIT
#include "symbols.h"
#include "boot.h"

#include <string.h>

#include "hal/trap.h"

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
