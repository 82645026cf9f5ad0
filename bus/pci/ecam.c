// SPDX-License-Identifier: MIT
/*
 * Configuration space as memory: bus << 20 | slot << 15 | function << 12 (PCI Express Base Specification 3.0,
 * section 7.2.2).
 */
#include "internal.h"
#include "hal/panic.h"

/* Alignment is checked by the hal; past the function's space another function would answer. */
static size_t at(const struct pci_device *pdev, unsigned offset)
{
    if (offset >= PCI_CONFIG_SIZE)
        panic("pci %s: offset %#x is outside configuration space", pdev->dev.address, offset);
    return (pdev->bus->number - pdev->bus->root->bus.number) * PCI_BUS_CONFIG_SIZE +
           ((size_t)pdev->slot << 15 | (size_t)pdev->function << 12 | offset);
}

#define DEFINE_ACCESSORS(bits)                                                                               \
    uint##bits##_t pci_config_read##bits(const struct pci_device *pdev, unsigned offset)                     \
    {                                                                                                        \
        return mmio_read##bits(&pdev->bus->root->config, at(pdev, offset));                                  \
    }                                                                                                        \
    void pci_config_write##bits(const struct pci_device *pdev, unsigned offset, uint##bits##_t value)        \
    {                                                                                                        \
        mmio_write##bits(&pdev->bus->root->config, at(pdev, offset), value);                                 \
    }

DEFINE_ACCESSORS(8)
DEFINE_ACCESSORS(16)
DEFINE_ACCESSORS(32)

void pci_update16(struct pci_device *pdev, unsigned offset, uint16_t set, uint16_t clear)
{
    uint16_t old = pci_config_read16(pdev, offset);

    pci_config_write16(pdev, offset, (uint16_t)((old & ~clear) | set));
}
