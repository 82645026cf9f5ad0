// SPDX-License-Identifier: MIT
#include "fake.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/util.h"
#include "hal/mmio.h"
#include "hal/panic.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ECAM UINT64_C(0x30000000)

struct fake_machine fake;

/* --- the hal --- */

static struct {
    unsigned irq;
    irq_handler_t fn;
    void *arg;
} handlers[64];

const struct machine *machine(void)
{
    return &fake.machine;
}

void panic(const char *format, ...)
{
    (void)format;
    mock_assert(0, "panic", __FILE__, __LINE__);
    abort();
}

bool msi_available(void)
{
    return fake.msi;
}

int msi_alloc(struct msi_vector *out)
{
    if (!fake.msi)
        return -ENOTSUP;
    if (fake.msi_left == 0)
        return -ENOSPC;
    fake.msi_left--;
    fake.live_msis++;
    *out = (struct msi_vector){.address = 0x28000000, .data = 10 + fake.msi_left, .irq = 110 + fake.msi_left};
    return 0;
}

void msi_free(struct msi_vector *v)
{
    if (v->irq == 0)
        return;
    assert_int_equal(fake_fire(v->irq), 0);
    fake.live_msis--;
    *v = (struct msi_vector){0};
}

int irq_attach(unsigned irq, irq_handler_t fn, void *arg)
{
    size_t place = ARRAY_SIZE(handlers);

    assert_int_not_equal(irq, 0);
    for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
        if (!handlers[i].fn)
            place = i;
        else if (handlers[i].irq == irq && handlers[i].fn == fn && handlers[i].arg == arg)
            return -EEXIST;
    }
    assert_true(place < ARRAY_SIZE(handlers));
    handlers[place].irq = irq;
    handlers[place].fn = fn;
    handlers[place].arg = arg;
    return 0;
}

int irq_detach(unsigned irq, irq_handler_t fn, void *arg)
{
    for (size_t i = 0; i < ARRAY_SIZE(handlers); i++)
        if (handlers[i].fn == fn && handlers[i].irq == irq && handlers[i].arg == arg) {
            handlers[i].fn = NULL;
            return 0;
        }
    return -ENOENT;
}

static uint64_t counts[256];

uint64_t irq_count(unsigned irq)
{
    return irq < ARRAY_SIZE(counts) ? counts[irq] : 0;
}

unsigned fake_fire(unsigned irq)
{
    unsigned count = 0;

    counts[irq % ARRAY_SIZE(counts)]++;
    for (size_t i = 0; i < ARRAY_SIZE(handlers); i++)
        if (handlers[i].fn && handlers[i].irq == irq) {
            handlers[i].fn(handlers[i].arg);
            count++;
        }
    return count;
}

int mmio_map(struct mmio *out, phys_addr_t phys, size_t size)
{
    assert_true(size > 0 && phys.value != 0);
    fake.live_maps++;
    *out = (struct mmio){.base = (volatile uint8_t *)&fake, .phys = phys, .size = size};
    return 0;
}

void mmio_unmap(struct mmio *m)
{
    if (m->base)
        fake.live_maps--;
    *m = (struct mmio){0};
}

/* --- configuration space --- */

static unsigned byte(const struct fake_function *f, unsigned offset)
{
    return f->config[offset];
}

static struct fake_function *on_bus(struct fake_bus *bus, unsigned slot, unsigned function)
{
    for (unsigned s = 0; s < 32; s++)
        if (bus->functions[s][function] && bus->functions[s][function]->echoes)
            return bus->functions[s][function];
    return bus->functions[slot][function];
}

/* The bus that accesses to bus number `number` reach, from `bus` (number `own`) on. */
static struct fake_bus *route(struct fake_bus *bus, unsigned own, unsigned number)
{
    if (own == number)
        return bus;
    for (unsigned devfn = 0; devfn < 256; devfn++) {
        struct fake_function *f = bus->functions[devfn >> 3][devfn & 7];

        if (f && f->behind && number >= byte(f, 0x19) && number <= byte(f, 0x1a) && byte(f, 0x19) > own)
            return route(f->behind, byte(f, 0x19), number);
    }
    return NULL;
}

