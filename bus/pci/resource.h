// SPDX-License-Identifier: MIT
/*
 * Address allocation for BARs and bridge windows. Pure: it knows numbers, no hardware, so the unit tests see
 * all of it. Addresses are those of the PCI bus.
 */
#ifndef BUS_PCI_RESOURCE_H
#define BUS_PCI_RESOURCE_H

#include "bus/pci.h"
#include "hal/machine.h"

#define PCI_4GIB UINT64_C(0x100000000)

/* Addresses to give away. It takes ports or memory, and only BARs that have all of its flags. */
struct pci_space {
    uint64_t base;
    uint64_t size;   /* base + size does not wrap */
    unsigned flags;  /* PCI_BAR_IO, PCI_BAR_64 (it lies above 4 GiB), PCI_BAR_PREFETCH */
    uint64_t to_cpu; /* the CPU's address is the bus's plus this */
};

/* At most this many come from one host bridge: a memory window may lie on both sides of 4 GiB. */
#define PCI_HOST_SPACES (2 * MACHINE_MAX_WINDOWS)

/*
 * What a host bridge can give, the pickiest space first. PCI address 0 is never given to anybody (a BAR that
 * holds 0 counts as unset), so a window at 0 loses its first page; ports at 64 KiB or above are left out, as
 * most devices and bridges cannot reach them. Returns how many.
 */
size_t pci_host_spaces(const struct pci_host *host, struct pci_space spaces[PCI_HOST_SPACES]);

/*
 * Puts `bar` (size, align and flags set) into the list in the order in which addresses are given: what has
 * the least choice of spaces first, then by alignment and size, the largest first.
 */
void pci_queue(struct pci_bar **list, struct pci_bar *bar);

/*
 * Gives every BAR of the list, in its order, the lowest place in the first of the spaces that has one, and
 * sets its address and space. Without a place `space` is NULL, and `left` the largest range that is free
 * where it could have been.
 */
void pci_place(struct pci_bar *list, const struct pci_space *spaces, size_t count);

#endif
