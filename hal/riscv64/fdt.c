// SPDX-License-Identifier: MIT
// From the nodes of the device tree to struct machine.
#define LOG_MODULE "fdt"
#include "boot.h"
#include "device_tree.h"

#include <errno.h>
#include <string.h>

#include "core/log.h"

#define UART_REGISTERS 8 // of a 16550

const uint32_t *dt_by_phandle(const struct dt_devices *devices, uint32_t phandle)
{
    for (unsigned i = 0; phandle && i < devices->count; i++)
        if (dt_u32(devices->nodes[i].begin, "phandle", 0) == phandle)
            return devices->nodes[i].begin;
    return NULL;
}

int dt_boot_hart_index(const struct dt_devices *devices, const struct dt_node *node, uint32_t irq)
{
    struct dt_cells pairs = dt_property(node->begin, "interrupts-extended");
    for (unsigned i = 0; devices->boot_intc && i < pairs.bytes / 8; i++)
        if (dt_cell(pairs, 2 * i) == devices->boot_intc && dt_cell(pairs, 2 * i + 1) == irq)
            return (int)i;
    return -1;
}

// Where the entries of "reg" go: of all nodes of a kind, in order, as far as there is room.
static const struct {
    size_t offset;
    unsigned max;
} lists[DT_KINDS] = {
    [DT_MEMORY] = {offsetof(struct machine, ram), MACHINE_MAX_RAM},
    [DT_RESERVED] = {offsetof(struct machine, reserved), MACHINE_MAX_RESERVED},
    [DT_UART] = {offsetof(struct machine, uart.regs), 1},
    [DT_TEST_DEVICE] = {offsetof(struct machine, test_device), 1},
    [DT_FW_CFG] = {offsetof(struct machine, fw_cfg), 1},
};

// What the walk has seen of each kind.
static struct {
    const uint32_t *first; // node
    unsigned count;        // of entries, those without room, too
} seen[DT_KINDS];

static void add_range(struct machine *m, enum dt_kind kind, struct machine_range range)
{
    struct machine_range *list = (struct machine_range *)((char *)m + lists[kind].offset);
    unsigned i = seen[kind].count++;
    if (i < lists[kind].max)
        list[i] = range;
}

// Whether the list ends, with an entry of size 0 (5.3).
static bool read_memory_reservations(struct machine *m)
{
    const uint32_t *entry = dt_tree.reservations.data, *end = entry + dt_tree.reservations.bytes / 4;
    for (; end - entry >= 4; entry += 4) {
        struct machine_range range = {phys_addr(dt_number(entry, 2)), dt_number(entry + 2, 2)};
        if (range.size == 0)
            return true;
        add_range(m, DT_RESERVED, range);
    }
    return false;
}

static void read_nodes(struct machine *m)
{
    const struct dt_node *node;
    while ((node = dt_next())) {
        struct machine_range range;
        if (!seen[node->kind].first)
            seen[node->kind].first = node->begin;
        for (unsigned i = 0; lists[node->kind].max && (range = dt_reg(node, i)).size; i++)
            add_range(m, node->kind, range);
    }
    m->bootargs = dt_string(seen[DT_CHOSEN].first, "bootargs");
    m->timebase_hz = dt_u32(seen[DT_CPUS].first, "timebase-frequency", 0);
    m->uart.irq = dt_u32(seen[DT_UART].first, "interrupts", 0);
    m->uart.reg_shift = dt_u32(seen[DT_UART].first, "reg-shift", 0);
    m->nram = seen[DT_MEMORY].count;
    m->nreserved = seen[DT_RESERVED].count;
}

static bool uart_usable(const struct machine_uart *uart)
{
    return (uart->reg_shift <= 8) & (uart->regs.size >= (uint64_t)UART_REGISTERS << uart->reg_shift % 64);
}

