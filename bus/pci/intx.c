// SPDX-License-Identifier: MIT
#include "internal.h"

/*
 * A bridge joins the pins of its slots in turn: INTA# of slot 1 leaves as INTB#, and so on (PCI-to-PCI Bridge
 * Architecture Specification 1.2, section 9.1). On the root bus the device tree's interrupt-map takes over.
 */
unsigned pci_intx_route(const struct pci_device *pdev)
{
    unsigned pin = pdev->pin - 1u; /* 0 … 3 */

    if (pdev->pin < 1 || pdev->pin > 4)
        return 0;
    for (; pdev->bus->bridge; pdev = pdev->bus->bridge)
        pin = (pin + pdev->slot) % 4;
    return pdev->bus->root->host->intx_irq[pdev->slot][pin];
}

static unsigned intx_vectors(const struct pci_device *pdev)
{
    return pdev->intx_irq != 0;
}

static void intx_enable(struct pci_device *pdev, unsigned vector, bool on)
{
    (void)vector;
    pci_update16(pdev, PCI_REG_COMMAND, on ? 0 : PCI_COMMAND_INTX_OFF, on ? PCI_COMMAND_INTX_OFF : 0);
}

const struct pci_irq_ops pci_intx_ops = {.name = "INTx", .vectors = intx_vectors, .enable = intx_enable};
