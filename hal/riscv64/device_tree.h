// SPDX-License-Identifier: MIT
// Reading a flattened device tree (Devicetree Specification v0.4, chapter 5): what device_tree.c walks, and
// fdt.c and its readers (fdt_irq.c, fdt_pci.c) understand.
#ifndef HAL_RISCV64_DEVICE_TREE_H
#define HAL_RISCV64_DEVICE_TREE_H

#include "hal/machine.h"

// The properties we read. device_tree.c has their names.
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

// A tree whose header is sound: the structure block ends with the token END, the strings with a NUL, so that
// whoever starts to read a string inside of either also stops there.
struct dt_tree {
    const void *base;
    size_t size; // bytes
    const uint32_t *tokens;
    uint64_t last; // index of END
    const char *strings;
    uint32_t strings_size;
    const uint32_t *reservations; // entries of four cells: address, size
    unsigned reservations_cells;  // that fit, if none of them ends the list
};

// Checks the header of `fdt`. Returns 0, or -EINVAL: no device tree, a version before 17, or damaged.
int dt_open(struct dt_tree *tree, const void *fdt);

// A property's value, seen as an array of 32-bit big-endian cells where it is one. data is NULL when absent.
struct dt_cells {
    const uint32_t *data;
    unsigned bytes;
    unsigned count; // whole cells
};

// A node. Where its properties are is found in the one pass over the tree.
struct dt_node {
    const struct dt_tree *tree;
    const struct dt_node *parent;  // only while the node is visited; of the root: a node of depth 0
    unsigned depth;                // of the root: 1
    uint32_t token;                // where it begins, which is the node's identity
    uint32_t property[DT_NAMES];   // index of the token, 0 = the node does not have it
    int address_cells, size_cells; // how "reg" is read: the parent says
};

// Calls visit(arg, node) for each node, with its properties, before its children. Returns 0, -EINVAL for a
// damaged tree or one that is deeper than we read (logged), or what visit() returned, if that was not 0.
int dt_walk(const struct dt_tree *tree, int (*visit)(void *arg, const struct dt_node *node), void *arg);

// The node's name with its unit address.
const char *dt_node_name(const struct dt_node *node);

// The value of a property of `node`.
struct dt_cells dt_property(const struct dt_node *node, enum dt_name name);

// Cell `i` of `cells`, or 0 past its end.
uint32_t dt_cell(struct dt_cells cells, unsigned i);

// `n` cells (0 … 2) from `i` on as one number, most significant first.
uint64_t dt_number(struct dt_cells cells, unsigned i, int n);

// First cell of property `name`, or `missing` when absent.
uint32_t dt_u32(const struct dt_node *node, enum dt_name name, uint32_t missing);

// The value of property `name` as a string, NULL when absent or not one.
const char *dt_string(const struct dt_node *node, enum dt_name name);

// Whether property `name`, a list of strings, has `value`.
bool dt_has_string(const struct dt_node *node, enum dt_name name, const char *value);

// Entry `index` of "reg". False when there is none, or it is empty or wraps.
bool dt_reg(const struct dt_node *node, unsigned index, struct machine_range *out);

// The devices we read, collected first: what they refer to may stand anywhere in the tree.
#define DT_MAX_DEVICES 32
struct dt_devices {
    struct dt_tree tree;
    uint32_t boot_intc; // phandle of the boot hart's own interrupt controller, 0 if unknown
    unsigned count;
    struct dt_node nodes[DT_MAX_DEVICES];
};

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
