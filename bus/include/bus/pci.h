// SPDX-License-Identifier: MIT
/*
 * PCI Express devices behind an ECAM host bridge. Sources: PCI Local Bus Specification 3.0 (configuration
 * header, BARs, INTx, MSI, MSI-X), PCI-to-PCI Bridge Architecture Specification 1.2, PCI Express Base
 * Specification 3.0 (ECAM, section 7.2.2).
 *
 * At INIT_BUS every device is found, its BARs are sized and get addresses; decoding stays off until a driver
 * calls pci_enable(). At INIT_DRIVER the drivers probe. A driver's probe usually is
 *
 *     pci_enable(pdev, PCI_MEMORY | PCI_MASTER);
 *     pci_bar_map(pdev, 0, &edu->regs);
 *     pci_irq_attach(pdev, 0, edu_interrupt, edu);
 *
 * and its remove the same in reverse, with pci_disable() last.
 */
#ifndef BUS_PCI_H
#define BUS_PCI_H

#include "bus/device.h"
#include "bus/driver.h"
#include "hal/irq.h"
#include "hal/mmio.h"
#include "hal/types.h"
#include <stdio.h>

#define PCI_BARS    6
#define PCI_WINDOWS 3 /* of a bridge */

/* Properties of a BAR. */
#define PCI_BAR_IO       (1u << 0) /* I/O ports, not memory */
#define PCI_BAR_64       (1u << 1) /* may lie above 4 GiB; takes the slot of the next BAR, too */
#define PCI_BAR_PREFETCH (1u << 2) /* reads have no side effects */
#define PCI_BAR_ASSIGNED (1u << 3) /* has an address */

struct pci_space;

/* Addresses that a device answers at, or that a bridge passes on. */
struct pci_bar {
    uint64_t size;    /* bytes, of a BAR a power of two; 0: no such BAR */
    uint64_t align;   /* a power of two, of a BAR its size */
    uint64_t address; /* on the bus, as the BAR register holds it */
    phys_addr_t phys; /* as the CPU sees it */
    unsigned flags;   /* PCI_BAR_… */

    /* Of the bus, while it assigns addresses: bus/pci/resource.h. */
    struct pci_bar *next;
    const struct pci_space *space;
    uint64_t left;
};

/* How a device interrupts. */
enum pci_irq_mode {
    PCI_IRQ_NONE, /* nothing attached */
    PCI_IRQ_INTX, /* a wire, shared with other devices */
    PCI_IRQ_MSI,  /* one message for everything */
    PCI_IRQ_MSIX, /* a message a vector */
};

struct pci_bus;
struct pci_irqs;

struct pci_device {
    struct device dev;
    struct pci_bus *bus; /* where it is plugged in */
    uint8_t slot;        /* 0 … 31 */
    uint8_t function;    /* 0 … 7 */
    uint8_t revision;
    uint8_t pin; /* INTx pin: 0 none, 1 … 4 = INTA# … INTD# */
    uint16_t vendor;
    uint16_t device;
    uint32_t class;            /* base class << 16 | sub-class << 8 | programming interface */
    struct pci_bus *secondary; /* a bridge: the bus behind it; else NULL */
    struct pci_bar bars[PCI_BARS + PCI_WINDOWS]; /* its BARs by number, then the windows of a bridge */

    unsigned intx_irq;     /* number for irq_attach(), 0: not wired */
    struct pci_irqs *irqs; /* NULL while no handler is attached */
    struct list_node node; /* among all PCI devices */
};

/* The PCI device whose `dev` this is; `dev` is on the PCI bus. */
static inline struct pci_device *to_pci_device(struct device *dev)
{
    return container_of(dev, struct pci_device, dev);
}

/*
 * Every device found, also bridges and devices without a driver, in the order of the buses: the first for
 * NULL, then the one after `previous`; NULL at the end.
 */
struct pci_device *pci_next(const struct pci_device *previous);
#define pci_for_each(pdev) for (struct pci_device *pdev = pci_next(NULL); pdev != NULL; pdev = pci_next(pdev))

/* Prints a line each for every device, with its driver, its BARs, and its interrupts and how often they came.
 */
