// SPDX-License-Identifier: MIT
/* The PCI bus on a machine in memory: what it finds, the addresses it gives, interrupts, drivers. */
#include "bus/pci.h"
#include "core/errno.h"
#include "core/init.h"
#include "core/util.h"
#include "fake.h"
#include "random.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define MIB   (UINT64_C(1) << 20)
#define GIB   (UINT64_C(1) << 30)
#define MEM32 0x0u
#define MEM64 0x4u
#define PREF  0x8u
#define IO    0x1u

/* --- memory that runs out --- */

static unsigned allocations_left = UINT32_MAX;

void *__real_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);

static bool allocation_fails(void)
{
    return allocations_left == 0 || (allocations_left != UINT32_MAX && --allocations_left == 0);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

/* --- drivers --- */

static char probes[256]; /* what the drivers did, in order */
static int picky_answer;

static void note(const char *what, const struct device *dev)
{
    size_t used = strlen(probes);

    snprintf(probes + used, sizeof(probes) - used, "%s%s ", what, dev->address);
}

static int gpu_probe(struct device *dev)
{
    note("gpu+", dev);
    dev->ops = "gpu operations";
    return 0;
}

static void gpu_remove(struct device *dev)
{
    note("gpu-", dev);
}

static const struct pci_id gpu_ids[] = {
    {.vendor = 0x1234, .device = 0x1337}, {.vendor = 0xcafe, .device = 1}, {0}};
PCI_DRIVER(gpu) = {
    .name = "gpu", .class = DEVICE_GPGPU, .ids = gpu_ids, .probe = gpu_probe, .remove = gpu_remove};

/* Is asked before the gpu driver, and answers what the test says. */
static int picky_probe(struct device *dev)
{
    note("picky?", dev);
    dev->priv = dev;
    return picky_answer;
}

static const struct pci_id picky_ids[] = {
    {.vendor = PCI_ANY, .device = PCI_ANY, .class = 0x030200, .class_mask = 0xffff00}, {0}};
PCI_DRIVER(picky) = {
    .name = "picky", .prio = -1, .ids = picky_ids, .probe = picky_probe, .remove = gpu_remove};

static int setup(void **state)
{
    (void)state;
    fake_reset();
    probes[0] = '\0';
    picky_answer = -ENODEV;
    return 0;
}

/* Everything is given back, and no BAR was sized while it decoded. */
static int teardown(void **state)
{
    (void)state;
    init_exit_all();
    assert_null(pci_next(NULL));
    assert_null(device_next(NULL));
    assert_int_equal(fake.live_maps, 0);
    assert_int_equal(fake.live_msis, 0);
    fake_reset();
    return 0;
}

static struct pci_device *find(const char *address)
{
    pci_for_each (pdev)
        if (strcmp(pdev->dev.address, address) == 0)
            return pdev;
    fail_msg("no device at %s", address);
    return NULL;
}

static unsigned count(void)
{
    unsigned n = 0;

    pci_for_each (pdev)
        n++;
    return n;
}

static void start(void)
{
    assert_int_equal(init_run_all(), 0);
}

static void assert_logged(const char *line)
{
    if (!strstr(fake.log, line))
        fail_msg("not logged: %s\nbut:\n%s", line, fake.log);
}

/* The BAR answers at its CPU address, first and last byte, and nobody else does. */
static void assert_reachable(struct pci_device *pdev, struct fake_function *f, unsigned index)
{
    const struct pci_bar *bar = &pdev->bars[index];
    bool io = bar->flags & PCI_BAR_IO;
    unsigned hit = 99;
    uint64_t offset = 1;

    assert_true(bar->flags & PCI_BAR_ASSIGNED);
    assert_int_equal(pci_enable(pdev, PCI_IO | PCI_MEMORY), 0);
    assert_ptr_equal(fake_decode(bar->phys.value, io, &hit, &offset), f);
    assert_int_equal(hit, index);
    assert_int_equal(offset, 0);
    assert_ptr_equal(fake_decode(bar->phys.value + bar->size - 1, io, &hit, &offset), f);
    assert_true(hit == index && offset == bar->size - 1);
}

static struct fake_function *add_gpgpu(struct fake_bus *bus, unsigned slot, uint64_t vram)
{
    struct fake_function *f = fake_add(bus, slot, 0, 0x1234, 0x1337, 0x030200);

    fake_bar(f, 0, MIB, MEM64);
    fake_bar(f, 2, vram, MEM64 | PREF);
    fake_bar(f, 4, 64 << 10, MEM32);
    f->config[0x3d] = 1;
    return f;
}

/* --- finding --- */

static void no_host_bridge_no_devices(void **state)
{
    (void)state;
    fake.machine.pci.present = false;
    start();
    assert_int_equal(count(), 0);
}

static void finds_functions(void **state)
{
    struct fake_function *f;

    (void)state;
    fake_add(&fake.root, 0, 0, 0x1b36, 0x0008, 0x060000);
    f = fake_add(&fake.root, 3, 0, 0x8086, 0x10d3, 0x020000);
    f->config[0x0e] = 0x80;
    fake_add(&fake.root, 3, 5, 0x8086, 0x10d4, 0x020000);
    fake_add(&fake.root, 31, 0, 0x1af4, 0x1042, 0x018000);
    fake_add(&fake.root, 4, 0, 0x1af4, 0x1000, 0x020000);
    fake_add(&fake.root, 4, 1, 0x1af4, 0x1000, 0x020000); /* hidden: slot 4 is not multi-function */
    fake_add(&fake.root, 5, 0, 0xffff, 0x1000, 0);
    fake_add(&fake.root, 6, 0, 0x0000, 0x0000, 0);
    fake_add(&fake.root, 7, 2, 0x1af4, 0x1000, 0); /* no function 0: no device */
    start();
    assert_int_equal(count(), 5);
    assert_int_equal(find("00:03.5")->device, 0x10d4);
    assert_string_equal(find("00:1f.0")->dev.what, "1af4:1042 storage controller");
    assert_int_equal(find("00:03.0")->revision, 1);
    assert_logged("bus: pci 00:00.0: 1b36:0008 host bridge: no driver\n");
}

static void devices_are_quiet_until_enabled(void **state)
{
    struct fake_function *f = add_gpgpu(&fake.root, 4, 64 * MIB);

    (void)state;
    fake_set16(f, 4, 0x0007); /* firmware left it on */
    start();
    assert_int_equal(fake_get16(f, 4), 0x0400);
    assert_int_equal(fake_get32(f, 0x30) & 1, 0);
    assert_int_equal(f->sized_bad, 0);
    assert_int_equal(pci_enable(find("00:04.0"), PCI_MEMORY | PCI_MASTER), 0);
    assert_int_equal(fake_get16(f, 4), 0x0406);
    pci_disable(find("00:04.0"));
    assert_int_equal(fake_get16(f, 4), 0x0400);
}

static void unknown_headers_are_left_alone(void **state)
{
    struct fake_function *f = fake_add(&fake.root, 1, 0, 0x1234, 1, 0x060700);

    (void)state;
    f->config[0x0e] = 2;
    fake_bar(f, 0, MIB, MEM32);
    start();
    assert_logged("bus: warning: pci 00:01.0: 1234:0001 device: unknown header type 0x2, left alone\n");
    assert_int_equal(find("00:01.0")->bars[0].size, 0);
}

/* --- BARs --- */

static void sizes_every_kind_of_bar(void **state)
{
    struct fake_function *f = fake_add(&fake.root, 1, 0, 0x1234, 1, 0);
    struct pci_device *pdev;

    (void)state;
    fake_bar(f, 0, 16, MEM32);
    fake_bar(f, 1, 8 * GIB, MEM64 | PREF);
    fake_bar(f, 3, 256, IO);
    f->writable[0x10 + 12 + 2] = f->writable[0x10 + 12 + 3] = 0; /* 16-bit ports */
    fake_bar(f, 4, 4, IO);
    start();
    pdev = find("00:01.0");
    assert_true(pdev->bars[0].size == 16 && (pdev->bars[0].flags | PCI_BAR_ASSIGNED) == PCI_BAR_ASSIGNED);
    assert_true(pdev->bars[1].size == 8 * GIB);
    assert_int_equal(pdev->bars[1].flags, PCI_BAR_64 | PCI_BAR_PREFETCH | PCI_BAR_ASSIGNED);
    assert_int_equal(pdev->bars[2].size, 0);
    assert_int_equal(pdev->bars[3].size, 256);
    assert_int_equal(pdev->bars[4].size, 4);
    assert_int_equal(pdev->bars[5].size, 0);
    for (unsigned i = 0; i < PCI_BARS; i++)
        if (pdev->bars[i].size)
            assert_reachable(pdev, f, i);
}

/* The upper half of a 32-bit BAR's size must not become ones, nor its address negative. */
static void a_32_bit_bar_is_not_sign_extended(void **state)
{
    struct fake_function *f = fake_add(&fake.root, 1, 0, 0x1234, 1, 0);
    struct pci_device *pdev;

    (void)state;
    fake.machine.pci.windows[1] = (struct pci_window){
        .type = PCI_WINDOW_MEM32, .cpu = 0x80000000, .pci = 0x80000000, .size = 0x80000000};
    fake_bar(f, 0, 2 * GIB, MEM32);
    start();
    pdev = find("00:01.0");
    assert_true(pdev->bars[0].size == 2 * GIB);
    assert_true(pdev->bars[0].address == 0x80000000);
    assert_true(pdev->bars[0].phys.value == 0x80000000);
    assert_reachable(pdev, f, 0);
}

static void unusable_bars_are_left_alone(void **state)
{
    struct fake_function *f = fake_add(&fake.root, 1, 0, 0x1234, 1, 0);
    struct pci_device *pdev;
    struct mmio m;

    (void)state;
    fake_bar(f, 0, MIB, 0x6);
    fake_set32(f, 0x10 + 20, MEM64); /* a 64-bit BAR without a second half */
    f->writable[0x10 + 20 + 3] = 0xff;
    start();
    pdev = find("00:01.0");
    assert_logged("bus: warning: pci 00:01.0: BAR0: unusable type in 0xfff00006, left alone\n");
    assert_logged("bus: warning: pci 00:01.0: BAR5: unusable type in 0xff000004, left alone\n");
    assert_int_equal(pci_bar_map(pdev, 0, &m), -ENOENT);
    assert_null(m.base);
}

static void windows_translate(void **state)
{
    struct fake_function *f = fake_add(&fake.root, 1, 0, 0x1234, 1, 0);
    struct pci_device *pdev;

    (void)state;
    fake.machine.pci.windows[1].pci = 0x80000000;
    fake_bar(f, 0, MIB, MEM32);
    fake_bar(f, 1, 32, IO);
    start();
    pdev = find("00:01.0");
    assert_true(pdev->bars[0].address == 0x80000000 && pdev->bars[0].phys.value == 0x40000000);
    assert_true(pdev->bars[1].address == 0x1000 && pdev->bars[1].phys.value == 0x3001000);
    assert_reachable(pdev, f, 0);
    assert_reachable(pdev, f, 1);
}

static void maps_bars(void **state)
{
    struct fake_function *f = add_gpgpu(&fake.root, 4, 64 * MIB);
    struct pci_device *pdev;
    struct mmio m;

    (void)state;
    start();
    pdev = find("00:04.0");
    pci_enable(pdev, PCI_MEMORY);
    assert_int_equal(pci_bar_map(pdev, 2, &m), 0);
    assert_true(m.size == 64 * MIB && m.phys.value == pdev->bars[2].phys.value);
    mmio_write32(&m, 8, 0x12345678);
    assert_int_equal(f->memory[2][8], 0x78);
    pci_bar_unmap(&m);
    assert_int_equal(pci_bar_map_range(pdev, 0, 0xff000, 0x1000, &m), 0);
    assert_true(m.phys.value == pdev->bars[0].phys.value + 0xff000);
    pci_bar_unmap(&m);
    assert_int_equal(pci_bar_map_range(pdev, 0, 0xff001, 0x1000, &m), -EINVAL);
    assert_int_equal(pci_bar_map_range(pdev, 0, UINT64_MAX, 2, &m), -EINVAL);
    assert_int_equal(pci_bar_map_range(pdev, 0, 0, 0, &m), -EINVAL);
    assert_int_equal(pci_bar_map(pdev, 1, &m), -ENOENT);
    assert_int_equal(pci_bar_map(pdev, 6, &m), -ENOENT);
}

static void a_stubborn_bar_is_an_error(void **state)
{
    struct fake_function *f = fake_add(&fake.root, 1, 0, 0x1234, 1, 0);

    (void)state;
    fake_bar(f, 0, MIB, MEM32);
    f->writable[0x10 + 3] = 0x0f; /* the upper address bits are stuck */
    start();
    assert_logged("bus: error: pci 00:01.0: BAR0 does not keep address 0x40000000: reads 0\n");
    assert_int_equal(pci_enable(find("00:01.0"), PCI_MEMORY), -ENOSPC);
}

static void too_small_windows_say_so(void **state)
{
    struct pci_device *pdev;
    struct mmio m;

    (void)state;
    fake.machine.pci.nwindows = 2;
    fake.machine.pci.windows[1].size = 17 * MIB;
    add_gpgpu(&fake.root, 4, 64 * MIB);
    start();
    pdev = find("00:04.0");
    assert_logged("bus: error: pci 00:04.0: BAR2 needs 64 MiB, window has 15 MiB left\n");
    assert_int_equal(pci_bar_map(pdev, 2, &m), -ENOSPC);
    assert_int_equal(pci_enable(pdev, PCI_MEMORY), -ENOSPC);
    assert_int_equal(pci_config_read16(pdev, 4) & 3, 0);
    assert_logged("bus: error: pci 00:04.0: cannot be enabled: BAR2 (64 MiB) has no address\n");
}

static void low_windows_do_when_there_is_no_other(void **state)
{
    struct fake_function *f = add_gpgpu(&fake.root, 4, 64 * MIB);

    (void)state;
    fake.machine.pci.nwindows = 2;
    start();
    assert_reachable(find("00:04.0"), f, 2);
    assert_logged("bus: pci 00:04.0: BAR2 of 64 MiB lies below 4 GiB: no room above\n");
}

/* --- bridges --- */

static void bridges_open_what_is_needed(void **state)
{
    struct fake_function *port = fake_add_bridge(&fake.root, 2, true);
    struct fake_function *gpu = add_gpgpu(port->behind, 0, GIB);
    struct fake_function *top = add_gpgpu(&fake.root, 3, 64 * MIB);
    struct pci_device *pdev;

    (void)state;
    fake_bar(port, 0, 4096, MEM32);
    start();
    assert_int_equal(count(), 3);
    pdev = find("01:00.0");
    assert_int_equal(port->config[0x18], 0);
    assert_int_equal(port->config[0x19], 1);
    assert_int_equal(port->config[0x1a], 1);
    assert_true(pdev->bars[2].address >= 4 * GIB);
    assert_true(pdev->bars[0].address < 4 * GIB); /* not prefetchable: through the memory window */
    for (unsigned i = 0; i <= 4; i += 2) {
        assert_reachable(pdev, gpu, i);
        assert_reachable(find("00:03.0"), top, i);
    }
    assert_reachable(find("00:02.0"), port, 0);
    assert_true(port->config[0x1c] >> 4 > port->config[0x1d] >> 4); /* nobody wants I/O: closed */
    assert_ptr_equal(find("00:02.0")->secondary, pdev->bus);
}

static void buses_are_numbered_depth_first(void **state)
{
    struct fake_function *a = fake_add_bridge(&fake.root, 1, false);
    struct fake_function *b = fake_add_bridge(a->behind, 4, false);
    struct fake_function *c = fake_add_bridge(a->behind, 5, false);
    struct fake_function *d = fake_add_bridge(&fake.root, 2, false);
    struct fake_function *deep = add_gpgpu(c->behind, 7, 64 * MIB);
    struct fake_function *io = fake_add(d->behind, 1, 0, 0x1234, 1, 0);

    (void)state;
    fake_bar(io, 0, 32, IO);
    start();
    assert_int_equal(count(), 6);
    assert_true(a->config[0x19] == 1 && a->config[0x1a] == 3);
    assert_true(b->config[0x18] == 1 && b->config[0x19] == 2 && b->config[0x1a] == 2);
    assert_true(c->config[0x18] == 1 && c->config[0x19] == 3 && c->config[0x1a] == 3);
    assert_true(d->config[0x19] == 4 && d->config[0x1a] == 4);
    for (unsigned i = 0; i <= 4; i += 2)
        assert_reachable(find("03:07.0"), deep, i);
    assert_reachable(find("04:01.0"), io, 0);
}

static void a_link_has_one_device(void **state)
{
    struct fake_function *port = fake_add_bridge(&fake.root, 1, true);
    struct fake_function *f = fake_add(port->behind, 0, 0, 0x1234, 1, 0);

    (void)state;
    f->echoes = true;
    start();
    assert_int_equal(count(), 2);
}

static void bus_numbers_run_out(void **state)
{
    (void)state;
    fake.machine.pci.bus_last = 1;
    add_gpgpu(fake_add_bridge(&fake.root, 1, false)->behind, 0, MIB);
    add_gpgpu(fake_add_bridge(&fake.root, 2, false)->behind, 0, MIB);
    start();
    assert_int_equal(count(), 3);
    assert_logged("bus: error: pci 00:02.0: no bus number left for the bus behind it: the last is 01\n");
}

static void a_small_ecam_is_an_error(void **state)
{
    (void)state;
    fake.machine.pci.ecam_size = MIB;
    fake_add(fake_add_bridge(&fake.root, 1, false)->behind, 0, 0, 0x1234, 1, 0);
    start();
    assert_int_equal(count(), 1);
    assert_logged("bus: error: pci 00:01.0: no bus number left for the bus behind it: the last is 00\n");
    init_exit_all();
    fake.machine.pci.ecam_size = MIB - 1;
    assert_int_equal(init_run_all(), -ERANGE);
    assert_logged("bus: error: pci: cannot reach the configuration space: ERANGE\n");
}

static void a_bridge_without_prefetchable_window(void **state)
{
    struct fake_function *bridge = fake_add_bridge(&fake.root, 1, false);
    struct fake_function *gpu = add_gpgpu(bridge->behind, 0, 64 * MIB);

    (void)state;
    memset(&bridge->config[0x24], 0, 12);
    memset(&bridge->writable[0x24], 0, 12);
    memset(&bridge->config[0x1c], 0, 2);
    memset(&bridge->writable[0x1c], 0, 2);
    start();
    for (unsigned i = 0; i <= 4; i += 2)
        assert_reachable(find("01:00.0"), gpu, i);
}

static void a_narrow_prefetchable_window(void **state)
{
    struct fake_function *bridge = fake_add_bridge(&fake.root, 1, false);
    struct fake_function *f = fake_add(bridge->behind, 0, 0, 0x1234, 1, 0);

    (void)state;
    fake_set32(bridge, 0x24, 0);
    memset(&bridge->writable[0x28], 0, 8);
    fake_bar(f, 0, 16 * MIB, MEM64 | PREF);
    fake_bar(f, 2, MIB, MEM32 | PREF);
    fake_bar(f, 3, MIB, MEM32);
    start();
    assert_reachable(find("01:00.0"), f, 0);
    assert_reachable(find("01:00.0"), f, 2);
    assert_reachable(find("01:00.0"), f, 3);
}

/* The prefetchable window may come to lie low; then narrow prefetchable BARs must not steal its room. */
static void low_wide_windows_are_for_wide_bars(void **state)
{
    struct fake_function *bridge = fake_add_bridge(&fake.root, 1, false);
    struct fake_function *f = fake_add(bridge->behind, 0, 0, 0x1234, 1, 0);

    (void)state;
    fake.machine.pci.nwindows = 2;
    fake_bar(f, 0, 64 * MIB, MEM64 | PREF);
    fake_bar(f, 2, MIB, MEM32 | PREF);
    start();
    assert_reachable(find("01:00.0"), f, 0);
    assert_reachable(find("01:00.0"), f, 2);
}

static void a_window_that_is_too_small_says_so(void **state)
{
    struct fake_function *gpu = add_gpgpu(fake_add_bridge(&fake.root, 1, false)->behind, 0, 2 * GIB);

    (void)state;
    fake.machine.pci.nwindows = 2;
    start();
    assert_logged("bus: error: pci 00:01.0: prefetchable window needs 2 GiB, window has 1022 MiB left\n");
    assert_logged("bus: error: pci 01:00.0: BAR2 needs 2 GiB, window has 960 KiB left\n");
    assert_int_equal(pci_enable(find("01:00.0"), PCI_MEMORY), -ENOSPC);
    assert_int_equal(fake_get16(gpu, 4) & 2, 0);
}

static void a_bridge_that_cannot_be_enabled_gives_nothing(void **state)
{
    struct fake_function *bridge = fake_add_bridge(&fake.root, 1, false);

    (void)state;
    fake_bar(bridge, 0, 2 * GIB, MEM32);
    add_gpgpu(bridge->behind, 0, MIB);
    start();
    assert_logged("bus: error: pci 00:01.0: bus 01 behind it is unreachable: ENOSPC\n");
    assert_int_equal(pci_enable(find("01:00.0"), PCI_MEMORY), -ENOSPC);
}

/* Any tree of bridges and devices that fits gets addresses at which each BAR, and it alone, answers. */
static void random_trees(void **state)
{
    static const uint32_t kinds[] = {MEM32, MEM32 | PREF, MEM64, MEM64 | PREF, IO};

    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        struct fake_bus *buses[8] = {&fake.root};
        struct fake_function *functions[24];
        unsigned nbuses = 1;
        unsigned nfunctions = 1 + (unsigned)random_below(ARRAY_SIZE(functions));
        unsigned nbars = 0, seen = 0;

        fake.machine.pci.nwindows = 2 + (unsigned)random_below(2);
        for (unsigned i = 0; i < nfunctions; i++) {
            struct fake_bus *bus = buses[random_below(nbuses)];
            unsigned slot = (unsigned)random_below(32);
            unsigned nregs = 6;

            while (bus->functions[slot][0])
                slot = (slot + 1) % 32;
            if (nbuses < ARRAY_SIZE(buses) && random_below(3) == 0) {
                functions[i] = fake_add_bridge(bus, slot, false);
                buses[nbuses++] = functions[i]->behind;
                nregs = 2;
            } else {
                functions[i] = fake_add(bus, slot, 0, 0x1000, (uint16_t)i, 0);
            }
            for (unsigned r = 0; r < nregs; r++) {
                uint32_t kind = kinds[random_below(ARRAY_SIZE(kinds))];

                if (random_below(2) || (kind & MEM64 && r + 1 == nregs))
                    continue;
                fake_bar(functions[i], r,
                         kind == IO ? UINT64_C(4) << random_below(6) : UINT64_C(16) << random_below(18),
                         kind);
                nbars++;
                r += kind & MEM64 ? 1 : 0;
            }
        }
        start();
        assert_int_equal(count(), nfunctions);
        pci_for_each (pdev)
            assert_int_equal(pci_enable(pdev, PCI_IO | PCI_MEMORY), 0);
        pci_for_each (pdev) {
            for (unsigned b = 0; b < PCI_BARS; b++) {
                unsigned bar;
                uint64_t offset;

                if (pdev->bars[b].size == 0)
                    continue;
                struct fake_function *f =
                    fake_decode(pdev->bars[b].phys.value, pdev->bars[b].flags & PCI_BAR_IO, &bar, &offset);

                assert_non_null(f);
                assert_reachable(pdev, f, b);
                assert_true(f->slot == pdev->slot);
                seen++;
            }
        }
        assert_int_equal(seen, nbars);
        for (unsigned i = 0; i < nfunctions; i++)
            assert_int_equal(functions[i]->sized_bad, 0);
        init_exit_all();
        fake_reset();
    }
}

