// SPDX-License-Identifier: MIT
/* Numbers as people read them. */
#ifndef CORE_FORMAT_H
#define CORE_FORMAT_H

#include <stdint.h>

struct size_text {
    char text[32];
};

/* "64 MiB", "4 KiB", "100 bytes": exact, in the largest unit that divides `bytes`. */
struct size_text format_size(uint64_t bytes);

#endif
