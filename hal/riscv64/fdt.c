// SPDX-License-Identifier: MIT
// From the flattened device tree to struct machine, in one walk over its nodes.
#define LOG_MODULE "fdt"
#include "device_tree.h"

#include <errno.h>
#include <libfdt.h>
#include <string.h>

#include "core/log.h"
#include "core/util.h"

#define MAX_DEPTH      16
#define UART_REGISTERS 8 // of a 16550

static const char *const names[DT_NAMES] = {
    [DT_COMPATIBLE] = "compatible",
    [DT_STATUS] = "status",
    [DT_REG] = "reg",
    [DT_PHANDLE] = "phandle",
    [DT_DEVICE_TYPE] = "device_type",
    [DT_ADDRESS_CELLS] = "#address-cells",
    [DT_SIZE_CELLS] = "#size-cells",
    [DT_MODEL] = "model",
    [DT_BOOTARGS] = "bootargs",
    [DT_TIMEBASE_FREQUENCY] = "timebase-frequency",
    [DT_REG_SHIFT] = "reg-shift",
    [DT_INTERRUPTS] = "interrupts",
    [DT_INTERRUPTS_EXTENDED] = "interrupts-extended",
    [DT_INTERRUPT_CELLS] = "#interrupt-cells",
    [DT_NDEV] = "riscv,ndev",
    [DT_NUM_SOURCES] = "riscv,num-sources",
    [DT_NUM_IDS] = "riscv,num-ids",
    [DT_GUEST_INDEX_BITS] = "riscv,guest-index-bits",
    [DT_MSI_PARENT] = "msi-parent",
    [DT_RANGES] = "ranges",
    [DT_BUS_RANGE] = "bus-range",
    [DT_INTERRUPT_MAP] = "interrupt-map",
    [DT_INTERRUPT_MAP_MASK] = "interrupt-map-mask",
};

// The walk has found the property whole: nothing of it lies outside of the tree.
static const struct fdt_property *property_at(const void *fdt, int offset)
{
    return fdt_offset_ptr(fdt, offset, sizeof(struct fdt_property));
}

struct dt_cells dt_property(const struct dt_node *node, enum dt_name name)
{
    if (!node->property[name])
        return (struct dt_cells){0};
    const struct fdt_property *property = property_at(node->fdt, node->property[name]);
    uint32_t bytes = fdt32_ld(&property->len);
    return (struct dt_cells){property->data, bytes, bytes / sizeof(fdt32_t)};
}

uint32_t dt_cell(struct dt_cells cells, unsigned i)
{
    return i < cells.count ? fdt32_ld((const fdt32_t *)cells.data + i) : 0;
}

uint64_t dt_number(struct dt_cells cells, unsigned i, int n)
{
    uint64_t value = 0;
    for (int k = 0; k < n; k++)
        value = value << 32 | dt_cell(cells, i + (unsigned)k);
    return value;
}

uint32_t dt_u32(const struct dt_node *node, enum dt_name name, uint32_t missing)
{
    struct dt_cells cells = dt_property(node, name);
    return cells.count ? dt_cell(cells, 0) : missing;
}

bool dt_reg(const struct dt_node *node, unsigned index, struct machine_range *out)
{
    struct dt_cells reg = dt_property(node, DT_REG);
    unsigned stride = (unsigned)(node->address_cells + node->size_cells);
    if (stride == 0 || (index + 1) * stride > reg.count)
        return false;
    uint64_t base = dt_number(reg, index * stride, node->address_cells);
    uint64_t size = dt_number(reg, index * stride + (unsigned)node->address_cells, node->size_cells);
    if (size == 0 || base + size - 1 < base)
        return false;
    *out = (struct machine_range){phys_addr(base), size};
    return true;
}

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

static void copy_string(char *out, size_t size, const struct dt_node *node, enum dt_name name)
{
    struct dt_cells text = dt_property(node, name);
    size_t n = text.data ? strnlen(text.data, text.bytes) : 0;
    if (n >= size) {
        log_warn("%s is %zu bytes long: cut to %zu", names[name], n, size - 1);
        n = size - 1;
    }
    if (n)
        memcpy(out, text.data, n);
    out[n] = '\0';
}

static bool string_is(const struct dt_node *node, enum dt_name name, const char *value)
{
    struct dt_cells text = dt_property(node, name);
    size_t size = strlen(value) + 1;
    return text.bytes == size && memcmp(text.data, value, size) == 0;
}

static bool name_is(const struct dt_node *node, const char *name)
{
    const char *node_name = fdt_get_name(node->fdt, node->offset, NULL);
    return node_name && strcmp(node_name, name) == 0;
}

