// SPDX-License-Identifier: MIT
/* Windows of PCI-to-PCI bridges (Bridge Architecture Specification 1.2, sections 3.2.5.6 to 3.2.5.10). */
#include "internal.h"

/* From `base` to `last`. Base and limit are two halves of one register, whose low bits are fixed. A window
 * whose base is above its limit is closed. */
static void set_window(struct pci_device *bridge, enum bridge_window window, uint64_t base, uint64_t last)
{
    uint32_t memory = (uint32_t)((last & 0xfff00000) | (base >> 16 & 0xfff0));

    switch (window) {
    case BRIDGE_PREFETCH:
        pci_config_write32(bridge, PCI_REG_BRIDGE_PREFETCH_BASE_HI, (uint32_t)(base >> 32));
        pci_config_write32(bridge, PCI_REG_BRIDGE_PREFETCH_LIMIT_HI, (uint32_t)(last >> 32));
        pci_config_write32(bridge, PCI_REG_BRIDGE_PREFETCH, memory);
        break;
    case BRIDGE_MEM:
        pci_config_write32(bridge, PCI_REG_BRIDGE_MEM, memory);
        break;
    default: /* ports lie below 64 KiB (resource.h) */
        pci_config_write32(bridge, PCI_REG_BRIDGE_IO_HI, 0);
        pci_config_write16(bridge, PCI_REG_BRIDGE_IO, (uint16_t)((last & 0xf000) | (base >> 8 & 0xf0)));
    }
}

/* Closing leaves ones in the base of a window that exists, and zero in one that does not. */
void pci_bridge_probe(struct pci_device *bridge)
{
    struct pci_bar *bars = bridge->bars;
    uint16_t prefetch;

    for (enum bridge_window window = PCI_BARS; window < BRIDGE_WINDOWS_END; window++)
        set_window(bridge, window, UINT64_MAX, 0);
    prefetch = pci_config_read16(bridge, PCI_REG_BRIDGE_PREFETCH);
    if (prefetch != 0)
        bars[BRIDGE_PREFETCH].align = PCI_BRIDGE_MEM_GRAIN;
    bars[BRIDGE_PREFETCH].flags = PCI_BAR_PREFETCH | (prefetch & PCI_BRIDGE_WIDE ? PCI_BAR_64 : 0);
    bars[BRIDGE_MEM].align = PCI_BRIDGE_MEM_GRAIN;
    if (pci_config_read8(bridge, PCI_REG_BRIDGE_IO) != 0)
        bars[BRIDGE_IO].align = PCI_BRIDGE_IO_GRAIN;
    bars[BRIDGE_IO].flags = PCI_BAR_IO;
}

void pci_bridge_open(struct pci_device *bridge, enum bridge_window window)
{
    const struct pci_bar *bar = &bridge->bars[window];

    set_window(bridge, window, bar->address, bar->address + bar->size - 1);
}
