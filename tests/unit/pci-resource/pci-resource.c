// SPDX-License-Identifier: MIT
/* The allocator of PCI addresses: each rule by example, then all of them at random against a naive oracle. */
#include "bus/pci.h"
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

#define P64 (PCI_BAR_64 | PCI_BAR_PREFETCH)

static struct pci_bar bar(uint64_t size, unsigned flags)
{
    return (struct pci_bar){.size = size, .align = size, .flags = flags};
}

/* Queues and places the BARs. Returns the list, in the order in which they got their addresses. */
static struct pci_bar *place(struct pci_bar *bars, size_t count, const struct pci_space *spaces,
                             size_t nspaces)
{
    struct pci_bar *list = NULL;

    for (size_t i = 0; i < count; i++)
        pci_queue(&list, &bars[i]);
    pci_place(list, spaces, nspaces);
    return list;
}

/* --- one space --- */

static void the_lowest_aligned_fit_is_taken(void **state)
{
    const struct pci_space space = {.base = 100, .size = 900};
    struct pci_bar bars[] = {bar(256, 0), bar(64, 0), bar(64, 0), bar(8, 0), bar(1, 0), bar(512, 0)};

    (void)state;
    bars[0].size = 488; /* a window: more than its alignment */
    place(bars, ARRAY_SIZE(bars), &space, 1);
    assert_null(bars[5].space); /* goes first, and finds no place */
    assert_int_equal(bars[5].left, 900);
    assert_int_equal(bars[0].address, 256);
    assert_int_equal(bars[1].address, 128);
    assert_int_equal(bars[2].address, 192);
    assert_int_equal(bars[3].address, 104);
    assert_int_equal(bars[4].address, 100);
    for (unsigned i = 0; i < 5; i++)
        assert_ptr_equal(bars[i].space, &space);
}

static void the_largest_free_range_is_told(void **state)
{
    const struct pci_space space = {.base = 0, .size = 1000};
    struct pci_bar bars[] = {bar(512, 0), bar(256, 0), bar(256, 0)};

    (void)state;
    place(bars, ARRAY_SIZE(bars), &space, 1);
    assert_int_equal(bars[1].address, 512);
    assert_null(bars[2].space);
    assert_int_equal(bars[2].left, 232);
}

static void nothing_wraps_at_the_end_of_the_address_space(void **state)
{
    const struct pci_space space = {.base = UINT64_MAX - 4095, .size = 4095};
    struct pci_bar bars[] = {bar(UINT64_C(1) << 63, 0), bar(8192, 0), bar(4096, 0), bar(2048, 0)};

    (void)state;
    place(bars, ARRAY_SIZE(bars), &space, 1);
    for (unsigned i = 0; i < 3; i++) {
        assert_null(bars[i].space);
        assert_int_equal(bars[i].left, 4095);
    }
    assert_true(bars[3].address == UINT64_MAX - 4095);
}

static void no_space_no_place(void **state)
{
    struct pci_bar bars[] = {bar(16, 0)};

    (void)state;
    place(bars, 1, NULL, 0);
    assert_null(bars[0].space);
    assert_int_equal(bars[0].left, 0);
}

/* --- the host's windows --- */

static void assert_space(const struct pci_space *space, uint64_t base, uint64_t size, unsigned flags)
{
    assert_true(space->base == base && space->size == size);
    assert_int_equal(space->flags, flags);
}

