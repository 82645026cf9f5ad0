// SPDX-License-Identifier: MIT
// malloc and its family, pages, and the devices' view of memory.
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/test.h"
#include "hal/dma.h"
#include "hal/mem.h"
#include "selftest.h"

#define NBLOCKS 100

static unsigned char *blocks[NBLOCKS];

static size_t size_of(unsigned i)
{
    return i * 37 % 5000 + i;
}

static bool filled(unsigned i)
{
    for (size_t k = 0; k < size_of(i); k++)
        if (blocks[i][k] != (unsigned char)i)
            return false;
    return true;
}

static void test_heap(void)
{
    struct mem_stats before, after;
    bool all = true, intact = true;
    mem_check();
    mem_get_stats(&before);
    for (unsigned i = 0; i < NBLOCKS; i++) {
        blocks[i] = malloc(size_of(i));
        all &= blocks[i] != NULL;
        if (blocks[i])
            memset(blocks[i], (int)i, size_of(i));
    }
    for (unsigned i = 0; all && i < NBLOCKS; i += 2)
        free(blocks[i]);
    for (unsigned i = 1; all && i < NBLOCKS; i += 2)
        intact &= filled(i);
    check(all && intact, "%d blocks keep their bytes while neighbours are freed", NBLOCKS);
    for (unsigned i = 1; all && i < NBLOCKS; i += 2)
        free(blocks[i]);
    mem_check();
    mem_get_stats(&after);
    check(before.heap_bytes == after.heap_bytes && before.pages_free == after.pages_free,
          "all of it came back");
    check(after.heap_peak_bytes > before.heap_bytes, "the peak was %zu bytes", after.heap_peak_bytes);
}

static void test_sizes(void)
{
    volatile size_t huge = SIZE_MAX / 2;
    errno = 0;
    void *p = malloc(huge);
    check(!p && errno == ENOMEM, "malloc() of half the address space is refused");
    free(p);
    p = calloc(huge, 4);
    check(!p, "calloc() whose product overflows is refused");
    free(p);
    check(posix_memalign(&p, 4096, 100) == 0 && (uintptr_t)p % 4096 == 0, "a block on a page boundary");
    free(p);
    check(posix_memalign(&p, 24, 100) == EINVAL, "alignment is a power of two");
    char *text = strdup("as long"), *longer = text ? realloc(text, 100000) : NULL;
    char *again = longer ? realloc(longer, 8) : NULL;
    check(again && strcmp(again, "as long") == 0, "realloc() takes the bytes along");
    size_t usable = malloc_usable_size(again);
    check(usable >= 8 && usable < 64 && malloc_usable_size(NULL) == 0, "malloc_usable_size(): %zu of 8",
          usable);
    free(again);
    unsigned char *zeroes = calloc(1000, 1);
    bool zero = zeroes != NULL;
    for (size_t i = 0; zero && i < 1000; i++)
        zero = zeroes[i] == 0;
    check(zero, "calloc() gives zeroes");
    free(zeroes);
}

static void test_pages(void)
{
    struct mem_stats stats;
    char *pages = page_alloc(16);
    check(pages && (uintptr_t)pages % PAGE_SIZE == 0, "16 pages");
    page_free(pages, 8);
    page_free(pages + 8 * PAGE_SIZE, 8);
    mem_get_stats(&stats);
    check(!page_alloc(stats.pages_free + 1), "not one page more than the %zu that are free",
          stats.pages_free);
}

static void test_dma(void)
{
    int local;
    char *block = malloc(100000);
    check(block && dma_able(block, 100000) && dma_able(&local, sizeof(local)),
          "devices reach heap and stack");
    check(dma_address(block + 99999).value - dma_address(block).value == 99999, "contiguously");
    check(!dma_able((void *)0x1000, 1) && !dma_able(block, SIZE_MAX), "and nothing that is not memory");
    free(block);
}

void test_memory(void)
{
    test_heap();
    test_sizes();
    test_pages();
    test_dma();
}
