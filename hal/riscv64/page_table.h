// SPDX-License-Identifier: MIT
// Page-table entries of Sv39 (Privileged ISA, "Sv39: Page-Based 39-bit Virtual-Memory System").
#ifndef HAL_RISCV64_PAGE_TABLE_H
#define HAL_RISCV64_PAGE_TABLE_H

#include "hal/mem.h"
#include "hal/paging.h"

#define PTE_V (1ul << 0)
#define PTE_R (1ul << 1)
#define PTE_W (1ul << 2)
#define PTE_X (1ul << 3)
#define PTE_U (1ul << 4)
#define PTE_G (1ul << 5)
#define PTE_A (1ul << 6)
#define PTE_D (1ul << 7)

#define PTE_LEAF      (PTE_R | PTE_W | PTE_X)
#define PTE_PPN_SHIFT 10
#define PTE_PPN_MASK  ((1ul << 44) - 1)
#define PTE_RESERVED  (~((PTE_PPN_MASK << PTE_PPN_SHIFT) | 0x3ff))

#define SV39_ENTRIES    512
#define SV39_LEVEL_BITS 9
#define SV39_TOP_LEVEL  2

// Bytes that one entry of a table at `level` covers: 4 KiB, 2 MiB, 1 GiB.
#define SV39_SPAN(level) (PAGE_SIZE << (SV39_LEVEL_BITS * (level)))

// The two halves of the address space: bits 63 … 39 equal bit 38.
#define SV39_LOW_END    (1ul << 38)
#define SV39_HIGH_START (~0ul << 38)

// Device memory, from where mmio_map() takes pieces.
#define MMIO_START SV39_HIGH_START
#define MMIO_END   (SV39_HIGH_START + (1ul << 37))

// The entry that decides about `virt`, a leaf or a hole (then leaf.attr is 0), and in `*raw` as it is in
// memory. Returns the bytes from virt to the end of what it covers.
size_t paging_probe(uintptr_t virt, struct paging_leaf *leaf, uint64_t *raw);

#endif