// A node without "status" is in use (Devicetree Specification 2.3.4).
static bool enabled(const struct dt_node *node)
{
    return !node->property[DT_STATUS] || string_is(node, DT_STATUS, "okay") ||
           string_is(node, DT_STATUS, "ok");
}

static void read_uart(struct machine *m, const struct dt_node *node, const struct dt_devices *devices)
{
    (void)devices;
    struct machine_range reg;
    uint32_t shift = dt_u32(node, DT_REG_SHIFT, 0);
    if (m->uart.present)
        return;
    if (!dt_reg(node, 0, &reg) || shift > 8 || reg.size < (uint64_t)UART_REGISTERS << shift) {
        log_error("serial: no usable reg");
        return;
    }
    m->uart = (struct machine_uart){.present = true,
                                    .base = reg.base,
                                    .size = reg.size,
                                    .irq = dt_u32(node, DT_INTERRUPTS, 0),
                                    .reg_shift = shift};
}

static void read_test_device(struct machine *m, const struct dt_node *node, const struct dt_devices *devices)
{
    (void)devices;
    struct machine_range reg;
    if (dt_reg(node, 0, &reg))
        m->test_device = reg.base;
}

static void read_fw_cfg(struct machine *m, const struct dt_node *node, const struct dt_devices *devices)
{
    (void)devices;
    dt_reg(node, 0, &m->fw_cfg);
}

static void read_memory(struct machine *m, const struct dt_node *node)
{
    struct machine_range range;
    for (unsigned i = 0; dt_reg(node, i, &range); i++) {
        if (m->nram == MACHINE_MAX_RAM) {
            log_warn("more than %d memory ranges: the rest stays unused", MACHINE_MAX_RAM);
            break;
        }
        m->ram[m->nram++] = range;
    }
}

static int add_reserved(struct machine *m, struct machine_range range)
{
    if (m->nreserved == MACHINE_MAX_RESERVED) {
        log_error("more than %d reserved ranges", MACHINE_MAX_RESERVED);
        return -EINVAL;
    }
    m->reserved[m->nreserved++] = range;
    return 0;
}

static int read_reserved(struct machine *m, const struct dt_node *node)
{
    struct machine_range range;
    for (unsigned i = 0; dt_reg(node, i, &range); i++)
        if (add_reserved(m, range) < 0)
            return -EINVAL;
    return 0;
}

// The list ends with an entry of size 0.
static int read_memory_reservations(struct machine *m, const void *fdt)
{
    uint64_t base, size;
    for (int i = 0; fdt_get_mem_rsv(fdt, i, &base, &size) == 0; i++) {
        if (size == 0)
            return 0;
        if (add_reserved(m, (struct machine_range){phys_addr(base), size}) < 0)
            return -EINVAL;
    }
    log_error("the memory reservation block has no end");
    return -EINVAL;
}

static const struct reader {
    const char *compatible;
    void (*read)(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);
} readers[] = {
    {"ns16550a", read_uart},
    {"sifive,test1", read_test_device},
    {"qemu,fw-cfg-mmio", read_fw_cfg},
    {"sifive,plic-1.0.0", dt_read_plic},
    {"riscv,aplic", dt_read_aplic},
    {"riscv,imsics", dt_read_imsic},
    {"pci-host-ecam-generic", dt_read_pci},
};

static const struct reader *reader_of(const struct dt_node *node)
{
    struct dt_cells compatible = dt_property(node, DT_COMPATIBLE);
    for (size_t i = 0; compatible.data && i < ARRAY_SIZE(readers); i++)
        if (fdt_stringlist_contains(compatible.data, (int)compatible.bytes, readers[i].compatible))
            return &readers[i];
    return NULL;
}

// The walk: the nodes from the root down to the present one, and what was found so far.
struct walk {
    struct machine *m;
    struct dt_devices *devices;
    int boot_cpu; // offset of the boot hart's node, 0 if not seen
    int depth;    // of the present node; the root is 1, and path[0] stands above it
    struct dt_node path[MAX_DEPTH + 1];
};

static void read_cpu(struct walk *w, const struct dt_node *cpu)
{
    unsigned long id = dt_number(dt_property(cpu, DT_REG), 0, cpu->address_cells);
    if (id == w->m->boot_hart)
        w->boot_cpu = cpu->offset;
    if (w->m->nharts < MACHINE_MAX_HARTS)
        w->m->harts[w->m->nharts++] = id;
    else
        log_warn("more than %d harts: hart %lu stays unused", MACHINE_MAX_HARTS, id);
}

static int add_device(struct walk *w, const struct dt_node *node)
{
    if (w->devices->count == DT_MAX_DEVICES) {
        log_error("more than %d devices of the kinds we know", DT_MAX_DEVICES);
        return -EINVAL;
    }
    w->devices->nodes[w->devices->count++] = *node;
    return 0;
}