static void windows_split_at_4_gib_and_lose_address_0(void **state)
{
    const struct pci_host host = {
        .nwindows = 4,
        .windows = {{.type = PCI_WINDOW_MEM64, .pci = PCI_4GIB - MIB, .cpu = 5 * GIB, .size = 3 * MIB},
                    {.type = PCI_WINDOW_MEM32, .prefetchable = true, .pci = 0, .cpu = GIB, .size = MIB},
                    {.type = PCI_WINDOW_MEM64, .prefetchable = true, .pci = -MIB, .size = 2 * MIB},
                    {.type = PCI_WINDOW_IO, .pci = 0, .cpu = 3 * GIB, .size = MIB}}};
    struct pci_space spaces[PCI_HOST_SPACES];

    (void)state;
    assert_int_equal(pci_host_spaces(&host, spaces), 5);
    assert_space(&spaces[0], -MIB, MIB - 1, P64);
    assert_space(&spaces[1], PCI_4GIB, 2 * MIB, PCI_BAR_64);
    assert_space(&spaces[2], 0x1000, MIB - 0x1000, PCI_BAR_PREFETCH);
    assert_space(&spaces[3], PCI_4GIB - MIB, MIB, 0);
    assert_space(&spaces[4], 0x1000, 0xf000, PCI_BAR_IO);
    assert_true(spaces[1].base + spaces[1].to_cpu == 5 * GIB + MIB);
    assert_true(spaces[3].base + spaces[3].to_cpu == 5 * GIB);
    assert_true(spaces[4].base + spaces[4].to_cpu == 3 * GIB + 0x1000);
}

static void the_most_windows_have_room(void **state)
{
    struct pci_host host = {.nwindows = MACHINE_MAX_WINDOWS};
    struct pci_space spaces[PCI_HOST_SPACES];

    (void)state;
    for (unsigned i = 0; i < MACHINE_MAX_WINDOWS; i++)
        host.windows[i] = (struct pci_window){.type = PCI_WINDOW_MEM64, .pci = GIB, .size = 16 * GIB};
    assert_int_equal(pci_host_spaces(&host, spaces), PCI_HOST_SPACES);
}

/* --- by example --- */

/* The windows of QEMU's riscv virt machine. */
static size_t virt(struct pci_space *spaces)
{
    const struct pci_host host = {.nwindows = 3,
                                  .windows = {{.type = PCI_WINDOW_IO, .pci = 0, .size = 64 * KIB},
                                              {.type = PCI_WINDOW_MEM32, .pci = GIB, .size = GIB},
                                              {.type = PCI_WINDOW_MEM64, .pci = 16 * GIB, .size = 16 * GIB}}};

    return pci_host_spaces(&host, spaces);
}

static void gpgpu_on_virt(void **state)
{
    struct pci_space spaces[PCI_HOST_SPACES];
    struct pci_bar bars[] = {bar(MIB, PCI_BAR_64), bar(64 * MIB, P64), bar(64 * KIB, 0), bar(32, PCI_BAR_IO)};

    (void)state;
    place(bars, 4, spaces, virt(spaces));
    assert_true(bars[1].address == 16 * GIB + 64 * MIB);
    assert_true(bars[0].address == 16 * GIB);
    assert_true(bars[2].address == GIB);
    assert_true(bars[3].address == 0x1000);
    assert_int_equal(bars[3].space->flags, PCI_BAR_IO);
}

static void wide_bars_fall_below_4_gib(void **state)
{
    const struct pci_space low = {.base = GIB, .size = 512 * MIB};
    struct pci_bar bars[] = {bar(256 * MIB, P64), bar(16 * MIB, 0)};

    (void)state;
    place(bars, 2, &low, 1);
    assert_true(bars[0].address == GIB + 256 * MIB);
    assert_true(bars[1].address == GIB);
}

/* A large wide BAR must not take the only place of a small narrow one. */
static void narrow_bars_go_first(void **state)
{
    const struct pci_space low = {.base = GIB, .size = 64 * MIB};
    struct pci_bar bars[] = {bar(64 * MIB, P64), bar(MIB, 0)};

    (void)state;
    place(bars, 2, &low, 1);
    assert_ptr_equal(bars[1].space, &low);
    assert_null(bars[0].space);
    assert_true(bars[0].left == 63 * MIB);
}

