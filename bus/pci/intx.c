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

static int intx_attach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    int error = irq_attach(pdev->intx_irq, fn, arg);

    (void)vector;
    if (!error)
        pci_command(pdev, 0, PCI_COMMAND_INTX_OFF);
    return error;
}

static int intx_detach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    (void)vector;
    /* Let go of the wire first: others share it, and would be called for nothing. */
    if (pdev->irq_users == 1)
        pci_command(pdev, PCI_COMMAND_INTX_OFF, 0);
    return irq_detach(pdev->intx_irq, fn, arg);
}

static unsigned intx_number(const struct pci_device *pdev, unsigned vector)
{
    (void)vector;
    return pdev->intx_irq;
}

const struct pci_irq_ops pci_intx_ops = {intx_vectors, intx_attach, intx_detach, intx_number};