/* Devices whose configuration space is noise, some of it writable: it ends, and nothing is harmed. */
static void hostile_devices(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 100; round++) {
        unsigned n = 1 + (unsigned)random_below(5);

        for (unsigned i = 0; i < n; i++) {
            struct fake_function *f = random_below(3) == 0
                                          ? fake_add_bridge(&fake.root, i, false)
                                          : fake_add(&fake.root, i, 0, 0x1234, 0x1337, 0x030200);

            for (unsigned b = 4; b < 256; b++) {
                if (f->behind && b >= 0x18 && b < 0x1b)
                    continue; /* the fake routes by these */
                f->config[b] = (uint8_t)random_u64();
                f->writable[b] = (uint8_t)random_u64();
            }
            f->config[0x0e] = f->behind != NULL;
        }
        init_run_all();
        pci_for_each (pdev) {
            for (unsigned at = pci_find_capability(pdev, PCI_CAP_VENDOR), steps = 0; at != 0; steps++) {
                assert_true(steps < 48);
                at = pci_next_capability(pdev, at);
            }
            fake.msi = true;
            pci_irq_vectors(pdev);
        }
        init_exit_all();
        fake_reset();
    }
}

/* Whichever allocation fails: no crash, no leak, and what is left works. */
static void memory_runs_out_at_every_point(void **state)
{
    bool done = false;

    (void)state;
    for (unsigned n = 1; !done; n++) {
        struct fake_function *bridge = fake_add_bridge(&fake.root, 1, false);

        add_gpgpu(bridge->behind, 0, MIB);
        add_gpgpu(&fake.root, 2, MIB);
        allocations_left = n;
        init_run_all();
        done = allocations_left > 0;
        allocations_left = UINT32_MAX;
        if (done)
            assert_int_equal(device_count(DEVICE_GPGPU), 2);
        else if (!strstr(fake.log, "memory") && !strstr(fake.log, "ENOMEM"))
            fail_msg("allocation %u failed in silence:\n%s", n, fake.log);
        init_exit_all();
        assert_int_equal(fake.live_maps, 0);
        fake_reset();
    }
}

