// SPDX-License-Identifier: MIT
// From the nodes of the device tree to struct machine.
#define LOG_MODULE "fdt"
#include "boot.h"
#include "device_tree.h"

#include <errno.h>
#include <string.h>

#include "core/log.h"
#include "core/util.h"

#define UART_REGISTERS 8 // of a 16550

const struct dt_node *dt_by_phandle(const struct dt_devices *devices, uint32_t phandle)
{
    for (unsigned i = 0; phandle && i < devices->count; i++)
        if (dt_u32(&devices->nodes[i], DT_PHANDLE, 0) == phandle)
            return &devices->nodes[i];
    return NULL;
}

int dt_boot_hart_index(const struct dt_devices *devices, const struct dt_node *node, uint32_t irq)
{
    struct dt_cells pairs = dt_property(node, DT_INTERRUPTS_EXTENDED);
    for (unsigned i = 0; devices->boot_intc && i + 1 < pairs.count; i += 2)
        if (dt_cell(pairs, i) == devices->boot_intc && dt_cell(pairs, i + 1) == irq)
            return (int)(i / 2);
    return -1;
}

static const char *text_of(const struct dt_node *node, enum dt_name name)
{
    const char *text = dt_string(node, name);
    return text ? text : "";
}

// What a walk fills in, and which nodes it looks at.
struct reading {
    struct machine *m;
    struct dt_devices *devices;
    const struct reader *readers;
    uint32_t boot_cpu; // the boot hart's node, 0 if not seen
    int error;
};

// Reads the nodes that have a property and, if `value` is given, that string in it; or collects them for
// later, when all nodes that they refer to were seen.
struct reader {
    enum dt_name property;
    const char *value;
    void (*read)(struct reading *r, const struct dt_node *node);
    void (*read_later)(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);
};

static void read_model(struct reading *r, const struct dt_node *node)
{
    r->m->model = text_of(node, DT_MODEL);
}

static void read_bootargs(struct reading *r, const struct dt_node *node)
{
    r->m->bootargs = text_of(node, DT_BOOTARGS);
}

static void read_timebase(struct reading *r, const struct dt_node *node)
{
    r->m->timebase_hz = dt_u32(node, DT_TIMEBASE_FREQUENCY, 0);
}

static void read_uart(struct reading *r, const struct dt_node *node)
{
    struct machine_uart *uart = &r->m->uart;
    struct machine_range reg;
    uint32_t shift = dt_u32(node, DT_REG_SHIFT, 0);
    if (uart->present)
        return;
    if (!dt_reg(node, 0, &reg) || shift > 8 || reg.size < (uint64_t)UART_REGISTERS << shift) {
        log_error("serial: no usable reg");
        return;
    }
    *uart = (struct machine_uart){.present = true,
                                  .base = reg.base,
                                  .size = reg.size,
                                  .irq = dt_u32(node, DT_INTERRUPTS, 0),
                                  .reg_shift = shift};
}

static void read_test_device(struct reading *r, const struct dt_node *node)
{
    struct machine_range reg;
    if (dt_reg(node, 0, &reg))
        r->m->test_device = reg.base;
}

static void read_fw_cfg(struct reading *r, const struct dt_node *node)
{
    dt_reg(node, 0, &r->m->fw_cfg);
}

static void read_memory(struct reading *r, const struct dt_node *node)
{
    struct machine *m = r->m;
    struct machine_range range;
    for (unsigned i = 0; dt_reg(node, i, &range); i++) {
        if (m->nram == MACHINE_MAX_RAM) {
            log_warn("more than %d memory ranges: the rest stays unused", MACHINE_MAX_RAM);
            break;
        }
        m->ram[m->nram++] = range;
    }
}

static void add_reserved(struct reading *r, uint64_t base, uint64_t size)
{
    struct machine *m = r->m;
    if (m->nreserved < MACHINE_MAX_RESERVED) {
        m->reserved[m->nreserved++] = (struct machine_range){phys_addr(base), size};
    } else {
        log_error("more than %d reserved ranges", MACHINE_MAX_RESERVED);
        r->error = -EINVAL;
    }
}

static void read_reserved(struct reading *r, const struct dt_node *node)
{
    struct machine_range range;
    for (unsigned i = 0; dt_reg(node, i, &range); i++)
        add_reserved(r, range.base.value, range.size);
}

// The list ends with an entry of size 0 (5.3).
static void read_memory_reservations(struct reading *r, const struct dt_tree *tree)
{
    struct dt_cells list = {tree->reservations, UINT32_MAX, tree->reservations_cells};
    uint64_t size = 1;
    for (unsigned i = 0; i < list.count && size; i += 4) {
        size = dt_number(list, i + 2, 2);
        if (size)
            add_reserved(r, dt_number(list, i, 2), size);
    }
    if (size) {
        log_error("the memory reservation block has no end");
        r->error = -EINVAL;
    }
}

static void read_cpu(struct reading *r, const struct dt_node *cpu)
{
    unsigned long id = dt_number(dt_property(cpu, DT_REG), 0, cpu->address_cells);
    if (id == r->m->boot_hart)
        r->boot_cpu = cpu->token;
    if (r->m->nharts < MACHINE_MAX_HARTS)
        r->m->harts[r->m->nharts++] = id;
    else
        log_warn("more than %d harts: hart %lu stays unused", MACHINE_MAX_HARTS, id);
}

