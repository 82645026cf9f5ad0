// SPDX-License-Identifier: MIT
/* The allocator of PCI addresses: each rule by example, then all of them at random against a naive oracle. */
#include "bus/pci.h"
#include "core/errno.h"
#include "core/math.h"
#include "core/util.h"
#include "random.h"
#include "resource.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* --- one pool --- */

static void assert_take(struct resource_pool *pool, uint64_t size, uint64_t align, uint64_t expected)
{
    uint64_t base = 1;

    assert_int_equal(resource_pool_take(pool, size, align, &base), 0);
    assert_true(base == expected);
}

static void assert_full(struct resource_pool *pool, uint64_t size, uint64_t align)
{
    uint64_t base = 77;

    assert_int_equal(resource_pool_take(pool, size, align, &base), -ENOSPC);
    assert_int_equal(base, 77);
}

static void pool_takes_the_lowest_aligned_fit(void **state)
{
    struct resource_pool pool = {0};

    (void)state;
    assert_full(&pool, 1, 1);
    assert_int_equal(resource_pool_add(&pool, 100, 900), 0);
    assert_take(&pool, 64, 64, 128);
    assert_take(&pool, 10, 1, 100);
    assert_take(&pool, 256, 256, 256);
    assert_take(&pool, 64, 64, 192);
    assert_int_equal(resource_pool_largest(&pool), 488);
    assert_full(&pool, 489, 1);
    assert_take(&pool, 488, 8, 512);
    assert_int_equal(resource_pool_largest(&pool), 18);
    resource_pool_destroy(&pool);
}

static void pool_joins_neighbours(void **state)
{
    struct resource_pool pool = {0};

    (void)state;
    assert_int_equal(resource_pool_add(&pool, 0, 10), 0);
    assert_int_equal(resource_pool_add(&pool, 20, 10), 0);
    assert_int_equal(pool.count, 2);
    assert_int_equal(resource_pool_add(&pool, 10, 10), 0);
    assert_int_equal(pool.count, 1);
    assert_int_equal(resource_pool_largest(&pool), 30);
    resource_pool_destroy(&pool);
}

static void pool_refuses_overlaps_and_wraps(void **state)
{
    struct resource_pool pool = {0};

    (void)state;
    assert_int_equal(resource_pool_add(&pool, 0, 0), -EINVAL);
    assert_int_equal(resource_pool_add(&pool, UINT64_MAX, 2), -EINVAL);
    assert_int_equal(resource_pool_add(&pool, 100, 100), 0);
    assert_int_equal(resource_pool_add(&pool, 199, 1), -EEXIST);
    assert_int_equal(resource_pool_add(&pool, 50, 51), -EEXIST);
    assert_int_equal(resource_pool_add(&pool, 50, 500), -EEXIST);
    assert_int_equal(resource_pool_add(&pool, 120, 5), -EEXIST);
    assert_int_equal(pool.count, 1);
    resource_pool_destroy(&pool);
}

static void pool_reaches_the_end_of_the_address_space(void **state)
{
    struct resource_pool pool = {0};

    (void)state;
    assert_int_equal(resource_pool_add(&pool, UINT64_MAX - 4095, 4096), 0);
    assert_full(&pool, 4096, 8192);
    assert_full(&pool, UINT64_MAX, 1);
    assert_take(&pool, 4096, 4096, UINT64_MAX - 4095);
    resource_pool_destroy(&pool);
}

#define UNITS 512

static uint64_t slow_take(bool *used, uint64_t size, uint64_t align)
{
    for (uint64_t base = 0; base + size <= UNITS; base += align) {
        uint64_t n = 0;

        while (n < size && !used[base + n])
            n++;
        if (n < size)
            continue;
        memset(&used[base], true, size);
        return base;
    }
    return UINT64_MAX;
}

static uint64_t slow_largest(const bool *used)
{
    uint64_t largest = 0;
    uint64_t run = 0;

    for (unsigned i = 0; i < UNITS; i++) {
        run = used[i] ? 0 : run + 1;
        largest = MAX(largest, run);
    }
    return largest;
}

static void assert_well_formed(const struct resource_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        assert_true(pool->free[i].size > 0);
        if (i > 0)
            assert_true(pool->free[i - 1].base + pool->free[i - 1].size < pool->free[i].base);
    }
}