static void prefetchable_windows_take_prefetchable_only(void **state)
{
    const struct pci_space spaces[] = {{.base = 16 * GIB, .size = 16 * MIB, .flags = P64},
                                       {.base = GIB, .size = 16 * MIB, .flags = PCI_BAR_PREFETCH}};
    struct pci_bar bars[] = {bar(MIB, 0), bar(MIB, PCI_BAR_PREFETCH), bar(MIB, PCI_BAR_64)};

    (void)state;
    place(bars, 3, spaces, 2);
    assert_null(bars[0].space);
    assert_ptr_equal(bars[1].space, &spaces[1]);
    assert_null(bars[2].space);
    assert_int_equal(bars[2].left, 0);
}

/* --- at random --- */

static unsigned random_flags(void)
{
    static const unsigned flags[] = {PCI_BAR_IO, 0, PCI_BAR_PREFETCH, PCI_BAR_64, P64};

    return flags[random_below(ARRAY_SIZE(flags))];
}

enum { HIGH_PREFETCH, HIGH, LOW_PREFETCH, LOW, PORTS, SPACES };

/* Spaces that a BAR may lie in, written down a second time: best first, ended by SPACES. */
static const unsigned *allowed(unsigned flags)
{
    static const unsigned io[] = {PORTS, SPACES};
    static const unsigned m32[] = {LOW, SPACES};
    static const unsigned p32[] = {LOW_PREFETCH, LOW, SPACES};
    static const unsigned m64[] = {HIGH, LOW, SPACES};
    static const unsigned p64[] = {HIGH_PREFETCH, HIGH, LOW_PREFETCH, LOW, SPACES};

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

#define UNITS 512

struct world {
    struct pci_space spaces[SPACES];
    uint64_t unit[SPACES]; /* bytes of one entry of `used` */
    bool used[SPACES][UNITS];
};

/* The first free run of `size` units at a multiple of `align`, which is used from now on; UINT64_MAX if none.
 */
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

static void random_world(struct world *world)
{
    static const struct pci_space spaces[SPACES] = {
        {32 * GIB, 0, P64, 0}, {16 * GIB, 0, PCI_BAR_64, 0}, {2 * GIB, 0, PCI_BAR_PREFETCH, 0},
        {GIB, 0, 0, 0},        {0x2000, 0, PCI_BAR_IO, 0},
    };

    for (unsigned i = 0; i < SPACES; i++) {
        uint64_t units = random_below(UNITS);

        world->unit[i] = i == PORTS ? 16 : MIB;
        world->spaces[i] = spaces[i];
        world->spaces[i].size = units * world->unit[i];
        memset(world->used[i], true, UNITS);
        memset(world->used[i], false, units);
    }
}

/* Replays the BARs in the order that was chosen, slowly. */
static void assert_as_the_oracle(struct world *world, const struct pci_bar *bar)
{
    uint64_t left = 0;

    for (const unsigned *i = allowed(bar->flags); *i != SPACES; i++) {
        uint64_t unit = world->unit[*i];
        uint64_t largest = slow_largest(world->used[*i]) * unit;
        uint64_t at = slow_take(world->used[*i], bar->size / unit, bar->align / unit);

        left = MAX(left, largest);
        if (at == UINT64_MAX)
            continue;
        assert_ptr_equal(bar->space, &world->spaces[*i]);
        assert_true(bar->address == world->spaces[*i].base + at * unit);
        return;
    }
    assert_null(bar->space);
    assert_true(bar->left == left);
}

static void assert_disjoint(const struct pci_bar *bars, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct pci_bar *a = &bars[i], *b = &bars[j];

            if (!a->space || !b->space || (a->flags & PCI_BAR_IO) != (b->flags & PCI_BAR_IO))
                continue;
            assert_true(a->address + a->size <= b->address || b->address + b->size <= a->address);
        }
}

static void assert_order(const struct pci_bar *a, const struct pci_bar *b)
{
    unsigned na = 0, nb = 0;

    while (allowed(a->flags)[na] != SPACES)
        na++;
    while (allowed(b->flags)[nb] != SPACES)
        nb++;
    assert_true(na <= nb);
    if (na == nb)
        assert_true(a->align >= b->align);
    if (na == nb && a->align == b->align)
        assert_true(a->size > b->size || (a->size == b->size && a < b));
}

