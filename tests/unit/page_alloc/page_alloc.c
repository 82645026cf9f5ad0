// SPDX-License-Identifier: MIT
// The page allocator: each rule by example, then all of them at random against a map of owners.
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

#include "page_alloc.h"

#define NPAGES 256

static char *memory;
static struct page_pool pool;

static int setup(void **state)
{
    (void)state;
    memory = aligned_alloc(PAGE_SIZE, NPAGES * PAGE_SIZE);
    pool = (struct page_pool){0};
    return memory ? page_pool_add(&pool, memory, NPAGES) : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(memory);
    return 0;
}

static void *page(size_t n)
{
    return memory + n * PAGE_SIZE;
}

static void lowest_first(void **state)
{
    (void)state;
    assert_ptr_equal(page_pool_alloc(&pool, 1), page(0));
    assert_ptr_equal(page_pool_alloc(&pool, 3), page(1));
    assert_int_equal(pool.free, NPAGES - 4);
    assert_int_equal(page_pool_free(&pool, page(0), 1), 0);
    assert_ptr_equal(page_pool_alloc(&pool, 2), page(4)); // the hole is too short
    assert_ptr_equal(page_pool_alloc(&pool, 1), page(0));
}

static void neighbours_join(void **state)
{
    (void)state;
    assert_ptr_equal(page_pool_alloc(&pool, NPAGES), page(0));
    assert_null(page_pool_alloc(&pool, 1));
    assert_int_equal(page_pool_free(&pool, page(10), 2), 0);
    assert_int_equal(page_pool_free(&pool, page(14), 2), 0);
    assert_null(page_pool_alloc(&pool, 3));
    assert_int_equal(page_pool_free(&pool, page(12), 2), 0);
    assert_null(page_pool_alloc(&pool, 7));
    assert_ptr_equal(page_pool_alloc(&pool, 6), page(10));
}

static void parts_may_be_freed(void **state)
{
    (void)state;
    void *run = page_pool_alloc(&pool, 8);
    assert_int_equal(page_pool_free(&pool, (char *)run + 4 * PAGE_SIZE, 4), 0);
    assert_int_equal(page_pool_free(&pool, run, 4), 0);
    assert_ptr_equal(page_pool_alloc(&pool, NPAGES), page(0));
}

static void wrong_calls(void **state)
{
    (void)state;
    assert_null(page_pool_alloc(&pool, 0));
    assert_null(page_pool_alloc(&pool, NPAGES + 1));
    assert_null(page_pool_alloc(&pool, SIZE_MAX));
    void *run = page_pool_alloc(&pool, 4);
    assert_int_equal(page_pool_free(&pool, run, 0), -EINVAL);
    assert_int_equal(page_pool_free(&pool, (char *)run + 8, 1), -EINVAL);
    assert_int_equal(page_pool_free(&pool, run, SIZE_MAX / 2), -EINVAL);
    assert_int_equal(page_pool_free(&pool, run, 5), -EEXIST); // the fifth is free
    assert_int_equal(page_pool_free(&pool, run, 4), 0);
    assert_int_equal(page_pool_free(&pool, run, 4), -EEXIST);
    assert_int_equal(page_pool_free(&pool, page(100), 1), -EEXIST);
    assert_int_equal(page_pool_add(&pool, page(100), 1), -EEXIST);
    assert_int_equal(pool.total, NPAGES);
    assert_int_equal(pool.free, NPAGES);
}

static size_t longest_in(const bool *used)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < NPAGES; i++) {
        run = used[i] ? 0 : run + 1;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void random_against_a_map(void **state)
{
    (void)state;
    struct {
        char *base;
        size_t n;
    } held[32] = {0};
    bool used[NPAGES] = {0};
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    srand(seed);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned i = (unsigned)rand() % 32;
        if (held[i].base) {
            assert_int_equal(page_pool_free(&pool, held[i].base, held[i].n), 0);
            memset(&used[(held[i].base - memory) / (long)PAGE_SIZE], false, held[i].n);
            held[i].base = NULL;
        } else {
            held[i].n = 1 + (size_t)rand() % 24;
            held[i].base = page_pool_alloc(&pool, held[i].n);
            assert_int_equal(held[i].base != NULL, held[i].n <= longest_in(used));
            for (size_t k = 0; held[i].base && k < held[i].n; k++) {
                size_t at = (size_t)(held[i].base - memory) / PAGE_SIZE + k;
                assert_in_range(at, 0, NPAGES - 1);
                assert_false(used[at]);
                used[at] = true;
                memset(page(at), 0xee, PAGE_SIZE); // the allocator keeps nothing in pages it gave away
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lowest_first, setup, teardown),
        cmocka_unit_test_setup_teardown(neighbours_join, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_may_be_freed, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(random_against_a_map, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
