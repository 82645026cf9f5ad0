// SPDX-License-Identifier: MIT
/* MSI with one message for the whole device (PCI Local Bus Specification 3.0, section 6.8.1). */
#define LOG_MODULE "bus"
#include "internal.h"
#include "core/errno.h"
#include "core/log.h"

static unsigned msi_vectors(const struct pci_device *pdev)
{
    return pci_find_capability(pdev, PCI_CAP_MSI) != 0;
}

static int msi_write(struct pci_device *pdev, unsigned vector)
{
    const struct msi_vector *msi = &pdev->irqs->vectors[vector].msi;
    unsigned capability = pci_find_capability(pdev, PCI_CAP_MSI);
    bool wide = pci_config_read16(pdev, capability + PCI_MSI_CONTROL) & PCI_MSI_64;

    if (!wide && msi->address > UINT32_MAX) {
        log_error("pci %s: cannot send its message to %#llx: it has 32-bit MSI only", pdev->dev.address,
                  (unsigned long long)msi->address);
        return -ERANGE;
    }
    pci_config_write32(pdev, capability + PCI_MSI_ADDRESS, (uint32_t)msi->address);
    if (wide)
        pci_config_write32(pdev, capability + PCI_MSI_ADDRESS_HI, (uint32_t)(msi->address >> 32));
    pci_config_write16(pdev, capability + (wide ? PCI_MSI_DATA_64 : PCI_MSI_DATA_32), (uint16_t)msi->data);
    return 0;
}

static void msi_enable(struct pci_device *pdev, unsigned vector, bool on)
{
    unsigned capability = pci_find_capability(pdev, PCI_CAP_MSI);

    (void)vector;
    pci_update16(pdev, capability + PCI_MSI_CONTROL, on ? PCI_MSI_ENABLE : 0, PCI_MSI_ENABLE | PCI_MSI_COUNT);
}

const struct pci_irq_ops pci_msi_ops = {
    .name = "MSI", .vectors = msi_vectors, .write = msi_write, .enable = msi_enable};