static void placing_matches_the_oracle(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 1000; round++) {
        struct world world;
        struct pci_bar bars[40];
        size_t count = random_below(ARRAY_SIZE(bars) + 1);
        size_t seen = 0;

        random_world(&world);
        for (unsigned i = 0; i < count; i++) {
            unsigned flags = random_flags();
            uint64_t unit = flags & PCI_BAR_IO ? 16 : MIB;

            bars[i] = bar(unit << random_below(8), flags);
            if (random_below(4) == 0) /* a bridge's window: more than its alignment */
                bars[i].size += unit * random_below(5);
        }
        for (const struct pci_bar *b = place(bars, count, world.spaces, SPACES); b; b = b->next) {
            assert_as_the_oracle(&world, b);
            assert_true(!b->space || is_aligned(b->address, b->align));
            if (b->next)
                assert_order(b, b->next);
            seen++;
        }
        assert_int_equal(seen, count);
        assert_disjoint(bars, count);
    }
}

/* Windows that overlap, as no sane machine has them, give nothing twice. */
static void overlapping_spaces_give_nothing_twice(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        struct pci_space spaces[4];
        struct pci_bar bars[20];

        for (unsigned i = 0; i < ARRAY_SIZE(spaces); i++)
            spaces[i] =
                (struct pci_space){.base = GIB + random_below(8) * MIB, .size = random_below(64) * MIB};
        for (unsigned i = 0; i < ARRAY_SIZE(bars); i++)
            bars[i] = bar(MIB << random_below(4), 0);
        place(bars, ARRAY_SIZE(bars), spaces, ARRAY_SIZE(spaces));
        assert_disjoint(bars, ARRAY_SIZE(bars));
    }
}

/* What an endless window held fits into one of the size that it took, wherever that lies when aligned, and it
 * is not far larger than its content: as assign.c sizes the windows of bridges. */
static void what_was_laid_out_once_fits_elsewhere(void **state)
{
    const struct pci_space endless = {.base = 0, .size = UINT64_C(1) << 62};

    (void)state;
    for (unsigned round = 0; round < 1000; round++) {
        struct pci_bar bars[30];
        size_t count = 1 + random_below(ARRAY_SIZE(bars));
        struct pci_space window = {.size = 0};
        struct pci_bar *list;
        uint64_t sum = 0, align = 0;

        for (unsigned i = 0; i < count; i++) {
            bars[i] = bar(KIB << random_below(16), random_below(2) ? PCI_BAR_PREFETCH : PCI_BAR_64);
            if (random_below(4) == 0)
                bars[i].size += KIB * random_below(5);
            sum += bars[i].size;
            align = MAX(align, bars[i].align);
        }
        list = place(bars, count, &endless, 1);
        for (unsigned i = 0; i < count; i++)
            window.size = MAX(window.size, bars[i].address + bars[i].size);
        assert_true(window.size >= sum && window.size < 2 * sum + MIB);
        window.base = align * (1 + random_below(1000));
        pci_place(list, &window, 1);
        for (unsigned i = 0; i < count; i++)
            assert_ptr_equal(bars[i].space, &window);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_aligned_fit_is_taken),
        cmocka_unit_test(the_largest_free_range_is_told),
        cmocka_unit_test(nothing_wraps_at_the_end_of_the_address_space),
        cmocka_unit_test(no_space_no_place),
        cmocka_unit_test(windows_split_at_4_gib_and_lose_address_0),
        cmocka_unit_test(the_most_windows_have_room),
        cmocka_unit_test(gpgpu_on_virt),
        cmocka_unit_test(wide_bars_fall_below_4_gib),
        cmocka_unit_test(narrow_bars_go_first),
        cmocka_unit_test(prefetchable_windows_take_prefetchable_only),
        cmocka_unit_test(placing_matches_the_oracle),
        cmocka_unit_test(overlapping_spaces_give_nothing_twice),
        cmocka_unit_test(what_was_laid_out_once_fits_elsewhere),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
