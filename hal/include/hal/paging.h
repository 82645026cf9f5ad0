// SPDX-License-Identifier: MIT
// Virtual memory: RISC-V Sv39 (Privileged ISA, "Sv39: Page-Based 39-bit Virtual-Memory System").
//
// Kernel RAM is mapped at its physical address; text is R-X, read-only data R--, all else RW-; no page is
// ever both writable and executable, and page zero and the pages below each stack are not mapped. Device
// memory has a range of its own and is mapped by mmio_map().
#ifndef HAL_PAGING_H
#define HAL_PAGING_H

#include "hal/types.h"

#define PAGING_READ  (1u << 0)
#define PAGING_WRITE (1u << 1)
#define PAGING_EXEC  (1u << 2)

// One leaf of the page table, as found by paging_query().
struct paging_leaf {
    uintptr_t virt;   // first virtual address the leaf covers
    phys_addr_t phys; // and its physical address
    size_t size;      // 4 KiB, 2 MiB or 1 GiB
    unsigned attr;    // PAGING_* bits
};

// Maps [virt, virt + size) to `phys` with PAGING_* bits `attr`, with the largest pages that fit. All three
// are multiples of PAGE_SIZE. Returns 0, -EINVAL (alignment, wrap, non-canonical address, page zero, no READ,
// or both WRITE and EXEC), -EEXIST (part of it is mapped already), -ENOMEM. On error nothing new stays
// mapped.
int paging_map(uintptr_t virt, phys_addr_t phys, size_t size, unsigned attr);

// Unmaps [virt, virt + size), splitting a larger page where the range ends inside it. Page tables that become
// empty are freed. Returns 0, -EINVAL, -ENOENT (part of it is not mapped; nothing is changed), -ENOMEM
// (split).
int paging_unmap(uintptr_t virt, size_t size);

// Finds the leaf that maps `virt`. Returns 0 or -ENOENT; `out` may be NULL.
int paging_query(uintptr_t virt, struct paging_leaf *out);

// Walks the whole table and checks it: W^X everywhere, reserved bits zero, superpages aligned, page zero and
// guard pages absent, text/rodata/data with the attributes they must have. Logs one line a run of equal
// attributes at debug level: the memory map as the hardware sees it. Returns 0 or -EFAULT after logging the
// first offending entry. Run at boot with CONFIG_PAGING_CHECK; may be called at any time.
int paging_check(void);

#endif