/* --- capabilities --- */

static void walks_capabilities(void **state)
{
    struct fake_function *f = fake_add(&fake.root, 1, 0, 0x1234, 1, 0);
    struct pci_device *pdev;

    (void)state;
    fake_capability(f, 0x40, PCI_CAP_VENDOR, 0x81); /* the low bits do not count */
    fake_capability(f, 0x80, PCI_CAP_MSI, 0xfc);
    fake_capability(f, 0xfc, PCI_CAP_VENDOR, 0);
    start();
    pdev = find("00:01.0");
    assert_int_equal(pci_find_capability(pdev, PCI_CAP_VENDOR), 0x40);
    assert_int_equal(pci_next_capability(pdev, 0x40), 0xfc);
    assert_int_equal(pci_next_capability(pdev, 0xfc), 0);
    assert_int_equal(pci_find_capability(pdev, PCI_CAP_MSI), 0x80);
    assert_int_equal(pci_find_capability(pdev, PCI_CAP_MSIX), 0);
    f->config[6] = 0; /* no list at all */
    assert_int_equal(pci_find_capability(pdev, PCI_CAP_MSI), 0);
}

static void capability_loops_end(void **state)
{
    struct fake_function *f = fake_add(&fake.root, 1, 0, 0x1234, 1, 0);
    struct pci_device *pdev;

    (void)state;
    fake_capability(f, 0x40, PCI_CAP_VENDOR, 0x50);
    fake_capability(f, 0x50, PCI_CAP_VENDOR, 0x40);
    start();
    pdev = find("00:01.0");
    assert_int_equal(pci_find_capability(pdev, PCI_CAP_MSI), 0);
    assert_logged("bus: warning: pci 00:01.0: capability list loops at 0x40: cut\n");
    assert_int_equal(pci_find_capability(pdev, PCI_CAP_VENDOR), 0x40);
    assert_int_equal(pci_next_capability(pdev, 0x40), 0x50);
    assert_int_equal(pci_next_capability(pdev, 0x50), 0);
    fake_capability(f, 0x40, PCI_CAP_VENDOR, 0x40);
    assert_int_equal(pci_next_capability(pdev, 0x40), 0);
    fake_capability(f, 0x40, PCI_CAP_VENDOR, 0x10);
    assert_int_equal(pci_next_capability(pdev, 0x40), 0);
    assert_logged("bus: warning: pci 00:01.0: capability list leads into the header at 0x10: cut\n");
}

