// SPDX-License-Identifier: MIT
// Reading a flattened device tree (Devicetree Specification v0.4, chapter 5): what device_tree.c walks, and
// fdt.c and its readers (fdt_irq.c, fdt_pci.c) understand. There is one tree, the last that was opened.
#ifndef HAL_RISCV64_DEVICE_TREE_H
#define HAL_RISCV64_DEVICE_TREE_H

#include "hal/machine.h"

// The kinds of nodes that we read, by what device_tree.c looks for in a node's name, "compatible" and
// "device_type".
enum dt_kind {
    DT_OTHER,
    DT_MEMORY,
    DT_RESERVED_MEMORY,
    DT_CHOSEN,
    DT_CPUS,
    DT_CPU,
    DT_CPU_INTC,
    DT_UART,
    DT_TEST_DEVICE,
    DT_FW_CFG,
    DT_PLIC,
    DT_APLIC,
    DT_IMSIC,
    DT_PCI,
    DT_NAMED,
    DT_RESERVED = DT_NAMED, // whatever stands in reserved-memory
    DT_KINDS
};

struct dt_node {
    enum dt_kind kind;
    const uint32_t *begin;  // its first token, which is what it is known by
    const uint32_t *parent; // likewise
};

// A property's value, seen as an array of 32-bit big-endian cells where it is one. data is NULL when absent.
struct dt_cells {
    const uint32_t *data;
    uint64_t bytes;
};

// The opened tree. Its header was found sound: the structure block ends with the token END, the strings with
// a NUL, so that whoever starts to read a string inside of either also stops there.
struct dt_tree {
    const uint32_t *root, *last; // the first token, and END
    const char *strings;
    uint64_t strings_size;
    struct dt_cells reservations; // the memory reservation block and all behind it
    bool damaged;                 // until a walk has come to its end
};
extern struct dt_tree dt_tree;

// Opens `fdt` by its header. Returns its size in bytes, or 0: no device tree, a version before 17, or
// damaged.
size_t dt_open(const void *fdt);

#define DT_MAX_DEPTH 16 // of nodes in one another

// The next node that is in use and of a kind we know, children before their parent; good until the next call.
// NULL at the end, after which it starts anew; the tree is damaged then, or was read to its end.
const struct dt_node *dt_next(void);

// The value of a property of the node that begins there: one that dt_next() has found, or its parent. None of
// NULL.
struct dt_cells dt_property(const uint32_t *node, const char *name);

// Cell `i` of `cells`, or 0 past its end.
uint32_t dt_cell(struct dt_cells cells, unsigned i);

// `n` cells as one number, most significant first, of which the low 64 bits count.
uint64_t dt_number(const uint32_t *cells, uint64_t n);

// First cell of a property, or `missing` when absent.
uint64_t dt_u32(const uint32_t *node, const char *name, uint32_t missing);

// The value of a property as a string, "" when absent or not one.
const char *dt_string(const uint32_t *node, const char *name);

// How many cells an address takes in "reg" of the node (2.3.5).
static inline uint64_t dt_address_cells(const struct dt_node *node)
{
    return dt_u32(node->parent, "#address-cells", 2);
}

// Entry `index` of "reg". Its size is 0 where there is none, or it is empty or wraps.
struct machine_range dt_reg(const struct dt_node *node, unsigned index);

// The devices whose nodes refer to others, collected first: those may stand anywhere in the tree.
#define DT_MAX_DEVICES 32
struct dt_devices {
    struct dt_node intc; // the last hart's own interrupt controller
    uint32_t boot_intc;  // phandle of the boot hart's, 0 if unknown
    unsigned count;
    struct dt_node nodes[DT_MAX_DEVICES];
};

// The first token of the device with that phandle, or NULL.
const uint32_t *dt_by_phandle(const struct dt_devices *devices, uint32_t phandle);

// Position of (boot hart's interrupt controller, `irq`) in "interrupts-extended" of `node`, or -1.
int dt_boot_hart_index(const struct dt_devices *devices, const struct dt_node *node, uint32_t irq);

// Readers of them: each fills its part of `*m` from one node, or logs why not and leaves it not present.
void dt_read_plic(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);
void dt_read_aplic(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);
void dt_read_imsic(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);
void dt_read_pci(struct machine *m, const struct dt_node *node, const struct dt_devices *devices);

#endif
