// SPDX-License-Identifier: MIT
// The ECAM host bridge in the device tree (IEEE 1275 PCI Bus Binding; Linux binding host-generic-pci).
#define LOG_MODULE "fdt"
#include "device_tree.h"

#include <errno.h>

#include "core/log.h"

// The first cell of a PCI address: npt000ss bbbbbbbb dddddfff rrrrrrrr.
#define PHYS_HI_PREFETCH   (1u << 30)
#define PHYS_HI_SPACE(hi)  ((hi) >> 24 & 3)
#define PHYS_HI_SLOT_SHIFT 11

#define PCI_ADDRESS_CELLS 3
#define PCI_SIZE_CELLS    2

// "ranges": PCI address (3 cells), CPU address (the parent's cells), size (2 cells).
static int read_windows(struct pci_host *pci, const struct dt_node *node)
{
    static const enum pci_window_type types[] = {[1] = PCI_WINDOW_IO, PCI_WINDOW_MEM32, PCI_WINDOW_MEM64};
    struct dt_cells ranges = dt_property(node->begin, "ranges");
    unsigned cpu_cells = dt_address_cells(node);
    unsigned stride = PCI_ADDRESS_CELLS + cpu_cells + PCI_SIZE_CELLS;
    for (unsigned i = 0; i + stride <= ranges.bytes / 4; i += stride) {
        const uint32_t *at = ranges.data + i;
        uint32_t hi = dt_cell(ranges, i);
        struct pci_window w = {.prefetchable = hi & PHYS_HI_PREFETCH,
                               .pci = dt_number(at + 1, 2),
                               .cpu = dt_number(at + PCI_ADDRESS_CELLS, cpu_cells),
                               .size = dt_number(at + PCI_ADDRESS_CELLS + cpu_cells, PCI_SIZE_CELLS)};
        if (PHYS_HI_SPACE(hi) == 0)
            continue; // configuration space is in "reg"
        w.type = types[PHYS_HI_SPACE(hi)];
        if (w.size == 0 || w.cpu + w.size - 1 < w.cpu || w.pci + w.size - 1 < w.pci) {
            log_error("pci: ranges entry %u is empty or wraps", i / stride);
            return -EINVAL;
        }
        if (pci->nwindows == MACHINE_MAX_WINDOWS) {
            log_error("pci: more than %d windows", MACHINE_MAX_WINDOWS);
            return -EINVAL;
        }
        pci->windows[pci->nwindows++] = w;
    }
    return 0;
}

// Fills the table for every slot that the masked unit address `unit` stands for. The first entry that matches
// wins, as in a search from the top.
static void route(struct pci_host *pci, uint32_t mask, uint32_t unit, unsigned pin, unsigned irq)
{
    if (pin < 1 || pin > 4)
        return;
    for (uint32_t slot = 0; slot < PCI_INTX_SLOTS; slot++)
        if ((slot << PHYS_HI_SLOT_SHIFT & mask) == unit && !pci->intx_irq[slot][pin - 1])
            pci->intx_irq[slot][pin - 1] = (uint16_t)irq;
}

// "interrupt-map": PCI address (3 cells), pin, parent phandle, parent unit address, parent interrupt. The
// last two are as long as the parent says; an interrupt controller without #address-cells has none.
static int read_interrupt_map(struct pci_host *pci, const struct dt_node *node,
                              const struct dt_devices *devices)
{
    struct dt_cells map = dt_property(node->begin, "interrupt-map");
    struct dt_cells mask = dt_property(node->begin, "interrupt-map-mask");
    uint32_t unit_mask = mask.data ? dt_cell(mask, 0) : UINT32_MAX;
    uint32_t phandle = 0;
    unsigned address_cells = 0, interrupt_cells = 0;
    for (unsigned i = 0; i + PCI_ADDRESS_CELLS + 2 < map.bytes / 4;) {
        if (dt_cell(map, i + PCI_ADDRESS_CELLS + 1) != phandle) {
            phandle = dt_cell(map, i + PCI_ADDRESS_CELLS + 1);
            const uint32_t *parent = dt_by_phandle(devices, phandle);
            address_cells = parent ? dt_u32(parent, "#address-cells", 0) : 0;
            interrupt_cells = parent ? dt_u32(parent, "#interrupt-cells", 0) : 0;
        }
        unsigned irq_at = i + PCI_ADDRESS_CELLS + 2 + address_cells;
        if (interrupt_cells < 1 || interrupt_cells > 3 || address_cells > 3 ||
            irq_at + interrupt_cells > map.bytes / 4) {
            log_error("pci: interrupt-map names parent %u with %u interrupt cells", phandle, interrupt_cells);
            return -EINVAL;
        }
        route(pci, unit_mask, dt_cell(map, i) & unit_mask, dt_cell(map, i + PCI_ADDRESS_CELLS),
              dt_cell(map, irq_at));
        i = irq_at + interrupt_cells;
    }
    return 0;
}

void dt_read_pci(struct machine *m, const struct dt_node *node, const struct dt_devices *devices)
{
    struct pci_host *pci = &m->pci;
    struct machine_range reg = dt_reg(node, 0);
    if (pci->present) {
        log_warn("pci: only the first host bridge is used");
        return;
    }
    if (!reg.size) {
        log_error("pci: no usable reg");
        return;
    }
    struct dt_cells buses = dt_property(node->begin, "bus-range");
    pci->ecam = reg.base;
    pci->ecam_size = reg.size;
    pci->bus_first = (uint8_t)dt_cell(buses, 0);
    pci->bus_last = buses.bytes >= 8 ? (uint8_t)dt_cell(buses, 1) : UINT8_MAX;
    if (read_windows(pci, node) < 0 || read_interrupt_map(pci, node, devices) < 0)
        return;
    pci->present = true;
}
