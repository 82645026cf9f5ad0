// SPDX-License-Identifier: MIT
/* What the files of bus/pci share. */
#ifndef BUS_PCI_INTERNAL_H
#define BUS_PCI_INTERNAL_H

#include "bus/pci.h"
#include "hal/machine.h"
#include "regs.h"
#include "resource.h"

/* The windows of a bridge in its `bars`: what lies in them goes through to the bus behind it. */
enum bridge_window { BRIDGE_PREFETCH = PCI_BARS, BRIDGE_MEM, BRIDGE_IO, BRIDGE_WINDOWS_END };

/* One bus. */
struct pci_bus {
    struct pci_root *root;
    struct pci_device *bridge; /* the bridge it is behind; NULL on the root bus */
    uint8_t number;
    struct pci_bar *bars; /* assign.c: everything on it that needs addresses */
};

/* A host bridge and everything behind it. */
struct pci_root {
    const struct pci_host *host; /* windows, interrupt wires, bus numbers */
    struct mmio config;          /* configuration space, of all buses */
    struct pci_bus bus;          /* the root bus */
    unsigned next_bus;           /* number for the next bridge's bus */
    unsigned last_bus;
    struct list_node devices; /* every struct pci_device, by its `node`, a bridge before what is behind it */
};

/* ecam.c: sets and clears bits of a register. */
void pci_update16(struct pci_device *pdev, unsigned offset, uint16_t set, uint16_t clear);

/*
 * enumerate.c: finds every device from the host bridge on, numbers the buses and sizes the BARs. What cannot
 * be reached is logged and left out. Returns 0, or an errno when that is the root bus itself.
 */
int pci_enumerate(struct pci_root *root);

/* Frees all devices and buses. No device has a driver any more. */
void pci_root_destroy(struct pci_root *root);

/* bar.c: sizes the first `count` BARs of a device that does not decode, and turns its ROM off. */
void pci_size_bars(struct pci_device *pdev, unsigned count);

/* bar.c: writes the address of BAR `index` to its register and reads it back. On failure (logged) the BAR is
 * left without PCI_BAR_ASSIGNED. */
void pci_bar_set(struct pci_device *pdev, unsigned index);

/* assign.c: addresses for every BAR and bridge window from the host's windows. What gets none is logged and
 * left without PCI_BAR_ASSIGNED. */
void pci_assign(struct pci_root *root);

/* bridge.c: closes the bridge's windows and sets their flags and their smallest alignment, which is also the
 * unit of their size; alignment 0: there is no such window. */
void pci_bridge_probe(struct pci_device *bridge);

/* Writes the address and size of a window to the bridge: it opens. */
void pci_bridge_open(struct pci_device *bridge, enum bridge_window window);

/* intx.c: the wire of the device's pin at the interrupt controller, 0 if it has none. */
unsigned pci_intx_route(const struct pci_device *pdev);

/* One interrupt of a device. */
struct pci_vector {
    struct msi_vector msi; /* all zero for INTx */
    unsigned users;        /* attached handlers */
};

/* The interrupts of a device while somebody listens. */
struct pci_irqs {
    enum pci_irq_mode mode;
    unsigned users;    /* attached handlers of all vectors */
    struct mmio table; /* MSI-X */
    unsigned count;
    struct pci_vector vectors[];
};

/* intx.c, msi.c, msix.c: one way to interrupt each, for irq.c. */
struct pci_irq_ops {
    const char *name;
    unsigned (*vectors)(const struct pci_device *pdev); /* 0: the device cannot */

    /* Before the first vector is used, with all of them silent, and after the last. NULL: nothing to do. */
    int (*start)(struct pci_device *pdev);
    void (*stop)(struct pci_device *pdev);

    /* Tells the device the vector's message, while the vector is silent. NULL: it sends none. */
    int (*write)(struct pci_device *pdev, unsigned vector);

    void (*enable)(struct pci_device *pdev, unsigned vector, bool on);
};

extern const struct pci_irq_ops pci_intx_ops;
extern const struct pci_irq_ops pci_msi_ops;
extern const struct pci_irq_ops pci_msix_ops;

#endif
