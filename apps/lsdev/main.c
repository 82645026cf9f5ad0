// SPDX-License-Identifier: MIT
/* Prints the drivers, the PCI devices with their resources and interrupts, and what can be taken by class. */
#include "bus/device.h"
#include "bus/driver.h"
#include "bus/pci.h"
#include "core/test.h"
#include <stdio.h>

static void print_drivers(void)
{
    driver_for_each (driver)
        printf("driver %s: class %s, priority %d%s\n", driver->name, device_class_name(driver->class),
               driver->prio, driver_is_disabled(driver) ? ", disabled" : "");
}

/* Two BARs of one address space must not share an address. */
static bool overlap(const struct pci_bar *a, const struct pci_bar *b)
{
    return a->size != 0 && b->size != 0 && a->flags & b->flags & PCI_BAR_ASSIGNED &&
           (a->flags & PCI_BAR_IO) == (b->flags & PCI_BAR_IO) && a->address < b->address + b->size &&
           b->address < a->address + a->size;
}

static unsigned count_overlaps(const struct pci_device *a, const struct pci_device *b)
{
    unsigned count = 0;

    for (unsigned i = 0; i < PCI_BARS; i++)
        for (unsigned j = 0; j < PCI_BARS; j++)
            count += (a != b || i != j) && overlap(&a->bars[i], &b->bars[j]);
    return count;
}

int main(void)
{
    unsigned ndevices = 0;
    unsigned nbars = 0;
    unsigned nunassigned = 0;
    unsigned noverlaps = 0;

    print_drivers();
    pci_list(stdout);
    pci_for_each (pdev) {
        ndevices++;
        for (unsigned i = 0; i < PCI_BARS; i++) {
            nbars += pdev->bars[i].size != 0;
            nunassigned += pdev->bars[i].size != 0 && !(pdev->bars[i].flags & PCI_BAR_ASSIGNED);
        }
        pci_for_each (other)
            noverlaps += count_overlaps(pdev, other);
    }
    device_for_each (dev)
        printf("%s: %s %s, driver %s\n", dev->name, dev->bus->name, dev->address, dev->driver->name);
    check(ndevices > 0, "%u PCI devices", ndevices);
    check(nunassigned == 0, "%u of %u BARs have an address", nbars - nunassigned, nbars);
    check(noverlaps == 0, "no two BARs overlap");
    return test_exit_code();
}
