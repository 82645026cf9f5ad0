// SPDX-License-Identifier: MIT
/* The PCI bus of the machine: start, drivers, end. */
#define LOG_MODULE "bus"
#include "internal.h"
#include "core/errno.h"
#include "core/format.h"
#include "core/init.h"
#include "core/log.h"

static struct pci_root root = {.devices = LIST_INIT(root.devices)};

struct pci_device *pci_next(const struct pci_device *previous)
{
    struct list_node *next;

    if (!previous)
        init_run_once(); /* as device_next() does */
    next = previous ? previous->node.next : root.devices.next;
    return next == &root.devices ? NULL : list_entry(next, struct pci_device, node);
}

static bool id_matches(const struct pci_id *id, const struct pci_device *pdev)
{
    return (id->vendor == PCI_ANY || id->vendor == pdev->vendor) &&
           (id->device == PCI_ANY || id->device == pdev->device) &&
           ((id->class ^ pdev->class) & id->class_mask) == 0;
}

static bool is_last(const struct pci_id *id)
{
    return id->vendor == 0 && id->device == 0 && id->class_mask == 0;
}

static bool pci_match(const struct device *dev, const struct driver *driver)
{
    const struct pci_device *pdev = container_of(dev, const struct pci_device, dev);

    for (const struct pci_id *id = driver->ids; id && !is_last(id); id++)
        if (id_matches(id, pdev))
            return true;
    return false;
}

static const struct bus pci_bus_type = {.name = "pci", .match = pci_match};

int pci_enable(struct pci_device *pdev, unsigned what)
{
    for (unsigned i = 0; i < PCI_BARS; i++) {
        const struct pci_bar *bar = &pdev->bars[i];
        unsigned space = bar->flags & PCI_BAR_IO ? PCI_IO : PCI_MEMORY;

        if (bar->size != 0 && space & what && !(bar->flags & PCI_BAR_ASSIGNED)) {
            log_error("pci %s: cannot be enabled: BAR%u (%s) has no address", pdev->dev.address, i,
                      format_size(bar->size).text);
            return -ENOSPC;
        }
    }
    pci_update16(pdev, PCI_REG_COMMAND, (uint16_t)what, 0);
    return 0;
}

void pci_disable(struct pci_device *pdev)
{
    pci_update16(pdev, PCI_REG_COMMAND, 0, PCI_IO | PCI_MEMORY | PCI_MASTER);
}

static int pci_start(void)
{
    int error;

    root.host = &machine()->pci;
    if (!root.host->present)
        return 0;
    error = pci_enumerate(&root);
    if (!error)
        pci_assign(&root);
    return error;
}

static void pci_stop(void)
{
    pci_for_each (pdev)
        pci_disable(pdev);
    pci_root_destroy(&root);
}

static struct device *next_device(struct device *previous)
{
    struct pci_device *pdev = pci_next(previous ? to_pci_device(previous) : NULL);

    return pdev ? &pdev->dev : NULL;
}

static int pci_bind(void)
{
    pci_for_each (pdev) {
        pdev->dev.bus = &pci_bus_type;
        pdev->dev.status = pdev->secondary ? 0 : -ENODEV; /* bridges are the bus's own */
        if (pdev->secondary)
            log_info("pci %s: %s → bus %02x", pdev->dev.address, pdev->dev.what, pdev->secondary->number);
    }
    device_bind_all(next_device);
    return 0;
}

INIT(INIT_BUS, pci_start, pci_stop);
INIT(INIT_DRIVER, pci_bind, device_unbind_all);
