// SPDX-License-Identifier: MIT
/* Windows of PCI-to-PCI bridges (Bridge Architecture Specification 1.2, sections 3.2.5.6 to 3.2.5.10). */
#include "internal.h"

/* A window whose base is above its limit is closed. */
static void set_io(struct pci_device *bridge, uint64_t base, uint64_t last)
{
    /* Ports lie below 64 KiB (resource.h). */
    pci_config_write16(bridge, PCI_REG_BRIDGE_IO_BASE_HI, 0);
    pci_config_write16(bridge, PCI_REG_BRIDGE_IO_LIMIT_HI, 0);
    pci_config_write8(bridge, PCI_REG_BRIDGE_IO_BASE, (uint8_t)(base >> 8 & 0xf0));
    pci_config_write8(bridge, PCI_REG_BRIDGE_IO_LIMIT, (uint8_t)(last >> 8 & 0xf0));
}

static void set_mem(struct pci_device *bridge, uint64_t base, uint64_t last)
{
    pci_config_write16(bridge, PCI_REG_BRIDGE_MEM_BASE, (uint16_t)(base >> 16 & 0xfff0));
    pci_config_write16(bridge, PCI_REG_BRIDGE_MEM_LIMIT, (uint16_t)(last >> 16 & 0xfff0));
}

static void set_prefetch(struct pci_device *bridge, uint64_t base, uint64_t last)
{
    pci_config_write32(bridge, PCI_REG_BRIDGE_PREFETCH_BASE_HI, (uint32_t)(base >> 32));
    pci_config_write32(bridge, PCI_REG_BRIDGE_PREFETCH_LIMIT_HI, (uint32_t)(last >> 32));
    pci_config_write16(bridge, PCI_REG_BRIDGE_PREFETCH_BASE, (uint16_t)(base >> 16 & 0xfff0));
    pci_config_write16(bridge, PCI_REG_BRIDGE_PREFETCH_LIMIT, (uint16_t)(last >> 16 & 0xfff0));
}

/* Closing leaves ones in the base register of a window that exists, and zero in one that does not. */
void pci_bridge_probe(struct pci_device *bridge)
{
    struct pci_bar *bars = bridge->bars;
    uint16_t prefetch;

    set_io(bridge, UINT64_MAX, 0);
    set_mem(bridge, UINT64_MAX, 0);
    set_prefetch(bridge, UINT64_MAX, 0);
    prefetch = pci_config_read16(bridge, PCI_REG_BRIDGE_PREFETCH_BASE);
    if (prefetch != 0)
        bars[BRIDGE_PREFETCH].align = PCI_BRIDGE_MEM_GRAIN;
    bars[BRIDGE_PREFETCH].flags = PCI_BAR_PREFETCH | (prefetch & PCI_BRIDGE_WIDE ? PCI_BAR_64 : 0);
    bars[BRIDGE_MEM].align = PCI_BRIDGE_MEM_GRAIN;
    if (pci_config_read8(bridge, PCI_REG_BRIDGE_IO_BASE) != 0)
        bars[BRIDGE_IO].align = PCI_BRIDGE_IO_GRAIN;
    bars[BRIDGE_IO].flags = PCI_BAR_IO;
}

void pci_bridge_open(struct pci_device *bridge, enum bridge_window window)
{
    static void (*const set[PCI_WINDOWS])(struct pci_device *, uint64_t, uint64_t) = {set_prefetch, set_mem,
                                                                                      set_io};
    const struct pci_bar *bar = &bridge->bars[window];

    set[window - PCI_BARS](bridge, bar->address, bar->address + bar->size - 1);
}
