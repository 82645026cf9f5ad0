// SPDX-License-Identifier: MIT
// Reading a flattened device tree: what fdt.c walks and its readers (fdt_irq.c, fdt_pci.c) share.
#ifndef HAL_RISCV64_DEVICE_TREE_H
#define HAL_RISCV64_DEVICE_TREE_H

#include "hal/machine.h"

// The properties we read. fdt.c has their names.
enum dt_name {
    DT_COMPATIBLE,
    DT_STATUS,
    DT_REG,
    DT_PHANDLE,
    DT_DEVICE_TYPE,
    DT_ADDRESS_CELLS,
    DT_SIZE_CELLS,
    DT_MODEL,
    DT_BOOTARGS,
    DT_TIMEBASE_FREQUENCY,
    DT_REG_SHIFT,
    DT_INTERRUPTS,
    DT_INTERRUPTS_EXTENDED,
    DT_INTERRUPT_CELLS,
    DT_NDEV,
    DT_NUM_SOURCES,
    DT_NUM_IDS,
    DT_GUEST_INDEX_BITS,
    DT_MSI_PARENT,
    DT_RANGES,
    DT_BUS_RANGE,
    DT_INTERRUPT_MAP,
    DT_INTERRUPT_MAP_MASK,
    DT_NAMES,
};

// A property's value, seen as an array of 32-bit big-endian cells where it is one. data is NULL when absent.
struct dt_cells {
    const void *data;
    unsigned bytes;
    unsigned count; // whole cells
};

// A node. Where its properties are is found in the one pass over the tree: looking one up by name walks the
// node again, and boot time counts.
struct dt_node {
    const void *fdt;
    int offset;
    int property[DT_NAMES];        // offsets in the tree, 0 = the node does not have it
    int address_cells, size_cells; // how "reg" is read: the parent says
};

// The devices we read, collected first: what they refer to may stand anywhere in the tree.
#define DT_MAX_DEVICES 32
struct dt_devices {
    uint32_t boot_intc; // phandle of the boot hart's own interrupt controller, 0 if unknown
    unsigned count;
    struct dt_node nodes[DT_MAX_DEVICES];
};

// The value of a property of `node`.
struct dt_cells dt_property(const struct dt_node *node, enum dt_name name);

// Cell `i` of `cells`, or 0 past its end.
uint32_t dt_cell(struct dt_cells cells, unsigned i);

// `n` cells (0 … 2) from `i` on as one number, most significant first.
uint64_t dt_number(struct dt_cells cells, unsigned i, int n);

// First cell of property `name`, or `missing` when absent.
uint32_t dt_u32(const struct dt_node *node, enum dt_name name, uint32_t missing);

// Entry `index` of "reg". False when there is none, or it is empty or wraps.
bool dt_reg(const struct dt_node *node, unsigned index, struct machine_range *out);

// The device with that phandle, or NULL.
const struct dt_node *dt_by_phandle(const struct dt_devices *devices, uint32_t phandle);

// Position of (boot hart's interrupt controller, `irq`) in "interrupts-extended", or -1.
int dt_boot_hart_index(const struct dt_devices *devices, const struct dt_node *node, uint32_t irq);

// The readers: each fills its part of `*m` from one node, or logs why not and leaves it not present.
void dt_read_plic(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);
void dt_read_aplic(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);
void dt_read_imsic(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);
void dt_read_pci(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);

#endif
