// SPDX-License-Identifier: MIT
/*
 * Configuration space as memory: bus << 20 | slot << 15 | function << 12 (PCI Express Base Specification 3.0,
 * section 7.2.2). A bus is mapped when it is opened, so of the 256 MiB only what exists costs page tables.
 */
#include "internal.h"
#include "core/errno.h"
#include "hal/panic.h"

#define ECAM_BUS_SIZE UINT64_C(0x100000)

int pci_bus_open(struct pci_bus *bus)
{
    const struct pci_host *host = bus->root->host;
    uint64_t offset = (uint64_t)(bus->number - host->bus_first) * ECAM_BUS_SIZE;

    if (offset + ECAM_BUS_SIZE > host->ecam_size)
        return -ERANGE;
    return mmio_map(&bus->config, phys_add(host->ecam, offset), ECAM_BUS_SIZE);
}

void pci_bus_close(struct pci_bus *bus)
{
    mmio_unmap(&bus->config);
}

static size_t function_offset(unsigned slot, unsigned function)
{
    return (size_t)slot << 15 | (size_t)function << 12;
}

uint32_t pci_bus_read_id(const struct pci_bus *bus, unsigned slot, unsigned function)
{
    return mmio_read32(&bus->config, function_offset(slot, function) + PCI_REG_VENDOR);
}

/* Alignment is checked by the hal; past the function's space another function would answer. */
static size_t at(const struct pci_device *pdev, unsigned offset)
{
    if (offset >= PCI_CONFIG_SIZE)
        panic("pci %s: offset %#x is outside configuration space", pdev->dev.address, offset);
    return function_offset(pdev->slot, pdev->function) + offset;
}

uint8_t pci_config_read8(const struct pci_device *pdev, unsigned offset)
{
    return mmio_read8(&pdev->bus->config, at(pdev, offset));
}

uint16_t pci_config_read16(const struct pci_device *pdev, unsigned offset)
{
    return mmio_read16(&pdev->bus->config, at(pdev, offset));
}

uint32_t pci_config_read32(const struct pci_device *pdev, unsigned offset)
{
    return mmio_read32(&pdev->bus->config, at(pdev, offset));
}

void pci_config_write8(const struct pci_device *pdev, unsigned offset, uint8_t value)
{
    mmio_write8(&pdev->bus->config, at(pdev, offset), value);
}

void pci_config_write16(const struct pci_device *pdev, unsigned offset, uint16_t value)
{
    mmio_write16(&pdev->bus->config, at(pdev, offset), value);
}

void pci_config_write32(const struct pci_device *pdev, unsigned offset, uint32_t value)
{
    mmio_write32(&pdev->bus->config, at(pdev, offset), value);
}

void pci_command(struct pci_device *pdev, uint16_t set, uint16_t clear)
{
    uint16_t command = pci_config_read16(pdev, PCI_REG_COMMAND);

    pci_config_write16(pdev, PCI_REG_COMMAND, (uint16_t)((command & ~clear) | set));
}
