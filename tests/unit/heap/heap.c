// SPDX-License-Identifier: MIT
// The heap on a pool of pages: rules by example, misuse that must be seen, and random use with filled blocks.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "heap.h"
#include "hal/mem.h"

#define NPAGES 1024

static char *memory;
static struct pool pool;
static struct heap heap;
static jmp_buf misuse;
static const char *misuse_text;

static void *take_pages(size_t n)
{
    return pool_take(&pool, n * PAGE_SIZE, PAGE_SIZE, 0);
}

static void give_pages(void *pages, size_t n)
{
    assert_non_null(pool_give(&pool, pages, n * PAGE_SIZE));
}

static void broken(const char *what, const void *pointer)
{
    (void)pointer;
    misuse_text = what;
    longjmp(misuse, 1);
}

static int setup(void **state)
{
    (void)state;
    memory = aligned_alloc(PAGE_SIZE, NPAGES * PAGE_SIZE);
    pool = (struct pool){0};
    heap = (struct heap){.page_alloc = take_pages, .page_free = give_pages, .broken = broken};
    return memory && pool_give(&pool, memory, NPAGES * PAGE_SIZE) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(memory);
    return 0;
}

static void assert_all_returned(void)
{
    assert_int_equal(heap.used, 0);
    assert_int_equal(pool.free, NPAGES * PAGE_SIZE);
    assert_int_equal(heap.pool.free, 0);
}

static void blocks_are_aligned_and_apart(void **state)
{
    (void)state;
    char *a = heap_alloc(&heap, 1, 0), *b = heap_alloc(&heap, 0, 0), *c = heap_alloc(&heap, 100, 0);
    assert_true(a && b && c);
    assert_true((uintptr_t)a % 16 == 0 && (uintptr_t)b % 16 == 0 && (uintptr_t)c % 16 == 0);
    assert_ptr_not_equal(a, b);
    memset(c, 1, 100);
    heap_free(&heap, b);
    heap_free(&heap, a);
    heap_free(&heap, c);
    heap_free(&heap, NULL);
    assert_all_returned();
    assert_true(heap.peak >= 101);
}

static void freed_neighbours_are_one_block_again(void **state)
{
    (void)state;
    char *blocks[4];
    for (int i = 0; i < 4; i++)
        blocks[i] = heap_alloc(&heap, 900, 0);
    char *fence = heap_alloc(&heap, 16, 0);
    heap_free(&heap, blocks[1]);
    heap_free(&heap, blocks[3]);
    heap_free(&heap, blocks[2]); // joins both sides
    heap_free(&heap, blocks[0]);
    assert_ptr_equal(heap_alloc(&heap, 3600, 0), blocks[0]);
    heap_free(&heap, blocks[0]);
    heap_free(&heap, fence);
    assert_all_returned();
}

static void alignment(void **state)
{
    (void)state;
    void *held[20];
    for (unsigned i = 0; i < 20; i++) {
        size_t align = (size_t)1 << (i % 13);
        held[i] = heap_alloc(&heap, 33 * i, align);
        assert_non_null(held[i]);
        assert_int_equal((uintptr_t)held[i] % align, 0);
    }
    for (unsigned i = 0; i < 20; i++)
        heap_free(&heap, held[i]);
    assert_all_returned();
}

static void usable_bytes(void **state)
{
    (void)state;
    for (size_t size = 0; size < 200; size++) {
        char *p = heap_alloc(&heap, size, 0);
        assert_in_range(heap_usable(&heap, p), size, size + POOL_UNIT - 1);
        memset(p, 1, heap_usable(&heap, p));
        heap_free(&heap, p);
    }
    assert_all_returned();
}

static void sizes_that_cannot_be(void **state)
{
    (void)state;
    assert_null(heap_alloc(&heap, SIZE_MAX, 0));
    assert_null(heap_alloc(&heap, SIZE_MAX - 40, 0));
    assert_null(heap_alloc(&heap, SIZE_MAX / 2, SIZE_MAX / 2 + 1));
    assert_null(heap_alloc(&heap, NPAGES * PAGE_SIZE, 0));
    assert_all_returned();
}

// Runs `statement` and asserts that the heap reported misuse.
#define assert_misuse(statement, word)                                                                       \
    do {                                                                                                     \
        misuse_text = NULL;                                                                                  \
        if (setjmp(misuse) == 0)                                                                             \
            statement;                                                                                       \
        assert_non_null(misuse_text);                                                                        \
        assert_non_null(strstr(misuse_text, word));                                                          \
    } while (0)

static void misuse_is_seen(void **state)
{
    (void)state;
    static char *a, *b;
    a = heap_alloc(&heap, 64, 0);
    b = heap_alloc(&heap, 64, 0);
    heap_free(&heap, a);
    assert_misuse(heap_free(&heap, a), "twice");
    assert_misuse(heap_free(&heap, b + 1), "not a heap pointer");
    b[-16] ^= 1; // the size before it
    assert_misuse(heap_free(&heap, b), "not a heap pointer");
    b[-16] ^= 1;
    size_t usable = heap_usable(&heap, b);
    b[usable] ^= 1; // the seal behind it
    assert_misuse(heap_free(&heap, b), "overrun");
    b[usable] ^= 1;
    heap_free(&heap, b);
    assert_misuse(heap_free(&heap, b), "twice");
    assert_misuse(heap_usable(&heap, a), "twice");
}

static void random_use(void **state)
{
    (void)state;
    struct {
        unsigned char *p;
        size_t size;
        unsigned char fill;
    } held[64] = {0};
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    srand(seed);
    for (unsigned round = 0; round < 40000; round++) {
        unsigned i = (unsigned)rand() % 64;
        size_t size = (size_t)rand() % (rand() % 50 ? 2000 : 200000);
        for (size_t k = 0; k < held[i].size; k++)
            assert_int_equal(held[i].p[k], held[i].fill);
        if (held[i].p && rand() % 3) {
            heap_free(&heap, held[i].p);
            held[i].p = NULL;
            held[i].size = 0;
            continue;
        }
        if (held[i].p)
            continue;
        unsigned char *p = heap_alloc(&heap, size, (size_t)1 << rand() % 12);
        if (!p)
            continue; // the pool is small on purpose
        held[i].p = p;
        held[i].size = size;
        held[i].fill = (unsigned char)rand();
        memset(p, held[i].fill, size);
    }
    for (unsigned i = 0; i < 64; i++)
        heap_free(&heap, held[i].p);
    assert_all_returned();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_are_aligned_and_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(freed_neighbours_are_one_block_again, setup, teardown),
        cmocka_unit_test_setup_teardown(alignment, setup, teardown),
        cmocka_unit_test_setup_teardown(usable_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(sizes_that_cannot_be, setup, teardown),
        cmocka_unit_test_setup_teardown(misuse_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(random_use, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
