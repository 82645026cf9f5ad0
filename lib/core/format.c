// SPDX-License-Identifier: MIT
#include "core/format.h"
#include <inttypes.h>
#include <stdio.h>

struct size_text format_size(uint64_t bytes)
{
    static const char units[][6] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    struct size_text size;

    while (bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(size.text, sizeof(size.text), "%" PRIu64 " %.5s", bytes, units[unit]);
    return size;
}
