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

static void msi_control(struct pci_device *pdev, unsigned capability, bool enable)
{
    uint16_t control = pci_config_read16(pdev, capability + PCI_MSI_CONTROL);

    control &= (uint16_t)~(PCI_MSI_ENABLE | PCI_MSI_COUNT);
    pci_config_write16(pdev, capability + PCI_MSI_CONTROL, control | (enable ? PCI_MSI_ENABLE : 0));
}

static int msi_program(struct pci_device *pdev, unsigned capability)
{
    bool wide = pci_config_read16(pdev, capability + PCI_MSI_CONTROL) & PCI_MSI_64;
    uint64_t address = pdev->msi.address;

    if (!wide && address > UINT32_MAX) {
        log_error("pci %s: cannot send its message to %#llx: it has 32-bit MSI only", pdev->dev.address,
                  (unsigned long long)address);
        return -ERANGE;
    }
    pci_config_write32(pdev, capability + PCI_MSI_ADDRESS, (uint32_t)address);
    if (wide)
        pci_config_write32(pdev, capability + PCI_MSI_ADDRESS_HI, (uint32_t)(address >> 32));
    pci_config_write16(pdev, capability + (wide ? PCI_MSI_DATA_64 : PCI_MSI_DATA_32),
                       (uint16_t)pdev->msi.data);
    return 0;
}

static int msi_attach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    unsigned capability = pci_find_capability(pdev, PCI_CAP_MSI);
    bool first = pdev->irq_users == 0;
    int error = first ? msi_alloc(&pdev->msi) : 0;

    (void)vector;
    if (error)
        return error;
    if (first)
        error = msi_program(pdev, capability);
    if (!error)
        error = irq_attach(pdev->msi.irq, fn, arg);
    if (!error)
        msi_control(pdev, capability, true);
    else if (first)
        msi_free(&pdev->msi);
    return error;
}

static int msi_detach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    bool last = pdev->irq_users == 1;
    int error;

    (void)vector;
    if (last)
        msi_control(pdev, pci_find_capability(pdev, PCI_CAP_MSI), false);
    error = irq_detach(pdev->msi.irq, fn, arg);
    if (last && !error)
        msi_free(&pdev->msi);
    return error;
}

static unsigned msi_number(const struct pci_device *pdev, unsigned vector)
{
    (void)vector;
    return pdev->msi.irq;
}

const struct pci_irq_ops pci_msi_ops = {msi_vectors, msi_attach, msi_detach, msi_number};
