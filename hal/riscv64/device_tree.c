// SPDX-License-Identifier: MIT
// The walk over a flattened device tree, and its properties. Without a library: boot time is the amount of
// distinct code that runs (docs/hal.md), and one loop over the tokens is the least of it. tests/unit/fdt
// makes its trees with libfdt, and damages them.
#include "device_tree.h"

#include <errno.h>
#include <string.h>

#include "core/math.h"

#define FDT_MAGIC   0xd00dfeed
#define FDT_VERSION 17 // the first that tells the size of the structure block, and the last there is

// Tokens, as they are in memory: big-endian, as all of the tree.
enum { BEGIN_NODE = 1 << 24, END_NODE = 2 << 24, PROP = 3 << 24, NOP = 4 << 24, END = 9 << 24 };

// The header's fields, each of four bytes (5.2).
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

struct dt_tree dt_tree;

static struct {
    const uint32_t *at;                    // the next token
    struct dt_node *node;                  // which it is in
    struct dt_node path[DT_MAX_DEPTH + 1]; // the way there; the root is path[1]
} walk;

static const char *const names[DT_NAMED] = {
    [DT_MEMORY] = "memory",
    [DT_RESERVED_MEMORY] = "reserved-memory",
    [DT_CHOSEN] = "chosen",
    [DT_CPUS] = "cpus",
    [DT_CPU] = "cpu",
    [DT_CPU_INTC] = "riscv,cpu-intc",
    [DT_UART] = "ns16550a",
    [DT_TEST_DEVICE] = "sifive,test1",
    [DT_FW_CFG] = "qemu,fw-cfg-mmio",
    [DT_PLIC] = "sifive,plic-1.0.0",
    [DT_APLIC] = "riscv,aplic",
    [DT_IMSIC] = "riscv,imsics",
    [DT_PCI] = "pci-host-ecam-generic",
};

static uint64_t be32(const uint32_t *at)
{
    const uint8_t *byte = (const uint8_t *)at;
    return (uint64_t)byte[0] << 24 | byte[1] << 16 | byte[2] << 8 | byte[3];
}

static void start_walk(void)
{
    walk.at = dt_tree.root;
    walk.node = walk.path;
}

// Conditions are joined by | where their order does not matter: one block of code instead of one for each.
size_t dt_open(const void *fdt)
{
    static uint64_t h[HEADER_FIELDS];
    const char *base = fdt;
    dt_tree.damaged = true;
    if (!fdt || !is_aligned((uintptr_t)fdt, 8))
        return 0;
    for (unsigned i = 0; i < HEADER_FIELDS; i++)
        h[i] = be32((const uint32_t *)fdt + i);
    uint64_t structure_end = h[STRUCTURE] + h[STRUCTURE_SIZE], strings_end = h[STRINGS] + h[STRINGS_SIZE];
    if ((h[MAGIC] != FDT_MAGIC) | (h[VERSION] < FDT_VERSION) | (h[LAST_COMPATIBLE] > FDT_VERSION) |
        ((h[STRUCTURE] | h[STRUCTURE_SIZE] | h[RESERVATIONS]) & 3) | (h[STRUCTURE_SIZE] < 4) |
        (h[STRINGS_SIZE] < 1) | (structure_end > h[TOTAL_SIZE]) | (strings_end > h[TOTAL_SIZE]) |
        (h[RESERVATIONS] > h[TOTAL_SIZE]))
        return 0;
    const uint32_t *last = (const uint32_t *)(base + structure_end) - 1;
    if ((*last != END) | (base[strings_end - 1] != '\0'))
        return 0;
    dt_tree.root = (const uint32_t *)(base + h[STRUCTURE]);
    dt_tree.last = last;
    dt_tree.strings = base + h[STRINGS];
    dt_tree.strings_size = h[STRINGS_SIZE];
    dt_tree.reservations.data = (const uint32_t *)(base + h[RESERVATIONS]);
    dt_tree.reservations.bytes = h[TOTAL_SIZE] - h[RESERVATIONS];
    start_walk();
    return h[TOTAL_SIZE];
}