void pci_list(FILE *out);

/* "3D controller" for class code 0x030200; "device" for a class without a name here. */
const char *pci_class_name(uint32_t class);

/*
 * Configuration space. `offset` is below 4096 and a multiple of the access size; anything else panics.
 */
uint8_t pci_config_read8(const struct pci_device *pdev, unsigned offset);
uint16_t pci_config_read16(const struct pci_device *pdev, unsigned offset);
uint32_t pci_config_read32(const struct pci_device *pdev, unsigned offset);
void pci_config_write8(const struct pci_device *pdev, unsigned offset, uint8_t value);
void pci_config_write16(const struct pci_device *pdev, unsigned offset, uint16_t value);
void pci_config_write32(const struct pci_device *pdev, unsigned offset, uint32_t value);

#define PCI_CAP_MSI    0x05
#define PCI_CAP_VENDOR 0x09
#define PCI_CAP_EXP    0x10
#define PCI_CAP_MSIX   0x11

/*
 * Offset in configuration space of the first capability `id`, or of the next one of the same id after the one
 * at `offset`; 0 when there is none. A list that loops or leaves 0x40 … 0xfc is cut there, with a warning.
 */
unsigned pci_find_capability(const struct pci_device *pdev, uint8_t id);
unsigned pci_next_capability(const struct pci_device *pdev, unsigned offset);

/* The bits are those of the command register. */
#define PCI_IO     (1u << 0) /* answer in I/O space */
#define PCI_MEMORY (1u << 1) /* answer in memory space */
#define PCI_MASTER (1u << 2) /* DMA and message-signalled interrupts */

/*
 * Turns on what `what` names. Returns 0, or -ENOSPC when a BAR of a requested space has no address (logged;
 * nothing is turned on then: a BAR without an address would answer at a wrong one).
 */
int pci_enable(struct pci_device *pdev, unsigned what);

/* Turns all three off. */
void pci_disable(struct pci_device *pdev);

/*
 * Maps all of memory BAR `bar` (0 … 5; a 64-bit BAR goes by the number of its lower half). The mapping is the
 * caller's until pci_bar_unmap(). Returns 0, -ENOENT (no such BAR, or an I/O BAR), -ENOSPC (it has no
 * address) or the error of mmio_map(); logged, and `*out` is cleared then.
 */
int pci_bar_map(const struct pci_device *pdev, unsigned bar, struct mmio *out);

/* Maps `size` bytes from byte `offset` of the BAR only; also -EINVAL when they do not lie inside the BAR. */
int pci_bar_map_range(const struct pci_device *pdev, unsigned bar, uint64_t offset, uint64_t size,
                      struct mmio *out);

void pci_bar_unmap(struct mmio *m);

/*
 * Attaches fn(arg) to interrupt vector `vector` of the device. The first attach picks the mode: MSI-X, else
 * MSI, when device and machine have it and CONFIG_PCI_MSI is set; else INTx. With MSI and INTx all vectors
 * share one interrupt, and INTx shares it with other devices: fn must look at its device's status. Messages
 * need PCI_MASTER. Returns 0, -EINVAL (MSI-X has no such vector), -EEXIST (that pair is attached already),
 * -ENODEV (the device has no interrupt), -ENOSPC (no message left) or the error of irq_attach(); logged.
 */
int pci_irq_attach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg);

/*
 * Undoes the attach with the same arguments; the last one turns the device's interrupts off. Without such an
 * attach it panics.
 */
void pci_irq_detach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg);

/* The present mode, and its name: "none", "INTx", "MSI", "MSI-X". */
enum pci_irq_mode pci_irq_mode(const struct pci_device *pdev);
const char *pci_irq_mode_name(enum pci_irq_mode mode);

/* How many vectors can be told apart: the size of the MSI-X table where MSI-X is used, else 1, or 0 without
 * any. */
unsigned pci_irq_vectors(const struct pci_device *pdev);

/* The hal's number of that vector's interrupt (for irq_count()), 0 when nothing is attached to it. */
unsigned pci_irq_number(const struct pci_device *pdev, unsigned vector);

#endif
