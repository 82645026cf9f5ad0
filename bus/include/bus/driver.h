// SPDX-License-Identifier: MIT
/*
 * Drivers. A driver is one source file that ends in one macro:
 *
 *     static int edu_probe(struct device *dev);    take the device: map, check, set dev->ops and dev->priv
 *     static void edu_remove(struct device *dev);  give everything back
 *     static const struct pci_id edu_ids[] = {{.vendor = 0x1234, .device = 0x11e8}, {}};
 *     PCI_DRIVER(edu) = {
 *         .name = "edu", .class = DEVICE_TUTORIAL, .ids = edu_ids, .probe = edu_probe, .remove = edu_remove,
 *     };
 *
 * The macro puts a pointer to the record into the linker's table "weft_drivers" (core/section.h); nothing
 * else in the tree names the driver except its Kconfig entry and its line in a Makefile.
 */
#ifndef BUS_DRIVER_H
#define BUS_DRIVER_H

#include "bus/device.h"
#include "core/section.h"
#include <stdint.h>

#define PCI_ANY UINT16_MAX /* no vendor and no device has this number */

/*
 * One kind of PCI device: vendor and device number, or a class. A table ends with an all-zero entry.
 * `class` is compared with the device's 24-bit class code under `class_mask`; mask 0 matches every class.
 */
struct pci_id {
    uint16_t vendor; /* or PCI_ANY */
    uint16_t device; /* or PCI_ANY */
    uint32_t class;
    uint32_t class_mask;
};

struct driver {
    const char *name;        /* unique; as in the boot log */
    enum device_class class; /* what its devices are taken as, by device_get() */
    int prio;                /* smaller probes first; equal priorities by name. Usually 0 */

    /* The devices it takes. NULL: a platform driver, which finds its devices itself (see PLATFORM_DRIVER). */
    const struct pci_id *ids;

    /*
     * Takes a device: `dev` has its bus, address, class and driver set; sets dev->ops and dev->priv. Returns
     * 0, -ENODEV (not mine after all: the next matching driver is asked), -EAGAIN (not yet: it needs another
     * device; asked again whenever one was taken) or another negative errno (logged; nobody gets the device).
     * After an error nothing may be left allocated, mapped or attached.
     */
    int (*probe)(struct device *dev);

    /* Undoes a successful probe: stops the device, detaches interrupts, unmaps, frees. Never NULL. */
    void (*remove)(struct device *dev);
};

SECTION_TABLE(weft_drivers, struct driver);

#define DRIVER(id)                                                                                           \
    static const struct driver id##_driver;                                                                  \
    SECTION_TABLE_ADD(weft_drivers, struct driver, id##_driver);                                             \
    static const struct driver id##_driver

/* A driver of PCI devices; `.ids` is set. In probe, to_pci_device(dev) of bus/pci.h gives the PCI device. */
#define PCI_DRIVER(id) DRIVER(id)

/*
 * A driver of devices that no bus lists (a GPU behind a library, an emulation in the process); `.ids` is
 * NULL. It is asked for device 0, 1, 2, … (dev->number) until probe returns an error (also when that is
 * -EAGAIN).
 */
#define PLATFORM_DRIVER(id) DRIVER(id)

/*
 * The drivers by (prio, name): the first for NULL, then the one after `previous`; NULL at the end.
 */
const struct driver *driver_next(const struct driver *previous);
#define driver_for_each(driver)                                                                              \
    for (const struct driver *driver = driver_next(NULL); driver != NULL; driver = driver_next(driver))

/* Does the kernel command line say driver.disable=…,NAME,… ? Such a driver is not asked. */
bool driver_is_disabled(const struct driver *driver);

#endif