static void accesses_outside_configuration_space_panic(void **state)
{
    struct pci_device *pdev;

    (void)state;
    fake_add(&fake.root, 1, 0, 0x1234, 1, 0);
    start();
    pdev = find("00:01.0");
    assert_int_equal(pci_config_read8(pdev, 4095), 0);
    expect_assert_failure(pci_config_read8(pdev, 4096));
    expect_assert_failure(pci_config_read32(pdev, 2));
    expect_assert_failure(pci_config_write16(pdev, 1, 0));
}

/* --- interrupts --- */

static unsigned calls[4];

static void handler(void *arg)
{
    ++*(unsigned *)arg;
}

static void wires_turn_at_bridges(void **state)
{
    struct fake_function *a = fake_add_bridge(&fake.root, 3, false);
    struct fake_function *b = fake_add_bridge(a->behind, 2, false);
    struct fake_function *f = fake_add(b->behind, 5, 0, 0x1234, 1, 0);
    struct fake_function *none = fake_add(&fake.root, 4, 0, 0x1234, 1, 0);
    struct fake_function *bad = fake_add(&fake.root, 5, 0, 0x1234, 1, 0);
    struct fake_function *top = fake_add(&fake.root, 6, 0, 0x1234, 1, 0);

    (void)state;
    f->config[0x3d] = 2;
    top->config[0x3d] = 4;
    none->config[0x3d] = 0;
    bad->config[0x3d] = 5;
    start();
    /* INTB# of slot 5, through slot 2, through slot 3: pin (1 + 5 + 2) % 4 = 0 at slot 3 */
    assert_int_equal(find("02:05.0")->intx_irq, 32 + (3 + 0) % 4);
    assert_int_equal(find("00:06.0")->intx_irq, 32 + (6 + 3) % 4);
    assert_int_equal(find("00:04.0")->intx_irq, 0);
    assert_int_equal(find("00:05.0")->intx_irq, 0);
}