static struct fake_function *config_target(uint64_t offset)
{
    struct fake_bus *bus =
        route(&fake.root, fake.machine.pci.bus_first, fake.machine.pci.bus_first + (unsigned)(offset >> 20));

    return bus ? on_bus(bus, offset >> 15 & 31, offset >> 12 & 7) : NULL;
}

static bool decodes(const struct fake_function *f, bool io)
{
    return byte(f, 4) & (io ? 1 : 2);
}

static void note_sizing(struct fake_function *f, unsigned offset, unsigned width, uint64_t value)
{
    if (offset >= 0x10 && offset < 0x28 && width == 4 && value == UINT32_MAX && byte(f, 4) & 3)
        f->sized_bad++;
}

static uint64_t config_access(uint64_t offset, unsigned width, bool write, uint64_t value)
{
    struct fake_function *f = config_target(offset);
    unsigned at = offset & 4095;
    uint64_t result = 0;

    if (!f)
        return UINT64_MAX >> (64 - 8 * width);
    if (write)
        note_sizing(f, at, width, value);
    for (unsigned i = 0; i < width; i++) {
        uint8_t mask = f->writable[at + i];

        if (write)
            f->config[at + i] = (uint8_t)((f->config[at + i] & ~mask) | (value >> (8 * i) & mask));
        result |= (uint64_t)f->config[at + i] << (8 * i);
    }
    return result;
}

/* --- memory --- */

static bool in_window(const struct fake_function *bridge, uint64_t address, bool io)
{
    uint64_t base, limit;

    if (!decodes(bridge, io))
        return false;
    if (io) {
        base = (uint64_t)(byte(bridge, 0x1c) & 0xf0) << 8;
        limit = (uint64_t)(byte(bridge, 0x1d) & 0xf0) << 8 | 0xfff;
        return address >= base && address <= limit;
    }
    base = (uint64_t)(fake_get16(bridge, 0x20) & 0xfff0) << 16;
    limit = (uint64_t)(fake_get16(bridge, 0x22) & 0xfff0) << 16 | 0xfffff;
    if (address >= base && address <= limit)
        return true;
    base = (uint64_t)fake_get32(bridge, 0x28) << 32 | (uint64_t)(fake_get16(bridge, 0x24) & 0xfff0) << 16;
    limit = (uint64_t)fake_get32(bridge, 0x2c) << 32 | (uint64_t)(fake_get16(bridge, 0x26) & 0xfff0) << 16 |
            0xfffff;
    return address >= base && address <= limit;
}

/* Size of a BAR from its writable bits, as the hardware has it. */
static bool bar_hit(const struct fake_function *f, unsigned bar, uint64_t address, bool io, uint64_t *offset)
{
    unsigned reg = 0x10 + 4 * bar;
    uint32_t low = fake_get32(f, reg);
    uint32_t writable;
    uint64_t mask, base;

    memcpy(&writable, &f->writable[reg], 4);
    if (!f->memory[bar] || !decodes(f, io) || (low & 1) != io)
        return false;
    mask = writable;
    base = low & (io ? ~3u : ~15u);
    if (!io && (low & 6) == 4) {
        memcpy(&writable, &f->writable[reg + 4], 4);
        mask |= (uint64_t)writable << 32;
        base |= (uint64_t)fake_get32(f, reg + 4) << 32;
    } else {
        mask |= UINT64_MAX << 32;
    }
    *offset = address & ~mask;
    return (address & mask) == base;
}

static struct fake_function *decode_on(struct fake_bus *bus, uint64_t address, bool io, unsigned *bar,
                                       uint64_t *offset)
{
    struct fake_function *found = NULL;

    for (unsigned devfn = 0; devfn < 256; devfn++) {
        struct fake_function *f = bus->functions[devfn >> 3][devfn & 7];
        struct fake_function *behind = NULL;
        uint64_t at = 0;

        if (!f)
            continue;
        for (unsigned i = 0; i < FAKE_BARS; i++)
            if (bar_hit(f, i, address, io, &at)) {
                assert_null(found);
                found = f;
                *bar = i;
                *offset = at;
            }
        if (f->behind && in_window(f, address, io))
            behind = decode_on(f->behind, address, io, bar, offset);
        if (behind) {
            assert_null(found);
            found = behind;
        }
    }
    return found;
}

