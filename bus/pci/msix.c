// SPDX-License-Identifier: MIT
/* MSI-X: a message a vector, in a table in one of the BARs (PCI Local Bus Specification 3.0, section 6.8.2).
 */
#include "internal.h"

static unsigned msix_vectors(const struct pci_device *pdev)
{
    unsigned capability = pci_find_capability(pdev, PCI_CAP_MSIX);

    return capability ? (pci_config_read16(pdev, capability + PCI_MSIX_CONTROL) & PCI_MSIX_SIZE) + 1u : 0;
}

static void msix_enable(struct pci_device *pdev, unsigned vector, bool on)
{
    mmio_write32(&pdev->irqs->table, vector * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_MASK, !on);
}

static int msix_start(struct pci_device *pdev)
{
    unsigned capability = pci_find_capability(pdev, PCI_CAP_MSIX);
    uint32_t table = pci_config_read32(pdev, capability + PCI_MSIX_TABLE);
    int error = pci_bar_map_range(pdev, table & PCI_MSIX_BAR, table & ~PCI_MSIX_BAR,
                                  (uint64_t)pdev->irqs->count * PCI_MSIX_ENTRY_SIZE, &pdev->irqs->table);

    if (error)
        return error;
    for (unsigned vector = 0; vector < pdev->irqs->count; vector++)
        msix_enable(pdev, vector, false);
    pci_update16(pdev, capability + PCI_MSIX_CONTROL, PCI_MSIX_ENABLE, PCI_MSIX_MASK_ALL);
    return 0;
}

static void msix_stop(struct pci_device *pdev)
{
    pci_update16(pdev, pci_find_capability(pdev, PCI_CAP_MSIX) + PCI_MSIX_CONTROL, 0, PCI_MSIX_ENABLE);
    pci_bar_unmap(&pdev->irqs->table);
}

static int msix_write(struct pci_device *pdev, unsigned vector)
{
    const struct msi_vector *msi = &pdev->irqs->vectors[vector].msi;
    size_t entry = vector * PCI_MSIX_ENTRY_SIZE;

    mmio_write32(&pdev->irqs->table, entry + PCI_MSIX_ENTRY_LO, (uint32_t)msi->address);
    mmio_write32(&pdev->irqs->table, entry + PCI_MSIX_ENTRY_HI, (uint32_t)(msi->address >> 32));
    mmio_write32(&pdev->irqs->table, entry + PCI_MSIX_ENTRY_DATA, msi->data);
    return 0;
}

const struct pci_irq_ops pci_msix_ops = {.name = "MSI-X",
                                         .vectors = msix_vectors,
                                         .start = msix_start,
                                         .stop = msix_stop,
                                         .write = msix_write,
                                         .enable = msix_enable};