static void pool_matches_a_byte_map(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        struct resource_pool pool = {0};
        bool used[UNITS];

        memset(used, true, sizeof(used));
        for (unsigned step = 0; step < 120; step++) {
            if (random_below(3) == 0) { /* give back (or give first) a piece */
                uint64_t base = random_below(UNITS);
                uint64_t size = 1 + random_below(MIN(UNITS - base, (uint64_t)60));
                bool overlaps = memchr(&used[base], false, size) != NULL;

                assert_int_equal(resource_pool_add(&pool, base, size), overlaps ? -EEXIST : 0);
                if (!overlaps)
                    memset(&used[base], false, size);
            } else {
                uint64_t size = 1 + random_below(40);
                uint64_t align = UINT64_C(1) << random_below(7);
                uint64_t expected = slow_take(used, size, align);
                uint64_t base = UINT64_MAX;

                assert_int_equal(resource_pool_take(&pool, size, align, &base),
                                 expected == UINT64_MAX ? -ENOSPC : 0);
                assert_true(base == expected);
            }
            assert_well_formed(&pool);
            assert_int_equal(resource_pool_largest(&pool), slow_largest(used));
        }
        resource_pool_destroy(&pool);
    }
}

/* --- windows and requests --- */

static void windows_split_at_4_gib_and_lose_address_0(void **state)
{
    struct pci_resources r = {0};
    struct resource_range *range;

    (void)state;
    assert_int_equal(pci_resources_add_memory(&r, PCI_4GIB - MIB, 3 * MIB, false), 0);
    range = r.pools[PCI_POOL_MEM32].free;
    assert_true(range->base == PCI_4GIB - MIB && range->size == MIB);
    range = r.pools[PCI_POOL_MEM64].free;
    assert_true(range->base == PCI_4GIB && range->size == 2 * MIB);
    assert_int_equal(pci_resources_add_memory(&r, 0, MIB, true), 0);
    range = r.pools[PCI_POOL_MEM32_PREFETCH].free;
    assert_true(range->base == 0x1000 && range->size == MIB - 0x1000);
    assert_int_equal(pci_resources_add_memory(&r, UINT64_MAX - MIB + 1, MIB, true), 0);
    range = r.pools[PCI_POOL_MEM64_PREFETCH].free;
    assert_true(range->base == UINT64_MAX - MIB + 1 && range->size == MIB);
    assert_int_equal(pci_resources_add_io(&r, 0, MIB), 0);
    range = r.pools[PCI_POOL_IO].free;
    assert_true(range->base == 0x1000 && range->size == 0xf000);
    assert_int_equal(pci_resources_add_memory(&r, UINT64_MAX, MIB, true), -EINVAL);
    assert_int_equal(pci_resources_add_io(&r, 5, 0), -EINVAL);
    pci_resources_destroy(&r);
}

static struct pci_request bar(uint64_t size, unsigned flags, unsigned index)
{
    return (struct pci_request){.size = size, .align = size, .flags = flags, .index = index};
}

/* The windows of QEMU's riscv virt machine. */
static struct pci_resources virt(void)
{
    struct pci_resources r = {0};

    assert_int_equal(pci_resources_add_io(&r, 0, 64 * KIB), 0);
    assert_int_equal(pci_resources_add_memory(&r, GIB, GIB, false), 0);
    assert_int_equal(pci_resources_add_memory(&r, 16 * GIB, 16 * GIB, false), 0);
    return r;
}

static const struct pci_request *by_index(const struct pci_request *requests, size_t count, unsigned index)
{
    for (size_t i = 0; i < count; i++)
        if (requests[i].index == index)
            return &requests[i];
    fail_msg("request %u is lost", index);
    return NULL;
}

static void gpgpu_on_virt(void **state)
{
    struct pci_resources r = virt();
    struct pci_request requests[] = {
        bar(MIB, PCI_BAR_64, 0),
        bar(64 * MIB, PCI_BAR_64 | PCI_BAR_PREFETCH, 2),
        bar(64 * KIB, 0, 4),
        bar(32, PCI_BAR_IO, 5),
    };

    (void)state;
    assert_int_equal(pci_resources_assign(&r, requests, 4), 0);
    assert_true(by_index(requests, 4, 2)->base == 16 * GIB + 64 * MIB);
    assert_true(by_index(requests, 4, 0)->base == 16 * GIB);
    assert_true(by_index(requests, 4, 4)->base == GIB);
    assert_true(by_index(requests, 4, 5)->base == 0x1000);
    assert_int_equal(by_index(requests, 4, 5)->pool, PCI_POOL_IO);
    pci_resources_destroy(&r);
}

static void wide_requests_fall_below_4_gib(void **state)
{
    struct pci_resources r = {0};
    struct pci_request requests[] = {
        bar(256 * MIB, PCI_BAR_64 | PCI_BAR_PREFETCH, 0),
        bar(16 * MIB, 0, 1),
    };

    (void)state;
    assert_int_equal(pci_resources_add_memory(&r, GIB, 512 * MIB, false), 0);
    assert_int_equal(pci_resources_assign(&r, requests, 2), 0);
    assert_int_equal(by_index(requests, 2, 0)->pool, PCI_POOL_MEM32);
    assert_true(by_index(requests, 2, 0)->base == GIB + 256 * MIB);
    assert_true(by_index(requests, 2, 1)->base == GIB);
    pci_resources_destroy(&r);
}

