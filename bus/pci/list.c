// SPDX-License-Identifier: MIT
/* What is there, for people: at boot in the log (loglevel=debug), and in the app lsdev. */
#include "bus/pci.h"
#include "core/errno.h"
#include "core/format.h"
#include "core/init.h"
#include "core/log.h"
#include <stdio.h>

static const char *driver_of(const struct pci_device *pdev)
{
    if (pdev->dev.driver)
        return pdev->dev.driver->name;
    if (pdev->secondary)
        return "bridge";
    if (pdev->dev.status == -EAGAIN)
        return "waits for another device";
    return pdev->dev.status == -ENODEV ? "no driver" : error_name(pdev->dev.status);
}

static void list_bar(const struct pci_device *pdev, unsigned index, FILE *out)
{
    const struct pci_bar *bar = &pdev->bars[index];
    char where[64] = "no address";

    if (bar->flags & PCI_BAR_ASSIGNED)
        snprintf(where, sizeof(where), "at %#llx, CPU %#llx", (unsigned long long)bar->address,
                 (unsigned long long)bar->phys.value);
    fprintf(out, "    BAR%u %s%s%s, %s %s\n", index, bar->flags & PCI_BAR_IO ? "I/O" : "memory",
            bar->flags & PCI_BAR_64 ? ", 64-bit" : "", bar->flags & PCI_BAR_PREFETCH ? ", prefetchable" : "",
            format_size(bar->size).text, where);
}

static void list_interrupts(const struct pci_device *pdev, FILE *out)
{
    for (unsigned vector = 0; vector < pci_irq_vectors(pdev); vector++) {
        unsigned irq = pci_irq_number(pdev, vector);

        if (irq != 0)
            fprintf(out, "    interrupt %u (%s, vector %u): taken %llu times\n", irq,
                    pci_irq_mode_name(pci_irq_mode(pdev)), vector, (unsigned long long)irq_count(irq));
    }
}

void pci_list(FILE *out)
{
    pci_for_each (pdev) {
        fprintf(out, "pci %s: %s, revision %02x: %s\n", pdev->dev.address, pdev->dev.what, pdev->revision,
                driver_of(pdev));
        for (unsigned i = 0; i < PCI_BARS; i++)
            if (pdev->bars[i].size != 0)
                list_bar(pdev, i, out);
        list_interrupts(pdev, out);
    }
}

static int log_list(void)
{
    if (log_shows(LOG_LEVEL_DEBUG))
        pci_list(stdout);
    return 0;
}

INIT(INIT_LATE, log_list);
