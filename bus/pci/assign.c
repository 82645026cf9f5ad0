// SPDX-License-Identifier: MIT
/*
 * Addresses for everything behind a host bridge. First the bridges' windows are sized from the leaves up,
 * then addresses are given from the root down: a bridge's window is one more BAR on the bus the bridge is on,
 * and what it gets is all that the bus behind it has.
 */
#define LOG_MODULE "bus"
#include "internal.h"
#include "core/errno.h"
#include "core/format.h"
#include "core/log.h"
#include "core/math.h"
#include "core/util.h"

/*
 * As large as its content needs in a window without end. A prefetchable window may end up above 4 GiB, so it
 * only takes what can follow it there; the ordinary memory window takes everything else, prefetchable or not.
 */
static void size_windows(struct pci_bus *bus)
{
    struct pci_bar *windows = &bus->bridge->bars[PCI_BARS];
    struct pci_space endless[PCI_WINDOWS];

    pci_bridge_probe(bus->bridge);
    for (unsigned i = 0; i < PCI_WINDOWS; i++)
        endless[i] = (struct pci_space){.base = (uint64_t)i << 62,
                                        .size = windows[i].align != 0 ? UINT64_C(1) << 62 : 0,
                                        .flags = windows[i].flags};
    pci_place(bus->bars, endless, PCI_WINDOWS);
    for (const struct pci_bar *bar = bus->bars; bar; bar = bar->next) {
        struct pci_bar *window = bar->space ? &windows[bar->space - endless] : NULL;

        if (!window)
            continue;
        window->size = MAX(window->size, bar->address + bar->size - bar->space->base);
        window->align = MAX(window->align, bar->align);
    }
    for (unsigned i = 0; i < PCI_WINDOWS; i++)
        windows[i].size = align_up(windows[i].size, windows[i].flags & PCI_BAR_IO ? PCI_BRIDGE_IO_GRAIN
                                                                                  : PCI_BRIDGE_MEM_GRAIN);
}

static void size_bus(struct pci_bus *bus)
{
    pci_for_each (pdev) {
        if (pdev->bus != bus)
            continue;
        if (pdev->secondary)
            size_bus(pdev->secondary);
        for (size_t i = 0; i < ARRAY_SIZE(pdev->bars); i++)
            if (pdev->bars[i].size != 0)
                pci_queue(&bus->bars, &pdev->bars[i]);
    }
    if (bus->bridge)
        size_windows(bus);
}

/* Writes down what a BAR or window got. */
static void apply(struct pci_device *pdev, unsigned index)
{
    static const char *const names[] = {
        "BAR0", "BAR1", "BAR2", "BAR3", "BAR4", "BAR5", "prefetchable window", "memory window", "I/O window"};
    struct pci_bar *bar = &pdev->bars[index];
    bool wanted_high = bar->flags & PCI_BAR_64 && bar->flags & PCI_BAR_PREFETCH;

    if (!bar->space) {
        log_error("pci %s: %s needs %s, window has %s left", pdev->dev.address, names[index],
                  format_size(bar->size).text, format_size(bar->left).text);
        return;
    }
    if (!pdev->bus->bridge && wanted_high && bar->address < PCI_4GIB)
        log_info("pci %s: %s of %s lies below 4 GiB: no room above", pdev->dev.address, names[index],
                 format_size(bar->size).text);
    log_debug("pci %s: %s of %s at %#llx", pdev->dev.address, names[index], format_size(bar->size).text,
              (unsigned long long)bar->address);
    bar->phys = phys_addr(bar->address + bar->space->to_cpu);
    if (index < PCI_BARS)
        pci_bar_set(pdev, index);
    else
        bar->flags |= PCI_BAR_ASSIGNED;
}

/* Opens the bridge's windows. A bridge that cannot be turned on gives nothing. Returns how many there are. */
static size_t open_windows(struct pci_device *bridge, struct pci_space *spaces)
{
    int error = pci_enable(bridge, PCI_IO | PCI_MEMORY | PCI_MASTER);
    size_t count = 0;

    if (error)
        log_error("pci %s: bus %02x behind it is unreachable: %s", bridge->dev.address,
                  bridge->secondary->number, error_name(error));
    for (enum bridge_window window = PCI_BARS; !error && window < BRIDGE_WINDOWS_END; window++) {
        const struct pci_bar *bar = &bridge->bars[window];

        if (!(bar->flags & PCI_BAR_ASSIGNED))
            continue;
        pci_bridge_open(bridge, window);
        spaces[count++] = (struct pci_space){.base = bar->address,
                                             .size = bar->size,
                                             .flags = bar->flags & ~PCI_BAR_ASSIGNED,
                                             .to_cpu = bar->phys.value - bar->address};
    }
    return count;
}

static void assign_bus(struct pci_bus *bus, const struct pci_space *spaces, size_t count)
{
    pci_place(bus->bars, spaces, count);
    pci_for_each (pdev)
        for (unsigned i = 0; pdev->bus == bus && i < ARRAY_SIZE(pdev->bars); i++)
            if (pdev->bars[i].size != 0)
                apply(pdev, i);
    pci_for_each (pdev)
        if (pdev->bus == bus && pdev->secondary) {
            struct pci_space windows[PCI_WINDOWS];

            assign_bus(pdev->secondary, windows, open_windows(pdev, windows));
        }
}

void pci_assign(struct pci_root *root)
{
    struct pci_space spaces[PCI_HOST_SPACES];

    size_bus(&root->bus);
    assign_bus(&root->bus, spaces, pci_host_spaces(root->host, spaces));
}
