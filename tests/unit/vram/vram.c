/* SPDX-License-Identifier: MIT */
/* The device memory allocator: each rule by example, then all of them at random against a byte map. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "drivers/gpgpu.h"
#include "random.h"
#include "vram.h"

#define BASE 64u
#define SIZE 4096u

static int setup(void **state)
{
    static struct vram v;
    *state = &v;
    return vram_init(&v, BASE, SIZE);
}

static int teardown(void **state)
{
    vram_destroy(*state);
    return 0;
}

static void init_cuts_to_alignment(void **state)
{
    (void)state;
    struct vram v;
    struct vram_stats s;
    assert_int_equal(vram_init(&v, 1, 64 * 3), 0);
    vram_stats(&v, &s);
    assert_int_equal(s.total, 128);
    uint64_t addr;
    assert_int_equal(vram_alloc(&v, 128, &addr), 0);
    assert_int_equal(addr, 64);
    vram_destroy(&v);
}

static void init_rejects_empty_and_wrapping_ranges(void **state)
{
    (void)state;
    struct vram v;
    assert_int_equal(vram_init(&v, 64, 63), -EINVAL);
    assert_int_equal(vram_init(&v, 1, 100), -EINVAL);
    assert_int_equal(vram_init(&v, 0, 0), -EINVAL);
    assert_int_equal(vram_init(&v, UINT64_MAX - 10, 1000), -EINVAL);
    assert_int_equal(vram_init(&v, UINT64_MAX - 10, 5), -EINVAL);
}

static void alloc_is_aligned_and_disjoint(void **state)
{
    struct vram *v = *state;
    uint64_t a, b;
    assert_int_equal(vram_alloc(v, 1, &a), 0);
    assert_int_equal(vram_alloc(v, 65, &b), 0);
    assert_int_equal(a % GPGPU_ALIGNMENT, 0);
    assert_int_equal(b, a + 64);
    struct vram_stats s;
    vram_stats(v, &s);
    assert_int_equal(s.used, 64 + 128);
    assert_int_equal(s.allocations, 2);
}

static void alloc_rejects_zero_and_too_much(void **state)
{
    struct vram *v = *state;
    uint64_t a;
    assert_int_equal(vram_alloc(v, 0, &a), -EINVAL);
    assert_int_equal(vram_alloc(v, SIZE + 1, &a), -ENOMEM);
    assert_int_equal(vram_alloc(v, UINT64_MAX, &a), -ENOMEM);
    assert_int_equal(vram_alloc(v, UINT64_MAX - 63, &a), -ENOMEM);
    assert_int_equal(vram_alloc(v, SIZE, &a), 0);
    assert_int_equal(vram_alloc(v, 1, &a), -ENOMEM);
}

static void free_rejects_double_and_foreign(void **state)
{
    struct vram *v = *state;
    uint64_t a;
    assert_int_equal(vram_alloc(v, 128, &a), 0);
    assert_int_equal(vram_free(v, a + 64), -EINVAL);
    assert_int_equal(vram_free(v, a + 1), -EINVAL);
    assert_int_equal(vram_free(v, 0), -EINVAL);
    assert_int_equal(vram_free(v, BASE + SIZE), -EINVAL);
    assert_int_equal(vram_free(v, UINT64_MAX), -EINVAL);
    assert_int_equal(vram_free(v, a), 0);
    assert_int_equal(vram_free(v, a), -EINVAL);
}

/* Free three neighbours in every order: in the end the whole range is one block again. */
static void free_merges_neighbours(void **state)
{
    struct vram *v = *state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t k = 0; k < 6; k++) {
        uint64_t a[3];
        for (int i = 0; i < 3; i++)
            assert_int_equal(vram_alloc(v, 100, &a[i]), 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(vram_free(v, a[orders[k][i]]), 0);
        struct vram_stats s;
        vram_stats(v, &s);
        assert_int_equal(s.largest_free, SIZE);
        assert_int_equal(v->count, 1);
    }
}

static void hole_is_used_again(void **state)
{
    struct vram *v = *state;
    uint64_t a[3], b;
    for (int i = 0; i < 3; i++)
        assert_int_equal(vram_alloc(v, 64, &a[i]), 0);
    assert_int_equal(vram_free(v, a[1]), 0);
    assert_int_equal(vram_alloc(v, 64, &b), 0);
    assert_int_equal(b, a[1]);
}