static void intx_is_on_while_somebody_listens(void **state)
{
    struct fake_function *f = add_gpgpu(&fake.root, 4, MIB);
    struct pci_device *pdev;

    (void)state;
    memset(calls, 0, sizeof(calls));
    start();
    pdev = find("00:04.0");
    assert_int_equal(pci_irq_vectors(pdev), 1);
    assert_int_equal(pci_irq_number(pdev, 0), 0);
    assert_int_equal(pci_irq_attach(pdev, 0, handler, &calls[0]), 0);
    assert_int_equal(pci_irq_attach(pdev, 1, handler, &calls[1]), 0);
    assert_int_equal(pci_irq_attach(pdev, 0, handler, &calls[0]), -EEXIST);
    assert_int_equal(pci_irq_mode(pdev), PCI_IRQ_INTX);
    assert_int_equal(pci_irq_number(pdev, 0), 32);
    assert_int_equal(fake_get16(f, 4) & 0x400, 0);
    assert_int_equal(fake_fire(32), 2);
    assert_true(calls[0] == 1 && calls[1] == 1);
    pci_irq_detach(pdev, 1, handler, &calls[1]);
    assert_int_equal(fake_get16(f, 4) & 0x400, 0);
    pci_irq_detach(pdev, 0, handler, &calls[0]);
    assert_int_equal(fake_get16(f, 4) & 0x400, 0x400);
    assert_int_equal(pci_irq_mode(pdev), PCI_IRQ_NONE);
    assert_int_equal(fake_fire(32), 0);
    expect_assert_failure(pci_irq_detach(pdev, 0, handler, &calls[0]));
}

