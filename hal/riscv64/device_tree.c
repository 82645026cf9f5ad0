// SPDX-License-Identifier: MIT
// The walk over a flattened device tree, and its properties. Without a library: boot time is the amount of
// distinct code that runs (docs/hal.md), and a loop with one check a token is the least of it. tests/unit/fdt
// makes its trees with libfdt, and damages them.
#define LOG_MODULE "fdt"
#include "device_tree.h"

#include <errno.h>
#include <string.h>

#include "core/log.h"
#include "core/math.h"

#define MAX_DEPTH 16

#define FDT_MAGIC   0xd00dfeed
#define FDT_VERSION 17 // the first that tells the size of the structure block, and the last there is

enum { BEGIN_NODE = 1, END_NODE = 2, PROP = 3, NOP = 4, END = 9 };

// The header's fields, each of four bytes, big-endian as all of the tree (5.2).
enum {
    MAGIC,
    TOTAL_SIZE,
    STRUCTURE,
    STRINGS,
    RESERVATIONS,
    VERSION,
    LAST_COMPATIBLE,
    BOOT_CPU,
    STRINGS_SIZE,
    STRUCTURE_SIZE,
    HEADER_FIELDS
};

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

static uint32_t be32(uint32_t value)
{
    return __builtin_bswap32(value);
}

// Conditions are joined by & where their order does not matter: one block of code instead of one for each.
int dt_open(struct dt_tree *tree, const void *fdt)
{
    uint64_t h[HEADER_FIELDS];
    if (!fdt || !is_aligned((uintptr_t)fdt, 8))
        return -EINVAL;
    for (unsigned i = 0; i < HEADER_FIELDS; i++)
        h[i] = be32(((const uint32_t *)fdt)[i]);
    if (!((h[MAGIC] == FDT_MAGIC) & (h[VERSION] >= FDT_VERSION) & (h[LAST_COMPATIBLE] <= FDT_VERSION) &
          (((h[STRUCTURE] | h[STRUCTURE_SIZE]) & 3) == 0) & (h[STRUCTURE_SIZE] >= 4) &
          (h[STRINGS_SIZE] >= 1) & ((h[RESERVATIONS] & 7) == 0) &
          (h[STRUCTURE] + h[STRUCTURE_SIZE] <= h[TOTAL_SIZE]) &
          (h[STRINGS] + h[STRINGS_SIZE] <= h[TOTAL_SIZE]) & (h[RESERVATIONS] <= h[TOTAL_SIZE])))
        return -EINVAL;
    const char *base = fdt;
    *tree = (struct dt_tree){.base = fdt,
                             .size = h[TOTAL_SIZE],
                             .tokens = (const uint32_t *)(base + h[STRUCTURE]),
                             .last = h[STRUCTURE_SIZE] / 4 - 1,
                             .strings = base + h[STRINGS],
                             .strings_size = (uint32_t)h[STRINGS_SIZE],
                             .reservations = (const uint32_t *)(base + h[RESERVATIONS]),
                             .reservations_cells = (unsigned)((h[TOTAL_SIZE] - h[RESERVATIONS]) / 16 * 4)};
    return be32(tree->tokens[tree->last]) == END && tree->strings[tree->strings_size - 1] == '\0' ? 0
                                                                                                  : -EINVAL;
}

struct dt_cells dt_property(const struct dt_node *node, enum dt_name name)
{
    uint32_t token = node->property[name];
    if (!token)
        return (struct dt_cells){0};
    const uint32_t *at = node->tree->tokens + token;
    uint32_t bytes = be32(at[1]);
    return (struct dt_cells){at + 3, bytes, bytes / 4};
}

uint32_t dt_cell(struct dt_cells cells, unsigned i)
{
    return i < cells.count ? be32(cells.data[i]) : 0;
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

const char *dt_string(const struct dt_node *node, enum dt_name name)
{
    struct dt_cells cells = dt_property(node, name);
    const char *text = (const char *)cells.data;
    return cells.bytes && text[cells.bytes - 1] == '\0' ? text : NULL;
}

bool dt_has_string(const struct dt_node *node, enum dt_name name, const char *value)
{
    struct dt_cells cells = dt_property(node, name);
    const char *text = (const char *)cells.data, *end = text + cells.bytes;
    while (text < end) {
        if (strcmp(text, value) == 0)
            return true;
        while (*text++)
            ;
    }
    return false;
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

const char *dt_node_name(const struct dt_node *node)
{
    return (const char *)(node->tree->tokens + node->token + 1);
}

static void note_property(struct dt_node *node, uint32_t token)
{
    const char *name = node->tree->strings + be32(node->tree->tokens[token + 2]);
    for (unsigned i = 0; i < DT_NAMES; i++) {
        if (*name == *names[i] && strcmp(name, names[i]) == 0) {
            node->property[i] = token;
            return;
        }
    }
}

// A cell count that a bus node sets for its children; 2 and 1 where it says nothing (2.3.5).
static int cell_count(const struct dt_node *node, enum dt_name name, uint32_t missing)
{
    uint32_t n = dt_u32(node, name, missing);
    return (int)(n <= 3 ? n : missing);
}

static void enter_node(const struct dt_tree *tree, struct dt_node *node, uint32_t token)
{
    const struct dt_node *parent = node - 1;
    *node = (struct dt_node){.tree = tree,
                             .parent = parent,
                             .depth = parent->depth + 1,
                             .token = token,
                             .address_cells = cell_count(parent, DT_ADDRESS_CELLS, 2),
                             .size_cells = cell_count(parent, DT_SIZE_CELLS, 1)};
}

// The index after the token at `at`, or one beyond the last if that one is damaged.
static uint64_t after(const struct dt_tree *tree, uint64_t at, uint32_t tag)
{
    const uint32_t *token = tree->tokens + at;
    if (tag == PROP)
        return at + 2 < tree->last && be32(token[2]) < tree->strings_size
                   ? at + 3 + ((uint64_t)be32(token[1]) + 3) / 4
                   : UINT64_MAX;
    const char *name = (const char *)(token + 1), *end = name;
    while (tag == BEGIN_NODE && *end++)
        ;
    return at + 1 + ((uint64_t)(end - name) + 3) / 4;
}

// A node's properties come before its children (5.4.2): it is complete at the next begin or end of a node.
int dt_walk(const struct dt_tree *tree, int (*visit)(void *arg, const struct dt_node *node), void *arg)
{
    static struct dt_node path[MAX_DEPTH + 1];
    struct dt_node *node = path, *complete = NULL;
    uint64_t at = 0;
    path[0] = (struct dt_node){.tree = tree};
    while (at < tree->last) {
        uint32_t token = (uint32_t)at, tag = be32(tree->tokens[at]);
        at = after(tree, at, tag);
        if (at > tree->last || tag == NOP)
            continue;
        if (tag == PROP && node > path) {
            note_property(node, token);
            continue;
        }
        int error = complete ? visit(arg, complete) : 0;
        if (error)
            return error;
        complete = NULL;
        if (tag == BEGIN_NODE && node < path + MAX_DEPTH)
            enter_node(tree, complete = ++node, token);
        else if (tag == END_NODE && node > path)
            node--;
        else
            at = UINT64_MAX;
    }
    if (at == tree->last && node == path)
        return 0;
    log_error("the device tree is damaged, or its nodes are nested deeper than %d", MAX_DEPTH);
    return -EINVAL;
}