/* A large wide BAR must not take the only place of a small narrow one. */
static void narrow_requests_go_first(void **state)
{
    struct pci_resources r = {0};
    struct pci_request requests[] = {
        bar(64 * MIB, PCI_BAR_64 | PCI_BAR_PREFETCH, 0),
        bar(MIB, 0, 1),
    };

    (void)state;
    assert_int_equal(pci_resources_add_memory(&r, GIB, 64 * MIB, false), 0);
    assert_int_equal(pci_resources_assign(&r, requests, 2), 1);
    assert_int_equal(by_index(requests, 2, 1)->error, 0);
    assert_int_equal(by_index(requests, 2, 0)->error, -ENOSPC);
    assert_true(by_index(requests, 2, 0)->left == 63 * MIB);
    pci_resources_destroy(&r);
}

static void prefetchable_windows_take_prefetchable_only(void **state)
{
    struct pci_resources r = {0};
    struct pci_request requests[] = {bar(MIB, 0, 0), bar(MIB, PCI_BAR_PREFETCH, 1), bar(MIB, PCI_BAR_64, 2)};

    (void)state;
    assert_int_equal(pci_resources_add_memory(&r, GIB, 16 * MIB, true), 0);
    assert_int_equal(pci_resources_add_memory(&r, 16 * GIB, 16 * MIB, true), 0);
    assert_int_equal(pci_resources_assign(&r, requests, 3), 2);
    assert_int_equal(by_index(requests, 3, 0)->error, -ENOSPC);
    assert_int_equal(by_index(requests, 3, 1)->error, 0);
    assert_int_equal(by_index(requests, 3, 2)->error, -ENOSPC);
    assert_int_equal(by_index(requests, 3, 2)->left, 0);
    pci_resources_destroy(&r);
}

static unsigned random_flags(void)
{
    static const unsigned flags[] = {PCI_BAR_IO, 0, PCI_BAR_PREFETCH, PCI_BAR_64,
                                     PCI_BAR_64 | PCI_BAR_PREFETCH};

    return flags[random_below(ARRAY_SIZE(flags))];
}

/* Pools that a request may use, written down a second time: best first, ended by PCI_POOLS. */
static const enum pci_pool *allowed(unsigned flags)
{
    static const enum pci_pool io[] = {PCI_POOL_IO, PCI_POOLS};
    static const enum pci_pool m32[] = {PCI_POOL_MEM32, PCI_POOLS};
    static const enum pci_pool p32[] = {PCI_POOL_MEM32_PREFETCH, PCI_POOL_MEM32, PCI_POOLS};
    static const enum pci_pool m64[] = {PCI_POOL_MEM64, PCI_POOL_MEM32, PCI_POOLS};
    static const enum pci_pool p64[] = {PCI_POOL_MEM64_PREFETCH, PCI_POOL_MEM64, PCI_POOL_MEM32_PREFETCH,
                                        PCI_POOL_MEM32, PCI_POOLS};

    switch (flags) {
    case PCI_BAR_IO:
        return io;
    case 0:
        return m32;
    case PCI_BAR_PREFETCH:
        return p32;
    case PCI_BAR_64:
        return m64;
    default:
        return p64;
    }
}

struct world {
    uint64_t base[PCI_POOLS]; /* of each pool's one window */
    uint64_t unit[PCI_POOLS]; /* bytes of one entry of `used` */
    bool used[PCI_POOLS][UNITS];
};

static void random_world(struct world *world, struct pci_resources *r)
{
    static const uint64_t bases[PCI_POOLS] = {0x2000, GIB, 2 * GIB, 16 * GIB, 32 * GIB};

    for (unsigned pool = 0; pool < PCI_POOLS; pool++) {
        uint64_t units = random_below(UNITS);

        world->base[pool] = bases[pool];
        world->unit[pool] = pool == PCI_POOL_IO ? 16 : MIB;
        memset(world->used[pool], true, UNITS);
        memset(world->used[pool], false, units);
        if (units > 0)
            assert_int_equal(resource_pool_add(&r->pools[pool], bases[pool], units * world->unit[pool]), 0);
    }
}

/* Replays the requests in the order that the allocator chose, slowly. */
static void assert_as_the_oracle(struct world *world, const struct pci_request *request)
{
    for (const enum pci_pool *pool = allowed(request->flags); *pool != PCI_POOLS; pool++) {
        uint64_t unit = world->unit[*pool];
        uint64_t at = slow_take(world->used[*pool], request->size / unit, request->align / unit);

        if (at == UINT64_MAX)
            continue;
        assert_int_equal(request->error, 0);
        assert_int_equal(request->pool, *pool);
        assert_true(request->base == world->base[*pool] + at * unit);
        return;
    }
    assert_int_equal(request->error, -ENOSPC);
}