static void no_wire_no_interrupt(void **state)
{
    (void)state;
    fake_add(&fake.root, 1, 0, 0x1234, 1, 0);
    start();
    assert_int_equal(pci_irq_vectors(find("00:01.0")), 0);
    assert_int_equal(pci_irq_attach(find("00:01.0"), 0, handler, calls), -ENODEV);
    assert_logged("bus: error: pci 00:01.0: cannot attach interrupt vector 0 (none): ENODEV\n");
}

/* As our GPU: MSI-X with `vectors` vectors, the table in BAR 4. */
static struct fake_function *add_msix(unsigned vectors, uint32_t table)
{
    struct fake_function *f = add_gpgpu(&fake.root, 4, MIB);

    fake_capability(f, 0x40, PCI_CAP_MSIX, 0);
    fake_set16(f, 0x42, (uint16_t)(vectors - 1));
    f->writable[0x43] = 0xc0;
    fake_set32(f, 0x44, table);
    fake.msi = true;
    return f;
}

static uint32_t table_word(const struct fake_function *f, unsigned vector, unsigned word)
{
    uint32_t value;

    memcpy(&value, f->memory[4] + 0x100 + 16 * vector + 4 * word, sizeof(value));
    return value;
}

static void msix_has_a_message_a_vector(void **state)
{
    struct fake_function *f = add_msix(4, 0x100 | 4);
    struct pci_device *pdev;

    (void)state;
    memset(calls, 0, sizeof(calls));
    start();
    pdev = find("00:04.0");
    assert_int_equal(pci_irq_vectors(pdev), 4);
    assert_int_equal(pci_enable(pdev, PCI_MEMORY | PCI_MASTER), 0);
    assert_int_equal(pci_irq_attach(pdev, 0, handler, &calls[0]), 0);
    assert_int_equal(pci_irq_attach(pdev, 3, handler, &calls[3]), 0);
    assert_int_equal(pci_irq_attach(pdev, 3, handler, &calls[2]), 0);
    assert_int_equal(pci_irq_attach(pdev, 3, handler, &calls[2]), -EEXIST);
    assert_int_equal(pci_irq_attach(pdev, 4, handler, &calls[1]), -EINVAL);
    assert_int_equal(pci_irq_mode(pdev), PCI_IRQ_MSIX);
    assert_string_equal(pci_irq_mode_name(pci_irq_mode(pdev)), "MSI-X");
    assert_int_equal(fake_get16(f, 0x42) & 0xc000, 0x8000);
    assert_int_equal(fake_get16(f, 4) & 0x400, 0x400); /* the wire stays off */
    assert_int_equal(table_word(f, 3, 0), 0x28000000);
    assert_int_equal(table_word(f, 3, 2) + 100, pci_irq_number(pdev, 3));
    for (unsigned v = 0; v < 4; v++)
        assert_int_equal(table_word(f, v, 3), v == 1 || v == 2); /* masked unless attached */
    assert_int_equal(fake_fire(pci_irq_number(pdev, 3)), 2);
    assert_true(calls[0] == 0 && calls[2] == 1 && calls[3] == 1);
    pci_irq_detach(pdev, 3, handler, &calls[3]);
    assert_int_equal(table_word(f, 3, 3), 0);
    pci_irq_detach(pdev, 3, handler, &calls[2]);
    assert_int_equal(table_word(f, 3, 3), 1);
    expect_assert_failure(pci_irq_detach(pdev, 3, handler, &calls[2]));
    expect_assert_failure(pci_irq_detach(pdev, 9, handler, &calls[2]));
    pci_irq_detach(pdev, 0, handler, &calls[0]);
    assert_int_equal(fake_get16(f, 0x42) & 0x8000, 0);
    assert_int_equal(fake.live_msis, 0);
}

