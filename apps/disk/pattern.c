// SPDX-License-Identifier: MIT
#include "disk.h"
#include "core/test.h"
#include <stdlib.h>

#define WORDS (BLOCK_SECTOR / sizeof(uint64_t)) /* of a sector */

void pattern_fill(uint64_t *words, uint64_t sector, uint64_t nsectors)
{
    for (uint64_t i = 0; i < nsectors * WORDS; i++)
        words[i] = sector * WORDS + i;
}

void pattern_check(const uint64_t *words, uint64_t sector, uint64_t nsectors, const char *what)
{
    for (uint64_t i = 0; i < nsectors * WORDS; i++)
        if (words[i] != sector * WORDS + i) {
            fail("%s: sector %llu, word %llu: expected %#llx, got %#llx", what,
                 (unsigned long long)(sector + i / WORDS), (unsigned long long)(i % WORDS),
                 (unsigned long long)(sector * WORDS + i), (unsigned long long)words[i]);
            return;
        }
    ok("%s: %llu sectors from %llu hold the pattern", what, (unsigned long long)nsectors,
       (unsigned long long)sector);
}

void *sectors_alloc(uint64_t nsectors)
{
    void *memory = calloc(nsectors, BLOCK_SECTOR);

    if (!memory)
        fail("no memory for %llu sectors", (unsigned long long)nsectors);
    return memory;
}
