// SPDX-License-Identifier: MIT
#include "symbols.h"
#include "boot.h"

#include <string.h>

#include "hal/trap.h"

// Index of the last function that starts at or before `at`. ksyms_offsets[0] is not behind it.
static uint32_t index_of(uint32_t at)
{
    uint32_t low = 0, high = ksyms_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (ksyms_offsets[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const char *symbol_lookup(uintptr_t pc, size_t *offset)
{
    if (pc < (uintptr_t)image_start || pc >= (uintptr_t)text_end || ksyms_count == 0)
        return NULL;
    uint32_t at = (uint32_t)(pc - (uintptr_t)image_start);
    if (at < ksyms_offsets[0])
        return NULL;
    uint32_t index = index_of(at);
    *offset = at - ksyms_offsets[index];
    const char *name = ksyms_names;
    while (index--)
        name += strlen(name) + 1;
    return name;
}