static void msix_needs_a_good_table(void **state)
{
    struct fake_function *f = add_msix(2048, 0xff00 | 4);

    (void)state;
    start();
    assert_int_equal(pci_irq_attach(find("00:04.0"), 0, handler, calls), -EINVAL);
    fake_set32(f, 0x44, 5); /* no such BAR */
    assert_int_equal(pci_irq_attach(find("00:04.0"), 0, handler, calls), -ENOENT);
    fake_set32(f, 0x44, 7);
    assert_int_equal(pci_irq_attach(find("00:04.0"), 0, handler, calls), -ENOENT);
    assert_int_equal(pci_irq_mode(find("00:04.0")), PCI_IRQ_NONE);
}

static void messages_run_out(void **state)
{
    struct pci_device *pdev;

    (void)state;
    add_msix(4, 0x100 | 4);
    fake.msi_left = 1;
    start();
    pdev = find("00:04.0");
    pci_enable(pdev, PCI_MEMORY);
    assert_int_equal(pci_irq_attach(pdev, 0, handler, calls), 0);
    assert_int_equal(pci_irq_attach(pdev, 1, handler, calls), -ENOSPC);
    pci_irq_detach(pdev, 0, handler, calls);
    fake.msi_left = 0;
    assert_int_equal(pci_irq_attach(pdev, 0, handler, calls), -ENOSPC);
    assert_int_equal(pci_irq_mode(pdev), PCI_IRQ_NONE);
}

static struct fake_function *add_msi(bool wide)
{
    struct fake_function *f = fake_add(&fake.root, 1, 0, 0x1234, 0x11e8, 0x00ff00);

    f->config[0x3d] = 1;
    fake_capability(f, 0x40, PCI_CAP_MSI, 0);
    fake_set16(f, 0x42, wide ? 0x00fe : 0x007e); /* firmware asked for all it could have */
    f->writable[0x42] = 0x71;
    fake_writable(f, 0x44, 12);
    fake.msi = true;
    return f;
}

static void msi_has_one_message(void **state)
{
    struct pci_device *pdev;

    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        struct fake_function *f = add_msi(wide);

        start();
        pdev = find("00:01.0");
        assert_int_equal(pci_irq_vectors(pdev), 1);
        assert_int_equal(pci_irq_attach(pdev, 0, handler, &calls[0]), 0);
        assert_int_equal(pci_irq_attach(pdev, 1, handler, &calls[1]), 0);
        assert_int_equal(pci_irq_mode(pdev), PCI_IRQ_MSI);
        assert_int_equal(fake_get16(f, 0x42) & 0x71, 1);
        assert_int_equal(fake_get32(f, 0x44), 0x28000000);
        assert_int_equal(fake_get16(f, wide ? 0x4c : 0x48) + 100, pci_irq_number(pdev, 0));
        assert_int_equal(fake_fire(pci_irq_number(pdev, 0)), 2);
        pci_irq_detach(pdev, 0, handler, &calls[0]);
        assert_int_equal(fake_get16(f, 0x42) & 1, 1);
        pci_irq_detach(pdev, 1, handler, &calls[1]);
        assert_int_equal(fake_get16(f, 0x42) & 1, 0);
        init_exit_all();
        fake_reset();
    }
}

static void without_imsic_the_wire_is_used(void **state)
{
    (void)state;
    add_msi(true);
    add_msix(4, 0x100 | 4);
    fake.msi = false;
    start();
    for (unsigned i = 0; i < 2; i++) {
        struct pci_device *pdev = find(i ? "00:01.0" : "00:04.0");

        assert_int_equal(pci_irq_vectors(pdev), 1);
        assert_int_equal(pci_irq_attach(pdev, 0, handler, calls), 0);
        assert_int_equal(pci_irq_mode(pdev), PCI_IRQ_INTX);
        pci_irq_detach(pdev, 0, handler, calls);
    }
}

/* --- drivers --- */

static void drivers_are_asked_by_priority_and_removed_in_reverse(void **state)
{
    (void)state;
    add_gpgpu(&fake.root, 4, MIB);
    add_gpgpu(&fake.root, 5, MIB);
    fake_add(&fake.root, 6, 0, 0x1234, 0x1338, 0);
    start();
    assert_string_equal(probes, "picky?00:04.0 picky?00:05.0 gpu+00:04.0 gpu+00:05.0 ");
    assert_logged("bus: pci 00:04.0: 1234:1337 3D controller → gpu\n");
    assert_logged("bus: pci 00:06.0: 1234:1338 device: no driver\n");
    assert_int_equal(device_count(DEVICE_GPGPU), 2);
    assert_ptr_equal(device_get(DEVICE_GPGPU, 1), &find("00:05.0")->dev);
    assert_string_equal(device_get(DEVICE_GPGPU, 1)->name, "gpgpu1");
    assert_string_equal(device_get(DEVICE_GPGPU, 1)->ops, "gpu operations");
    assert_null(device_get(DEVICE_GPGPU, 0)->priv); /* what picky left is gone */
    assert_null(device_get(DEVICE_GPGPU, 2));
    probes[0] = '\0';
    init_exit_all();
    assert_string_equal(probes, "gpu-00:05.0 gpu-00:04.0 ");
}

