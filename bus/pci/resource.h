// SPDX-License-Identifier: MIT
/*
 * Address allocation for BARs and bridge windows. Pure: it knows numbers, no hardware, so the unit tests see
 * all of it. Addresses are those of the PCI bus.
 */
#ifndef BUS_PCI_RESOURCE_H
#define BUS_PCI_RESOURCE_H

#include <stddef.h>
#include <stdint.h>

#define PCI_4GIB UINT64_C(0x100000000)

struct resource_range {
    uint64_t base;
    uint64_t size;
};

/* Free ranges in ascending order, none empty, no two of them touching. All-zero is an empty pool. */
struct resource_pool {
    struct resource_range *free;
    size_t count;
    size_t capacity;
};

/*
 * Makes [base, base + size) free. Returns 0, -EINVAL (size 0, or it ends above 2^64), -EEXIST (some of it is
 * free already) or -ENOMEM.
 */
int resource_pool_add(struct resource_pool *pool, uint64_t base, uint64_t size);

/*
 * Takes `size` bytes (not 0) at a multiple of `align` (a power of two), at the lowest address that fits.
 * Returns 0, -ENOSPC or -ENOMEM; the pool and `*base` change only on success.
 */
int resource_pool_take(struct resource_pool *pool, uint64_t size, uint64_t align, uint64_t *base);

/* Size of the largest free range, 0 for none. */
uint64_t resource_pool_largest(const struct resource_pool *pool);

void resource_pool_destroy(struct resource_pool *pool);

/* What a bus can give. Prefetchable windows take prefetchable memory only. */
enum pci_pool {
    PCI_POOL_IO,
    PCI_POOL_MEM32,
    PCI_POOL_MEM32_PREFETCH,
    PCI_POOL_MEM64, /* above 4 GiB */
    PCI_POOL_MEM64_PREFETCH,
    PCI_POOLS,
};

struct pci_resources {
    struct resource_pool pools[PCI_POOLS];
};

/*
 * Adds a memory window; what lies below 4 GiB and what lies above go to different pools. PCI address 0 is
 * never given to anybody (a BAR that holds 0 counts as unset), so a window at 0 loses its first page. Errors
 * as resource_pool_add().
 */
int pci_resources_add_memory(struct pci_resources *resources, uint64_t base, uint64_t size, int prefetchable);

/* The same for I/O ports; what lies at 64 KiB or above is left out, as most devices and bridges cannot reach
 * it. */
int pci_resources_add_io(struct pci_resources *resources, uint64_t base, uint64_t size);

void pci_resources_destroy(struct pci_resources *resources);

/* A BAR or a bridge window in search of an address. */
struct pci_request {
    uint64_t size;  /* bytes, not 0 */
    uint64_t align; /* a power of two */
    unsigned flags; /* PCI_BAR_IO, PCI_BAR_64, PCI_BAR_PREFETCH */

    /* Set by pci_resources_assign(). */
    int error;          /* 0, -ENOSPC or -ENOMEM */
    uint64_t base;      /* when there is no error */
    enum pci_pool pool; /* where it is, or the pool with most room that was asked in vain */
    uint64_t left;      /* -ENOSPC: largest free range of those that were asked */

    /* The caller's: whose BAR or window it is. */
    void *owner;
    unsigned index;
};

/*
 * Gives every request an address, those that fit in one kind of pool only first, then largest first (by
 * alignment, then size), and reorders the array so. A 64-bit request goes above 4 GiB if there is room, else
 * below; a prefetchable one to a prefetchable pool if there is room, else to an ordinary one. Returns the
 * number of requests that got none.
 */
size_t pci_resources_assign(struct pci_resources *resources, struct pci_request *requests, size_t count);

/*
 * Size and alignment of the smallest window, in units of `grain` (a power of two), in which
 * pci_resources_assign() finds room for all of `requests`, which all go to the same window. 0 requests: size
 * 0. Returns 0, -EOVERFLOW (more than 2^63 bytes) or -ENOMEM.
 */
int pci_window_size(const struct pci_request *requests, size_t count, uint64_t grain, uint64_t *size,
                    uint64_t *align);

#endif