static void read_cpu_intc(struct reading *r, const struct dt_node *node)
{
    if (r->boot_cpu && node->parent->token == r->boot_cpu)
        r->devices->boot_intc = dt_u32(node, DT_PHANDLE, 0);
}

static void add_device(struct reading *r, const struct dt_node *node)
{
    struct dt_devices *devices = r->devices;
    if (devices->count == DT_MAX_DEVICES) {
        log_error("more than %d devices of the kinds we know", DT_MAX_DEVICES);
        r->error = -EINVAL;
        return;
    }
    devices->nodes[devices->count++] = *node;
}

static const struct reader boot_readers[] = {
    {DT_DEVICE_TYPE, "memory", .read = read_memory},           {DT_BOOTARGS, NULL, .read = read_bootargs},
    {DT_TIMEBASE_FREQUENCY, NULL, .read = read_timebase},      {DT_COMPATIBLE, "ns16550a", .read = read_uart},
    {DT_COMPATIBLE, "sifive,test1", .read = read_test_device}, {.property = DT_NAMES},
};

static const struct reader device_readers[] = {
    {DT_MODEL, NULL, .read = read_model},
    {DT_DEVICE_TYPE, "cpu", .read = read_cpu},
    {DT_COMPATIBLE, "riscv,cpu-intc", .read = read_cpu_intc},
    {DT_COMPATIBLE, "qemu,fw-cfg-mmio", .read = read_fw_cfg},
    {DT_COMPATIBLE, "sifive,plic-1.0.0", .read_later = dt_read_plic},
    {DT_COMPATIBLE, "riscv,aplic", .read_later = dt_read_aplic},
    {DT_COMPATIBLE, "riscv,imsics", .read_later = dt_read_imsic},
    {DT_COMPATIBLE, "pci-host-ecam-generic", .read_later = dt_read_pci},
    {.property = DT_NAMES},
};

// A node without "status" is in use (Devicetree Specification 2.3.4).
static bool enabled(const struct dt_node *node)
{
    return !node->property[DT_STATUS] || dt_has_string(node, DT_STATUS, "okay") ||
           dt_has_string(node, DT_STATUS, "ok");
}

static const struct reader *reader_of(const struct reader *readers, const struct dt_node *node)
{
    for (const struct reader *r = readers; r->property != DT_NAMES; r++)
        if (node->property[r->property] && (!r->value || dt_has_string(node, r->property, r->value)))
            return r;
    return NULL;
}

static int read_node(void *arg, const struct dt_node *node)
{
    struct reading *r = arg;
    const struct reader *reader = enabled(node) ? reader_of(r->readers, node) : NULL;
    if (reader && reader->read)
        reader->read(r, node);
    else if (reader)
        add_device(r, node);
    return r->error;
}

static int read_boot_node(void *arg, const struct dt_node *node)
{
    if (node->depth == 3 && strcmp(dt_node_name(node->parent), "reserved-memory") == 0 && enabled(node))
        read_reserved(arg, node);
    return read_node(arg, node);
}

static int read_boot(struct machine *m, struct dt_devices *devices, const void *fdt, unsigned long boot_hart)
{
    *m = (struct machine){.boot_hart = boot_hart, .model = "", .bootargs = ""};
    if (dt_open(&devices->tree, fdt) < 0) {
        log_error("no device tree that we can read at %p", fdt);
        return -EINVAL;
    }
    struct reading r = {.m = m, .devices = devices, .readers = boot_readers};
    add_reserved(&r, (uintptr_t)fdt, devices->tree.size);
    read_memory_reservations(&r, &devices->tree);
    if (r.error || dt_walk(&devices->tree, read_boot_node, &r) < 0)
        return -EINVAL;
    if (m->nram == 0)
        log_error("no memory node with a usable reg");
    if (m->timebase_hz == 0)
        log_error("/cpus: no timebase-frequency");
    return m->nram && m->timebase_hz ? 0 : -EINVAL;
}

static void read_devices(struct machine *m, struct dt_devices *devices)
{
    struct reading r = {.m = m, .devices = devices, .readers = device_readers};
    devices->count = devices->boot_intc = 0;
    if (!devices->tree.tokens || dt_walk(&devices->tree, read_node, &r) < 0)
        return;
    for (unsigned i = 0; i < devices->count; i++)
        reader_of(device_readers, &devices->nodes[i])->read_later(m, &devices->nodes[i], devices);
}

int machine_from_fdt(struct machine *m, const void *fdt, unsigned long boot_hart)
{
    struct dt_devices devices = {0};
    int error = read_boot(m, &devices, fdt, boot_hart);
    read_devices(m, &devices);
    return error;
}

static struct dt_devices the_devices;
static bool devices_read;

int machine_read_boot(struct machine *m, const void *fdt, unsigned long boot_hart)
{
    return read_boot(m, &the_devices, fdt, boot_hart);
}

void machine_read_devices(struct machine *m)
{
    if (!devices_read) {
        devices_read = true;
        read_devices(m, &the_devices);
    }
}

struct machine_range device_tree_range(void)
{
    return (struct machine_range){phys_addr((uintptr_t)the_devices.tree.base), the_devices.tree.size};
}
