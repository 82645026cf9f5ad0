// SPDX-License-Identifier: MIT
#define LOG_MODULE "bus"
#include "internal.h"
#include "core/log.h"

/* The pointer in the byte at `offset`: its two low bits are reserved (section 6.7). */
static unsigned pointer_at(const struct pci_device *pdev, unsigned offset)
{
    return pci_config_read8(pdev, offset) & ~3u;
}

/*
 * First capability `id` that comes after the one at `after` (0: from the start). A device is not to be
 * trusted: each place is visited once, so that a loop ends also for a caller who asks for one capability
 * after the other.
 */
static unsigned find(const struct pci_device *pdev, unsigned after, uint8_t id)
{
    uint64_t visited = 0; /* bit n: offset 4 * n */
    bool passed = after == 0;

    if (!(pci_config_read16(pdev, PCI_REG_STATUS) & PCI_STATUS_CAPABILITIES))
        return 0;
    for (unsigned offset = pointer_at(pdev, PCI_REG_CAPABILITIES); offset != 0;
         offset = pointer_at(pdev, offset + PCI_CAP_NEXT)) {
        if (offset < PCI_CAP_FIRST || visited >> (offset / 4) & 1) {
            log_warn("pci %s: capability list %s at %#x: cut", pdev->dev.address,
                     offset < PCI_CAP_FIRST ? "leads into the header" : "loops", offset);
            return 0;
        }
        visited |= UINT64_C(1) << (offset / 4);
        if (passed && pci_config_read8(pdev, offset) == id)
            return offset;
        passed |= offset == after;
    }
    return 0;
}

unsigned pci_find_capability(const struct pci_device *pdev, uint8_t id)
{
    return find(pdev, 0, id);
}

unsigned pci_next_capability(const struct pci_device *pdev, unsigned offset)
{
    return find(pdev, offset, pci_config_read8(pdev, offset));
}