struct fake_function *fake_decode(uint64_t cpu, bool io, unsigned *bar, uint64_t *offset)
{
    for (unsigned i = 0; i < fake.machine.pci.nwindows; i++) {
        const struct pci_window *w = &fake.machine.pci.windows[i];

        if ((w->type == PCI_WINDOW_IO) == io && cpu >= w->cpu && cpu - w->cpu < w->size)
            return decode_on(&fake.root, cpu - w->cpu + w->pci, io, bar, offset);
    }
    return NULL;
}

static uint64_t memory_access(uint64_t cpu, unsigned width, bool write, uint64_t value)
{
    unsigned bar = 0;
    uint64_t offset = 0;
    uint64_t result = 0;
    struct fake_function *f = fake_decode(cpu, false, &bar, &offset);

    if (!f || offset + width > FAKE_BAR_MEMORY)
        return UINT64_MAX >> (64 - 8 * width);
    if (write)
        memcpy(f->memory[bar] + offset, &value, width);
    memcpy(&result, f->memory[bar] + offset, width);
    return result;
}

static uint64_t access(const struct mmio *m, size_t off, unsigned width, bool write, uint64_t value)
{
    uint64_t cpu = m->phys.value + off;

    assert_non_null(m->base);
    if (off % width != 0)
        panic("unaligned");
    assert_true(off + width <= m->size);
    if (cpu >= ECAM && cpu - ECAM < fake.machine.pci.ecam_size)
        return config_access(cpu - ECAM, width, write, value);
    return memory_access(cpu, width, write, value);
}

uint8_t mmio_read8(const struct mmio *m, size_t off)
{
    return (uint8_t)access(m, off, 1, false, 0);
}

uint16_t mmio_read16(const struct mmio *m, size_t off)
{
    return (uint16_t)access(m, off, 2, false, 0);
}

uint32_t mmio_read32(const struct mmio *m, size_t off)
{
    return (uint32_t)access(m, off, 4, false, 0);
}

void mmio_write8(const struct mmio *m, size_t off, uint8_t value)
{
    access(m, off, 1, true, value);
}

void mmio_write16(const struct mmio *m, size_t off, uint16_t value)
{
    access(m, off, 2, true, value);
}

void mmio_write32(const struct mmio *m, size_t off, uint32_t value)
{
    access(m, off, 4, true, value);
}

/* --- building a machine --- */

static void free_bus(struct fake_bus *bus)
{
    for (unsigned devfn = 0; devfn < 256; devfn++) {
        struct fake_function *f = bus->functions[devfn >> 3][devfn & 7];

        if (!f)
            continue;
        if (f->behind) {
            free_bus(f->behind);
            free(f->behind);
        }
        for (unsigned i = 0; i < FAKE_BARS; i++)
            free(f->memory[i]);
        free(f);
    }
}

static void keep_log(const char *text, size_t length)
{
    if (strlen(fake.log) + length < sizeof(fake.log))
        strncat(fake.log, text, length);
}

void fake_reset(void)
{
    static const struct log_output output = {.write = keep_log};
    struct pci_host *host = &fake.machine.pci;

    free_bus(&fake.root);
    memset(&fake, 0, sizeof(fake));
    memset(handlers, 0, sizeof(handlers));
    log_set_output(&output);
    *host = (struct pci_host){
        .present = true,
        .ecam = {ECAM},
        .ecam_size = UINT64_C(256) << 20,
        .bus_last = 255,
        .nwindows = 3,
        .windows = {{.type = PCI_WINDOW_IO, .cpu = 0x3000000, .pci = 0, .size = 0x10000},
                    {.type = PCI_WINDOW_MEM32, .cpu = 0x40000000, .pci = 0x40000000, .size = 0x40000000},
                    {.type = PCI_WINDOW_MEM64,
                     .cpu = UINT64_C(0x400000000),
                     .pci = UINT64_C(0x400000000),
                     .size = UINT64_C(0x400000000)}},
    };
    for (unsigned slot = 0; slot < PCI_INTX_SLOTS; slot++)
        for (unsigned pin = 0; pin < 4; pin++)
            host->intx_irq[slot][pin] = (uint16_t)(32 + (slot + pin) % 4);
    fake.msi_left = 100;
}