static void contains_is_one_allocation(void **state)
{
    struct vram *v = *state;
    uint64_t a, b;
    assert_int_equal(vram_alloc(v, 64, &a), 0);
    assert_int_equal(vram_alloc(v, 64, &b), 0);
    assert_true(vram_contains(v, a, 64));
    assert_true(vram_contains(v, a + 63, 1));
    assert_false(vram_contains(v, a, 65));
    assert_false(vram_contains(v, a + 63, 2));
    assert_false(vram_contains(v, b + 64, 1));
    assert_false(vram_contains(v, a, UINT64_MAX));
    assert_false(vram_contains(v, a + 1, UINT64_MAX));
}

/* ---- random calls against an oracle: one owner number for each 64-byte unit --------------------------- */

#define UNITS (SIZE / 64)
#define LIVE  64

struct oracle {
    int owner[UNITS]; /* 0: free */
    struct {
        uint64_t addr, units;
    } live[LIVE];
    int nlive;
};

static uint64_t longest_free_run(const struct oracle *o)
{
    uint64_t best = 0, run = 0;
    for (int i = 0; i < (int)UNITS; i++) {
        run = o->owner[i] ? 0 : run + 1;
        best = run > best ? run : best;
    }
    return best;
}

static void check_alloc(struct vram *v, struct oracle *o, int id)
{
    uint64_t size = 1 + random_below(700), units = (size + 63) / 64, addr = 0;
    int err = vram_alloc(v, size, &addr);
    assert_int_equal(err, units <= longest_free_run(o) ? 0 : -ENOMEM);
    if (err)
        return;
    assert_int_equal(addr % 64, 0);
    for (uint64_t u = (addr - BASE) / 64; u < (addr - BASE) / 64 + units; u++) {
        assert_true(u < UNITS);
        assert_int_equal(o->owner[u], 0);
        o->owner[u] = id;
    }
    o->live[o->nlive].addr = addr;
    o->live[o->nlive++].units = units;
}

static void check_free(struct vram *v, struct oracle *o)
{
    int i = (int)random_below((uint64_t)o->nlive);
    uint64_t addr = o->live[i].addr;
    if (o->live[i].units > 1)
        assert_int_equal(vram_free(v, addr + 64), -EINVAL);
    assert_int_equal(vram_free(v, addr), 0);
    assert_int_equal(vram_free(v, addr), -EINVAL);
    memset(&o->owner[(addr - BASE) / 64], 0, o->live[i].units * sizeof(int));
    o->live[i] = o->live[--o->nlive];
}

static void check_stats(const struct vram *v, const struct oracle *o)
{
    struct vram_stats s;
    vram_stats(v, &s);
    uint64_t used = 0;
    for (int i = 0; i < (int)UNITS; i++)
        used += o->owner[i] ? 64 : 0;
    assert_int_equal(s.total, SIZE);
    assert_int_equal(s.used, used);
    assert_int_equal(s.allocations, o->nlive);
    assert_int_equal(s.largest_free, longest_free_run(o) * 64);
}

static void check_contains(const struct vram *v, const struct oracle *o)
{
    uint64_t addr = BASE + random_below(SIZE), size = 1 + random_below(300);
    uint64_t first = (addr - BASE) / 64, last = (addr - BASE + size - 1) / 64;
    bool inside = last < UNITS && o->owner[first] != 0;
    for (uint64_t u = first; inside && u <= last; u++)
        inside = o->owner[u] == o->owner[first];
    assert_int_equal(vram_contains(v, addr, size), inside);
}

static void random_calls_match_the_oracle(void **state)
{
    struct vram *v = *state;
    random_seed();
    struct oracle o = {0};
    for (int step = 1; step < 50000; step++) {
        if (o.nlive == 0 || (o.nlive < LIVE && random_below(2)))
            check_alloc(v, &o, step);
        else
            check_free(v, &o);
        check_contains(v, &o);
        check_stats(v, &o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_cuts_to_alignment),
        cmocka_unit_test(init_rejects_empty_and_wrapping_ranges),
        cmocka_unit_test_setup_teardown(alloc_is_aligned_and_disjoint, setup, teardown),
        cmocka_unit_test_setup_teardown(alloc_rejects_zero_and_too_much, setup, teardown),
        cmocka_unit_test_setup_teardown(free_rejects_double_and_foreign, setup, teardown),
        cmocka_unit_test_setup_teardown(free_merges_neighbours, setup, teardown),
        cmocka_unit_test_setup_teardown(hole_is_used_again, setup, teardown),
        cmocka_unit_test_setup_teardown(contains_is_one_allocation, setup, teardown),
        cmocka_unit_test_setup_teardown(random_calls_match_the_oracle, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