static void a_failing_probe_keeps_the_device_from_others(void **state)
{
    (void)state;
    picky_answer = -EIO;
    add_gpgpu(&fake.root, 4, MIB);
    start();
    assert_string_equal(probes, "picky?00:04.0 ");
    assert_logged("bus: error: pci 00:04.0: 1234:1337 3D controller → picky: probe failed: EIO\n");
    assert_int_equal(device_count(DEVICE_GPGPU), 0);
    assert_null(find("00:04.0")->dev.driver);
}

static void devices_can_be_bound_again(void **state)
{
    struct device *dev;

    (void)state;
    add_gpgpu(&fake.root, 4, MIB);
    add_gpgpu(&fake.root, 5, MIB);
    start();
    dev = device_get(DEVICE_GPGPU, 0);
    assert_int_equal(device_bind(dev), -EBUSY);
    device_unbind(dev);
    assert_null(device_get(DEVICE_GPGPU, 0));
    assert_string_equal(device_get(DEVICE_GPGPU, 1)->name, "gpgpu1");
    assert_int_equal(device_count(DEVICE_GPGPU), 1);
    device_unbind(dev); /* no effect */
    picky_answer = 0;
    assert_int_equal(device_bind(dev), 0);
    assert_string_equal(dev->name, "device0");
    device_unbind(dev);
    picky_answer = -ENODEV;
    assert_int_equal(device_bind(dev), 0);
    assert_string_equal(dev->name, "gpgpu0");
}

static void assert_listed(const char *line)
{
    char listing[4096] = "";
    FILE *out = fmemopen(listing, sizeof(listing), "w");

    pci_list(out);
    fclose(out);
    if (!strstr(listing, line))
        fail_msg("not listed: %s\nbut:\n%s", line, listing);
}

static void ignore(void *arg)
{
    (void)arg;
}

static void the_list_says_what_is_there(void **state)
{
    struct pci_device *pdev;
    char line[128];

    (void)state;
    fake.msi = false;
    picky_answer = -EIO;
    add_gpgpu(&fake.root, 4, 64 * MIB);
    fake_add_bridge(&fake.root, 5, true);
    start();
    assert_listed("pci 00:04.0: 1234:1337 3D controller, revision 01: EIO\n");
    assert_listed("PCI bridge, revision 01: bridge\n");
    picky_answer = -EAGAIN;
    pdev = find("00:04.0");
    assert_int_equal(device_bind(&pdev->dev), -EAGAIN);
    assert_listed("3D controller, revision 01: waits for another device\n");
    picky_answer = -ENODEV;
    assert_int_equal(device_bind(&pdev->dev), 0);
    snprintf(line, sizeof(line), "revision 01: gpu\n    BAR0 memory, 64-bit, 1 MiB at %#llx, CPU %#llx\n",
             (unsigned long long)pdev->bars[0].address, (unsigned long long)pdev->bars[0].phys.value);
    assert_listed(line);
    assert_int_equal(pci_irq_attach(pdev, 0, ignore, NULL), 0);
    snprintf(line, sizeof(line), "    interrupt %u (INTx, vector 0): taken %llu times\n",
             pci_irq_number(pdev, 0), (unsigned long long)irq_count(pci_irq_number(pdev, 0)) + 1);
    fake_fire(pci_irq_number(pdev, 0));
    assert_listed(line);
    pci_irq_detach(pdev, 0, ignore, NULL);
    device_unbind(&pdev->dev);
    assert_listed("3D controller, revision 01: no driver\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_host_bridge_no_devices),
        TEST(finds_functions),
        TEST(devices_are_quiet_until_enabled),
        TEST(unknown_headers_are_left_alone),
        TEST(sizes_every_kind_of_bar),
        TEST(a_32_bit_bar_is_not_sign_extended),
        TEST(unusable_bars_are_left_alone),
        TEST(windows_translate),
        TEST(maps_bars),
        TEST(a_stubborn_bar_is_an_error),
        TEST(too_small_windows_say_so),
        TEST(low_windows_do_when_there_is_no_other),
        TEST(bridges_open_what_is_needed),
        TEST(buses_are_numbered_depth_first),
        TEST(a_link_has_one_device),
        TEST(bus_numbers_run_out),
        TEST(a_small_ecam_is_an_error),
        TEST(a_bridge_without_prefetchable_window),
        TEST(a_narrow_prefetchable_window),
        TEST(low_wide_windows_are_for_wide_bars),
        TEST(a_window_that_is_too_small_says_so),
        TEST(a_bridge_that_cannot_be_enabled_gives_nothing),
        TEST(random_trees),
        TEST(hostile_devices),
        TEST(memory_runs_out_at_every_point),
        TEST(walks_capabilities),
        TEST(capability_loops_end),
        TEST(accesses_outside_configuration_space_panic),
        TEST(wires_turn_at_bridges),
        TEST(intx_is_on_while_somebody_listens),
        TEST(no_wire_no_interrupt),
        TEST(msix_has_a_message_a_vector),
        TEST(msix_needs_a_good_table),
        TEST(messages_run_out),
        TEST(msi_has_one_message),
        TEST(without_imsic_the_wire_is_used),
        TEST(drivers_are_asked_by_priority_and_removed_in_reverse),
        TEST(a_failing_probe_keeps_the_device_from_others),
        TEST(devices_can_be_bound_again),
        TEST(the_list_says_what_is_there),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