void fake_set16(struct fake_function *f, unsigned offset, uint16_t value)
{
    memcpy(&f->config[offset], &value, sizeof(value));
}

void fake_set32(struct fake_function *f, unsigned offset, uint32_t value)
{
    memcpy(&f->config[offset], &value, sizeof(value));
}

uint16_t fake_get16(const struct fake_function *f, unsigned offset)
{
    uint16_t value;

    memcpy(&value, &f->config[offset], sizeof(value));
    return value;
}

uint32_t fake_get32(const struct fake_function *f, unsigned offset)
{
    uint32_t value;

    memcpy(&value, &f->config[offset], sizeof(value));
    return value;
}

void fake_writable(struct fake_function *f, unsigned offset, unsigned count)
{
    memset(&f->writable[offset], 0xff, count);
}

struct fake_function *fake_add(struct fake_bus *bus, unsigned slot, unsigned function, uint16_t vendor,
                               uint16_t device, uint32_t class)
{
    struct fake_function *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    assert_null(bus->functions[slot][function]);
    bus->functions[slot][function] = f;
    f->bus = bus;
    f->slot = slot;
    f->function = function;
    fake_set16(f, 0, vendor);
    fake_set16(f, 2, device);
    fake_set32(f, 8, class << 8 | 1);
    fake_writable(f, 4, 2);
    fake_set32(f, 0x30, 0xfffff801); /* a ROM that firmware left on */
    f->writable[0x30] = 1;
    return f;
}

struct fake_function *fake_add_bridge(struct fake_bus *bus, unsigned slot, bool port)
{
    struct fake_function *f = fake_add(bus, slot, 0, 0x1b36, 0x000c, 0x060400);

    f->behind = calloc(1, sizeof(*f->behind));
    assert_non_null(f->behind);
    f->config[0x0e] = 1;
    fake_set32(f, 0x30, 0);
    fake_writable(f, 0x18, 3);
    f->writable[0x1c] = f->writable[0x1d] = 0xf0;
    fake_set16(f, 0x1c, 0x0101);
    fake_set32(f, 0x24, 0x00010001);
    f->writable[0x20] = f->writable[0x22] = f->writable[0x24] = f->writable[0x26] = 0xf0;
    f->writable[0x21] = f->writable[0x23] = f->writable[0x25] = f->writable[0x27] = 0xff;
    fake_writable(f, 0x28, 12);
    if (port) {
        fake_capability(f, 0x54, 0x10, 0);
        fake_set16(f, 0x56, 0x0042);
    }
    return f;
}

void fake_bar(struct fake_function *f, unsigned index, uint64_t size, uint32_t low)
{
    unsigned reg = 0x10 + 4 * index;
    uint64_t mask = ~(size - 1);
    uint32_t low_mask = (uint32_t)mask & (low & 1 ? ~3u : ~15u);

    fake_set32(f, reg, low);
    memcpy(&f->writable[reg], &low_mask, 4);
    if (!(low & 1) && (low & 6) == 4) {
        uint32_t high_mask = (uint32_t)(mask >> 32);

        memcpy(&f->writable[reg + 4], &high_mask, 4);
    }
    f->memory[index] = calloc(1, FAKE_BAR_MEMORY);
    assert_non_null(f->memory[index]);
}

void fake_capability(struct fake_function *f, unsigned offset, uint8_t id, uint8_t next)
{
    f->config[6] |= 0x10;
    if (f->config[0x34] == 0)
        f->config[0x34] = (uint8_t)offset;
    f->config[offset] = id;
    f->config[offset + 1] = next;
}
