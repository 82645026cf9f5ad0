// SPDX-License-Identifier: MIT
/* Base address registers: their size, address and mapping (PCI Local Bus Specification 3.0, section 6.2.5.1).
 */
#define LOG_MODULE "bus"
#include "internal.h"
#include "core/errno.h"
#include "core/format.h"
#include "core/log.h"
#include "core/math.h"

/* What the register reads after all ones were written to it; its old value is put back. */
static uint32_t size_mask(struct pci_device *pdev, unsigned reg)
{
    uint32_t old = pci_config_read32(pdev, reg);
    uint32_t mask;

    pci_config_write32(pdev, reg, UINT32_MAX);
    mask = pci_config_read32(pdev, reg);
    pci_config_write32(pdev, reg, old);
    return mask;
}

/* The size is the weight of the lowest address bit that can be set. Returns how many registers the BAR takes.
 */
static unsigned size_bar(struct pci_device *pdev, unsigned index, unsigned count)
{
    struct pci_bar *bar = &pdev->bars[index];
    uint32_t low = size_mask(pdev, PCI_REG_BAR(index));
    bool io = low & PCI_BAR_REG_IO;
    bool wide = !io && (low & PCI_BAR_REG_TYPE) == PCI_BAR_REG_TYPE_64 && index + 1 < count;
    uint64_t mask = low & (io ? PCI_BAR_REG_IO_MASK : PCI_BAR_REG_MEM_MASK);

    if (!io && !wide && (low & PCI_BAR_REG_TYPE) != PCI_BAR_REG_TYPE_32) {
        log_warn("pci %s: BAR%u: unusable type in %#x, left alone", pdev->dev.address, index, (unsigned)low);
        return 1;
    }
    if (wide)
        mask |= (uint64_t)size_mask(pdev, PCI_REG_BAR(index + 1)) << 32;
    bar->flags = io ? PCI_BAR_IO : low & PCI_BAR_REG_PREFETCH ? PCI_BAR_PREFETCH : 0;
    bar->flags |= wide ? PCI_BAR_64 : 0;
    bar->size = bar->align = mask & (~mask + 1);
    return wide ? 2 : 1;
}

void pci_size_bars(struct pci_device *pdev, unsigned count)
{
    for (unsigned index = 0; index < count;)
        index += size_bar(pdev, index, count);
}

void pci_bar_set(struct pci_device *pdev, unsigned index)
{
    struct pci_bar *bar = &pdev->bars[index];
    uint64_t base = bar->address;
    uint32_t address_bits = bar->flags & PCI_BAR_IO ? PCI_BAR_REG_IO_MASK : PCI_BAR_REG_MEM_MASK;
    uint64_t got;

    pci_config_write32(pdev, PCI_REG_BAR(index), (uint32_t)base);
    got = pci_config_read32(pdev, PCI_REG_BAR(index)) & address_bits;
    if (bar->flags & PCI_BAR_64) {
        pci_config_write32(pdev, PCI_REG_BAR(index + 1), (uint32_t)(base >> 32));
        got |= (uint64_t)pci_config_read32(pdev, PCI_REG_BAR(index + 1)) << 32;
    }
    if (got == base)
        bar->flags |= PCI_BAR_ASSIGNED;
    else
        log_error("pci %s: BAR%u does not keep address %#llx: reads %#llx", pdev->dev.address, index,
                  (unsigned long long)base, (unsigned long long)got);
}

static int check_range(const struct pci_device *pdev, unsigned bar, uint64_t offset, uint64_t size)
{
    const struct pci_bar *b = bar < PCI_BARS ? &pdev->bars[bar] : NULL;

    if (!b || b->size == 0 || b->flags & PCI_BAR_IO) {
        log_error("pci %s: no memory BAR%u to map", pdev->dev.address, bar);
        return -ENOENT;
    }
    if (!(b->flags & PCI_BAR_ASSIGNED)) {
        log_error("pci %s: BAR%u (%s) has no address", pdev->dev.address, bar, format_size(b->size).text);
        return -ENOSPC;
    }
    if (size == 0 || !range_inside(offset, size, 0, b->size)) {
        log_error("pci %s: %#llx bytes at %#llx are not inside BAR%u of %s", pdev->dev.address,
                  (unsigned long long)size, (unsigned long long)offset, bar, format_size(b->size).text);
        return -EINVAL;
    }
    return 0;
}

int pci_bar_map_range(const struct pci_device *pdev, unsigned bar, uint64_t offset, uint64_t size,
                      struct mmio *out)
{
    int error = check_range(pdev, bar, offset, size);

    *out = (struct mmio){0};
    if (error)
        return error;
    error = mmio_map(out, phys_add(pdev->bars[bar].phys, offset), size);
    if (error)
        log_error("pci %s: cannot map %s of BAR%u: %s", pdev->dev.address, format_size(size).text, bar,
                  error_name(error));
    return error;
}

int pci_bar_map(const struct pci_device *pdev, unsigned bar, struct mmio *out)
{
    return pci_bar_map_range(pdev, bar, 0, bar < PCI_BARS ? pdev->bars[bar].size : 0, out);
}

void pci_bar_unmap(struct mmio *m)
{
    mmio_unmap(m);
}