// Says what is missing, or too much, and cuts it: an unusable console first, as the others are told there.
// Returns 1 if the machine can do without.
static int check(struct machine *m)
{
    if (!uart_usable(&m->uart)) {
        m->uart = (struct machine_uart){0};
        if (seen[DT_UART].first)
            log_error("serial: no usable reg");
    }
    if (dt_tree.damaged)
        log_error("the device tree is damaged, or its nodes are nested deeper than %d", DT_MAX_DEPTH);
    if (m->nram > MACHINE_MAX_RAM) {
        log_warn("more than %d memory ranges: the rest stays unused", MACHINE_MAX_RAM);
        m->nram = MACHINE_MAX_RAM;
    }
    if (m->nram == 0)
        log_error("no memory node with a usable reg");
    if (m->timebase_hz == 0)
        log_error("/cpus: no timebase-frequency");
    bool fits = m->nreserved <= MACHINE_MAX_RESERVED;
    if (!fits) {
        log_error("more than %d reserved ranges", MACHINE_MAX_RESERVED);
        m->nreserved = MACHINE_MAX_RESERVED;
    }
    return fits && m->nram && m->timebase_hz && !dt_tree.damaged ? 1 : -EINVAL;
}

int machine_read_boot(struct machine *m, const void *fdt, unsigned long boot_hart)
{
    m->boot_hart = boot_hart;
    m->model = m->bootargs = "";
    size_t size = dt_open(fdt);
    if (size == 0) {
        log_error("no device tree that we can read at %p", fdt);
        return -EINVAL;
    }
    add_range(m, DT_RESERVED, (struct machine_range){phys_addr((uintptr_t)fdt), size});
    if (!read_memory_reservations(m)) {
        log_error("the memory reservation block has no end");
        m->reserved[0].size = 0; // nobody reads the tree
        return -EINVAL;
    }
    read_nodes(m);
    bool fine = uart_usable(&m->uart) & (m->nram - 1 < MACHINE_MAX_RAM) & (m->timebase_hz != 0) &
                (m->nreserved <= MACHINE_MAX_RESERVED) & (m->test_device.size != 0) & !dt_tree.damaged;
    return fine ? 0 : check(m);
}

// A hart, after the interrupt controller that its node holds.
static void read_cpu(struct machine *m, struct dt_devices *devices, const struct dt_node *cpu)
{
    struct dt_cells reg = dt_property(cpu->begin, "reg");
    uint64_t cells = dt_address_cells(cpu);
    unsigned long id = dt_number(reg.data, cells * 4 <= reg.bytes ? cells : 0);
    if (id == m->boot_hart && devices->intc.parent == cpu->begin)
        devices->boot_intc = dt_u32(devices->intc.begin, "phandle", 0);
    if (m->nharts < MACHINE_MAX_HARTS)
        m->harts[m->nharts++] = id;
    else
        log_warn("more than %d harts: hart %lu stays unused", MACHINE_MAX_HARTS, id);
}

// Those whose nodes refer to others are read when all have been seen.
static void (*const readers[DT_KINDS])(struct machine *, const struct dt_node *,
                                       const struct dt_devices *) = {
    [DT_PLIC] = dt_read_plic, [DT_APLIC] = dt_read_aplic, [DT_IMSIC] = dt_read_imsic, [DT_PCI] = dt_read_pci};

static void read_device_node(struct machine *m, struct dt_devices *devices, const struct dt_node *node)
{
    if (node->kind == DT_CPU_INTC)
        devices->intc = *node;
    else if (node->kind == DT_CPU)
        read_cpu(m, devices, node);
    else if (readers[node->kind] && devices->count < DT_MAX_DEVICES)
        devices->nodes[devices->count++] = *node;
    else if (readers[node->kind])
        log_error("more than %d devices of the kinds we know", DT_MAX_DEVICES);
}

void machine_read_devices(struct machine *m)
{
    struct dt_devices devices = {.count = 0};
    const struct dt_node *node;
    if (dt_tree.damaged)
        return;
    m->model = dt_string(dt_tree.root, "model");
    while ((node = dt_next()))
        read_device_node(m, &devices, node);
    for (unsigned i = 0; i < devices.count; i++)
        readers[devices.nodes[i].kind](m, &devices.nodes[i], &devices);
}

int machine_from_fdt(struct machine *m, const void *fdt, unsigned long boot_hart)
{
    *m = (struct machine){0};
    memset(seen, 0, sizeof(seen));
    int error = machine_read_boot(m, fdt, boot_hart);
    machine_read_devices(m);
    return error < 0 ? error : 0;
}