static void assert_disjoint(const struct pci_request *requests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct pci_request *a = &requests[i], *b = &requests[j];

            if (a->error || b->error || (a->pool == PCI_POOL_IO) != (b->pool == PCI_POOL_IO))
                continue;
            assert_true(a->base + a->size <= b->base || b->base + b->size <= a->base);
        }
}

static void assert_order(const struct pci_request *a, const struct pci_request *b)
{
    unsigned na = 0, nb = 0;

    while (allowed(a->flags)[na] != PCI_POOLS)
        na++;
    while (allowed(b->flags)[nb] != PCI_POOLS)
        nb++;
    assert_true(na <= nb);
    if (na == nb)
        assert_true(a->align >= b->align);
}

static void assignment_matches_the_oracle(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 1000; round++) {
        struct pci_resources r = {0};
        struct world world;
        struct pci_request requests[40];
        size_t count = random_below(ARRAY_SIZE(requests) + 1);
        size_t failed = 0;

        random_world(&world, &r);
        for (unsigned i = 0; i < count; i++) {
            unsigned flags = random_flags();
            uint64_t unit = flags & PCI_BAR_IO ? 16 : MIB;

            requests[i] = bar(unit << random_below(8), flags, i);
            if (random_below(4) == 0) /* a bridge's window: more than its alignment */
                requests[i].size += unit * random_below(5);
        }
        size_t reported = pci_resources_assign(&r, requests, count);
        for (unsigned i = 0; i < count; i++)
            by_index(requests, count, i);
        for (size_t i = 0; i < count; i++) {
            assert_as_the_oracle(&world, &requests[i]);
            assert_true(requests[i].error || is_aligned(requests[i].base, requests[i].align));
            if (i > 0)
                assert_order(&requests[i - 1], &requests[i]);
            failed += requests[i].error != 0;
        }
        assert_int_equal(reported, failed);
        assert_disjoint(requests, count);
        pci_resources_destroy(&r);
    }
}

/* --- sizing --- */

static void no_requests_need_no_window(void **state)
{
    uint64_t size = 1, align = 1;

    (void)state;
    assert_int_equal(pci_window_size(NULL, 0, MIB, &size, &align), 0);
    assert_int_equal(size, 0);
}

static void impossible_windows_are_errors(void **state)
{
    struct pci_request requests[] = {bar(UINT64_C(1) << 63, PCI_BAR_64, 0), bar(MIB, PCI_BAR_64, 1)};
    uint64_t size, align;

    (void)state;
    assert_int_equal(pci_window_size(requests, 2, MIB, &size, &align), -EOVERFLOW);
}

/* What was sized fits, wherever an aligned window lies, and the smallest window is not far larger than its
 * content. */
static void sized_windows_fit(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 1000; round++) {
        struct pci_request requests[30];
        size_t count = 1 + random_below(ARRAY_SIZE(requests));
        struct pci_resources r = {0};
        uint64_t size = 0, align = 0, sum = 0, largest = 0;

        for (unsigned i = 0; i < count; i++) {
            requests[i] = bar(KIB << random_below(16), random_below(2) ? PCI_BAR_PREFETCH : PCI_BAR_64, i);
            if (random_below(4) == 0)
                requests[i].size += KIB * random_below(5);
            sum += requests[i].size;
            largest = MAX(largest, requests[i].align);
        }
        assert_int_equal(pci_window_size(requests, count, MIB, &size, &align), 0);
        assert_true(is_aligned(size, MIB) && align == MAX(largest, MIB));
        assert_true(size >= sum && size < 2 * sum + MIB);
        assert_int_equal(resource_pool_add(&r.pools[PCI_POOL_MEM32], align * (1 + random_below(1000)), size),
                         0);
        assert_int_equal(pci_resources_assign(&r, requests, count), 0);
        pci_resources_destroy(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_takes_the_lowest_aligned_fit),
        cmocka_unit_test(pool_joins_neighbours),
        cmocka_unit_test(pool_refuses_overlaps_and_wraps),
        cmocka_unit_test(pool_reaches_the_end_of_the_address_space),
        cmocka_unit_test(pool_matches_a_byte_map),
        cmocka_unit_test(windows_split_at_4_gib_and_lose_address_0),
        cmocka_unit_test(gpgpu_on_virt),
        cmocka_unit_test(wide_requests_fall_below_4_gib),
        cmocka_unit_test(narrow_requests_go_first),
        cmocka_unit_test(prefetchable_windows_take_prefetchable_only),
        cmocka_unit_test(assignment_matches_the_oracle),
        cmocka_unit_test(no_requests_need_no_window),
        cmocka_unit_test(impossible_windows_are_errors),
        cmocka_unit_test(sized_windows_fit),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
