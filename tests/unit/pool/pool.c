// SPDX-License-Identifier: MIT
// The pool of free memory: each rule by example, then all of them at random against a map of owners.
#include "random.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pool.h"

#define UNITS 512
#define BYTES (UNITS * POOL_UNIT)
#define LARGE 1024 // what the memory is aligned to

static char *memory;
static struct pool pool;

static int setup(void **state)
{
    (void)state;
    memory = aligned_alloc(LARGE, BYTES);
    pool = (struct pool){0};
    return memory && pool_give(&pool, memory, BYTES) == (void *)memory ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(memory);
    return 0;
}

static void *unit(size_t n)
{
    return memory + n * POOL_UNIT;
}

static void *take(size_t units)
{
    return pool_take(&pool, units * POOL_UNIT, POOL_UNIT, 0);
}

static void *give(size_t first, size_t units)
{
    return pool_give(&pool, unit(first), units * POOL_UNIT);
}

static void lowest_first(void **state)
{
    (void)state;
    assert_ptr_equal(take(1), unit(0));
    assert_ptr_equal(take(3), unit(1));
    assert_int_equal(pool.free, BYTES - 4 * POOL_UNIT);
    assert_ptr_equal(give(0, 1), unit(0));
    assert_ptr_equal(take(2), unit(4)); // the hole is too short
    assert_ptr_equal(take(1), unit(0));
}

static void neighbours_join(void **state)
{
    (void)state;
    assert_ptr_equal(take(UNITS), unit(0));
    assert_null(take(1));
    assert_ptr_equal(give(10, 2), unit(10));
    assert_ptr_equal(give(14, 2), unit(14));
    assert_null(take(3));
    assert_ptr_equal(give(12, 2), unit(10)); // the run that it is part of now
    assert_int_equal(pool.root->size, 6 * POOL_UNIT);
    assert_null(take(7));
    assert_ptr_equal(take(6), unit(10));
}

static void parts_may_be_given(void **state)
{
    (void)state;
    assert_ptr_equal(take(8), unit(0));
    assert_ptr_equal(give(4, 4), unit(4));
    assert_ptr_equal(give(0, 4), unit(0));
    assert_ptr_equal(take(UNITS), unit(0));
}

static void what_lies_around_an_aligned_piece_stays_free(void **state)
{
    (void)state;
    assert_ptr_equal(pool_take(&pool, 64, LARGE, POOL_UNIT), memory + LARGE - POOL_UNIT);
    assert_int_equal(pool.free, BYTES - 64);
    assert_ptr_equal(take(LARGE / POOL_UNIT - 1), unit(0));
    assert_ptr_equal(take(1), memory + LARGE - POOL_UNIT + 64);
    size_t behind_next = BYTES - (2 * LARGE - POOL_UNIT); // from the next such place to the end
    assert_null(pool_take(&pool, behind_next + POOL_UNIT, LARGE, POOL_UNIT));
    assert_ptr_equal(pool_take(&pool, behind_next, LARGE, POOL_UNIT), memory + BYTES - behind_next);
}

static void wrong_calls(void **state)
{
    (void)state;
    assert_null(take(0));
    assert_null(take(UNITS + 1));
    assert_null(pool_take(&pool, SIZE_MAX - (POOL_UNIT - 1), POOL_UNIT, 0));
    assert_ptr_equal(take(4), unit(0));
    assert_null(give(0, 0));
    assert_null(pool_give(&pool, NULL, POOL_UNIT));
    assert_null(pool_give(&pool, memory + 8, 16));
    assert_null(pool_give(&pool, memory, POOL_UNIT + 8));
    assert_null(pool_give(&pool, memory, SIZE_MAX - (POOL_UNIT - 1)));
    assert_null(give(0, 5)); // the fifth is free
    assert_ptr_equal(give(0, 4), unit(0));
    assert_null(give(0, 4));
    assert_null(give(100, 1));
    assert_int_equal(pool.free, BYTES);
}

static size_t depth(const struct pool_run *run)
{
    if (!run)
        return 0;
    size_t low = depth(run->low), high = depth(run->high);
    return 1 + (low > high ? low : high);
}

// Every other unit in a row, all of one size: the worst for a tree that orders by size alone.
static void many_equal_runs_make_no_deep_tree(void **state)
{
    (void)state;
    assert_ptr_equal(take(UNITS), unit(0));
    for (size_t i = 0; i < UNITS; i += 2)
        assert_ptr_equal(give(i, 1), unit(i));
    assert_in_range(depth(pool.root), 8, 40);
    for (size_t i = 1; i < UNITS; i += 2)
        assert_non_null(give(i, 1));
    assert_int_equal(pool.root->size, BYTES);
}

// The first place that fits, looked for slowly.
static char *slow_place(const bool *used, size_t units, size_t align, size_t offset)
{
    for (size_t first = 0; first + units <= UNITS; first++) {
        size_t n = 0;
        while (n < units && !used[first + n])
            n++;
        if (n == units && ((uintptr_t)unit(first) + offset) % align == 0)
            return unit(first);
    }
    return NULL;
}

static void random_against_a_map(void **state)
{
    (void)state;
    struct {
        char *base;
        size_t units;
    } held[32] = {0};
    bool used[UNITS] = {0};
    for (unsigned round = 0; round < 20000; round++) {
        unsigned i = (unsigned)random_below(32);
        if (held[i].base) {
            char *run = (char *)pool_give(&pool, held[i].base, held[i].units * POOL_UNIT);
            assert_true(run && run <= held[i].base);
            memset(&used[(size_t)(held[i].base - memory) / POOL_UNIT], false, held[i].units);
            held[i].base = NULL;
            continue;
        }
        size_t align = (size_t)POOL_UNIT << random_below(7), offset = random_below(2) * POOL_UNIT;
        held[i].units = 1 + random_below(40);
        char *expected = slow_place(used, held[i].units, align, offset);
        held[i].base = pool_take(&pool, held[i].units * POOL_UNIT, align, offset);
        assert_ptr_equal(held[i].base, expected);
        if (!expected)
            continue;
        memset(&used[(size_t)(expected - memory) / POOL_UNIT], true, held[i].units);
        memset(expected, 0xee, held[i].units * POOL_UNIT); // the pool keeps nothing in what it gave away
    }
    for (unsigned i = 0; i < 32; i++)
        if (held[i].base)
            assert_non_null(pool_give(&pool, held[i].base, held[i].units * POOL_UNIT));
    assert_int_equal(pool.free, BYTES);
    assert_int_equal(pool.root->size, BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lowest_first, setup, teardown),
        cmocka_unit_test_setup_teardown(neighbours_join, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_may_be_given, setup, teardown),
        cmocka_unit_test_setup_teardown(what_lies_around_an_aligned_piece_stays_free, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(many_equal_runs_make_no_deep_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(random_against_a_map, setup, teardown),
    };
    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