// One node, by where it is and by its device_type, else by "compatible".
static int read_node(struct walk *w)
{
    const struct dt_node *node = &w->path[w->depth], *parent = node - 1;
    struct machine *m = w->m;
    if (w->depth == 1)
        copy_string(m->model, sizeof(m->model), node, DT_MODEL);
    else if (!enabled(node))
        return 0;
    else if (w->depth == 2 && string_is(node, DT_DEVICE_TYPE, "memory"))
        read_memory(m, node);
    else if (w->depth == 2 && name_is(node, "chosen"))
        copy_string(m->bootargs, sizeof(m->bootargs), node, DT_BOOTARGS);
    else if (w->depth == 2 && name_is(node, "cpus"))
        m->timebase_hz = dt_u32(node, DT_TIMEBASE_FREQUENCY, 0);
    else if (w->depth == 3 && string_is(node, DT_DEVICE_TYPE, "cpu"))
        read_cpu(w, node);
    else if (w->depth == 3 && name_is(parent, "reserved-memory"))
        return read_reserved(m, node);
    else if (w->depth == 4 && w->boot_cpu && parent->offset == w->boot_cpu)
        w->devices->boot_intc = dt_u32(node, DT_PHANDLE, 0);
    else if (reader_of(node))
        return add_device(w, node);
    return 0;
}

static void note_property(struct dt_node *node, int offset)
{
    const char *name = fdt_string(node->fdt, (int)fdt32_ld(&property_at(node->fdt, offset)->nameoff));
    for (unsigned i = 0; name && i < DT_NAMES; i++) {
        if (strcmp(name, names[i]) == 0) {
            node->property[i] = offset;
            return;
        }
    }
}

// A cell count that a bus node sets for its children.
static int cell_count(const struct dt_node *node, enum dt_name name, uint32_t missing)
{
    uint32_t n = dt_u32(node, name, missing);
    return (int)(n <= 3 ? n : missing);
}

// 2 and 1 cells where the parent says nothing (Devicetree Specification 2.3.5).
static void enter_node(struct walk *w, const void *fdt, int offset)
{
    const struct dt_node *parent = &w->path[w->depth++];
    w->path[w->depth] = (struct dt_node){.fdt = fdt,
                                         .offset = offset,
                                         .address_cells = cell_count(parent, DT_ADDRESS_CELLS, 2),
                                         .size_cells = cell_count(parent, DT_SIZE_CELLS, 1)};
}

// Goes over the tree's tags once. A node's properties come before its children (specification 5.4), so it is
// complete at the next begin or end of a node.
static int walk(struct walk *w, const void *fdt)
{
    bool complete = true;
    int next = 0;
    for (int at = 0;; at = next) {
        uint32_t tag = fdt_next_tag(fdt, at, &next);
        if (tag == FDT_PROP && w->depth) {
            note_property(&w->path[w->depth], at);
            continue;
        }
        if (!complete && read_node(w) < 0)
            return -EINVAL;
        complete = tag != FDT_BEGIN_NODE;
        if (tag == FDT_BEGIN_NODE && w->depth < MAX_DEPTH) {
            enter_node(w, fdt, at);
        } else if (tag == FDT_END_NODE && w->depth > 0) {
            w->depth--;
        } else if (tag == FDT_END && next >= 0) {
            return 0;
        } else if (tag != FDT_NOP) {
            log_error("damaged device tree at byte %d, or nodes deeper than %d", at, MAX_DEPTH);
            return -EINVAL;
        }
    }
}

int machine_from_fdt(struct machine *m, const void *fdt, unsigned long boot_hart)
{
    *m = (struct machine){.boot_hart = boot_hart};
    int error = fdt ? fdt_check_header(fdt) : -FDT_ERR_BADMAGIC;
    if (error) {
        log_error("no device tree at %p: %s", fdt, fdt_strerror(error));
        return -EINVAL;
    }
    struct dt_devices devices;
    devices.count = devices.boot_intc = 0;
    struct walk w = {.m = m, .devices = &devices};
    if (read_memory_reservations(m, fdt) < 0 || walk(&w, fdt) < 0)
        return -EINVAL;
    for (unsigned i = 0; i < devices.count; i++)
        reader_of(&devices.nodes[i])->read(m, &devices.nodes[i], &devices);
    if (m->nram == 0)
        log_error("no memory node with a usable reg");
    if (m->timebase_hz == 0)
        log_error("/cpus: no timebase-frequency");
    return m->nram && m->timebase_hz ? 0 : -EINVAL;
}
