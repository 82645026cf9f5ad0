// SPDX-License-Identifier: MIT
// Device trees as QEMU's virt machine makes them (hw/riscv/virt.c of 10.0, `-M virt,dumpdtb=FILE`), built
// here node by node, so that each test can change one thing.
#ifndef TESTS_UNIT_FDT_VIRT_TREE_H
#define TESTS_UNIT_FDT_VIRT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIRT_TREE_BYTES 16384

struct virt_tree {
    unsigned nharts;
    bool aia;
    const char *bootargs;
    bool no_memory, no_timebase, no_uart, no_pci;
    bool pci_disabled;
    bool controllers_first;   // the interrupt controllers before the harts
    uint32_t map_parent;      // phandle in interrupt-map, 0 = the right one
    unsigned reserved_ranges; // children of /reserved-memory
};

// Builds it into `buffer` of VIRT_TREE_BYTES; the result is packed to its own size.
void virt_tree_build(void *buffer, const struct virt_tree *tree);

#endif