// Where the next token is: behind the last one if this one is damaged.
static const uint32_t *after(const uint32_t *token)
{
    const char *data = (const char *)(token + 1);
    uint64_t bytes = 0;
    if (*token == BEGIN_NODE) {
        bytes = strlen(data) + 1;
    } else if (*token == PROP) {
        bytes = be32(token + 1);
        data += 8;
    }
    return (const uint32_t *)align_up((uintptr_t)data + bytes, 4);
}

static const char *property_name(const uint32_t *token)
{
    return dt_tree.strings + be32(token + 2);
}

// The walk has been here: nothing is to be checked again.
struct dt_cells dt_property(const uint32_t *node, const char *name)
{
    const uint32_t *token = node ? after(node) : dt_tree.last;
    for (; *token == PROP || *token == NOP; token = after(token))
        if (*token == PROP && strcmp(property_name(token), name) == 0)
            return (struct dt_cells){token + 3, be32(token + 1)};
    return (struct dt_cells){0};
}

uint32_t dt_cell(struct dt_cells cells, unsigned i)
{
    return i < cells.bytes / 4 ? (uint32_t)be32(cells.data + i) : 0;
}

uint64_t dt_number(const uint32_t *cells, uint64_t n)
{
    uint64_t value = 0;
    for (; n > 0; n--)
        value = value << 32 | be32(cells++);
    return value;
}

uint64_t dt_u32(const uint32_t *node, const char *name, uint32_t missing)
{
    struct dt_cells cells = dt_property(node, name);
    return cells.bytes < 4 ? missing : be32(cells.data);
}

const char *dt_string(const uint32_t *node, const char *name)
{
    struct dt_cells cells = dt_property(node, name);
    const char *text = (const char *)cells.data;
    return cells.bytes && text[cells.bytes - 1] == '\0' ? text : "";
}

struct machine_range dt_reg(const struct dt_node *node, unsigned index)
{
    struct dt_cells reg = dt_property(node->begin, "reg");
    uint64_t address_cells = dt_address_cells(node), size_cells = dt_u32(node->parent, "#size-cells", 1);
    uint64_t stride = address_cells + size_cells;
    const uint32_t *entry = reg.data + index * stride;
    if ((index + 1) * stride * 4 > reg.bytes)
        return (struct machine_range){0};
    uint64_t base = dt_number(entry, address_cells), size = dt_number(entry + address_cells, size_cells);
    return (struct machine_range){phys_addr(base), base + size - 1 < base ? 0 : size};
}

// The kind that one of the strings in [text, end) names. They end inside of the structure block at the
// latest.
static enum dt_kind kind_of(const void *strings_start, const void *end, enum dt_kind otherwise)
{
    for (const char *text = strings_start; text < (const char *)end; text += strlen(text) + 1)
        for (unsigned kind = DT_OTHER + 1; kind < DT_NAMED; kind++)
            if (*text == *names[kind] && strcmp(text, names[kind]) == 0)
                return kind;
    return otherwise;
}

// A node without "status" is in use; "okay" is the only value with an o in front (2.3.4).
static bool in_use(const uint32_t *node)
{
    struct dt_cells status = dt_property(node, "status");
    return !status.data || *(const char *)status.data == 'o';
}

// Children before their parent: at its end a node's properties are all known.
const struct dt_node *dt_next(void)
{
    struct dt_node *node = walk.node;
    const uint32_t *token = walk.at;
    for (const uint32_t *next; token < dt_tree.last; token = next) {
        next = after(token);
        if (next > dt_tree.last)
            break;
        if (*token == BEGIN_NODE && node < walk.path + DT_MAX_DEPTH) {
            node++;
            node->begin = token;
            node->parent = node[-1].begin;
            node->kind =
                kind_of(token + 1, next, node[-1].kind == DT_RESERVED_MEMORY ? DT_RESERVED : DT_OTHER);
        } else if (*token == PROP && be32(token + 2) < dt_tree.strings_size) {
            const char *name = property_name(token);
            if (strcmp(name, "compatible") == 0 || strcmp(name, "device_type") == 0)
                node->kind = kind_of(token + 3, next, node->kind);
        } else if (*token == END_NODE && node > walk.path) {
            walk.at = next;
            walk.node = node - 1;
            if (node->kind != DT_OTHER && in_use(node->begin))
                return node;
            node--;
        } else if (*token != NOP) {
            break;
        }
    }
    dt_tree.damaged = token != dt_tree.last || node != walk.path;
    start_walk();
    return NULL;
}
