// SPDX-License-Identifier: MIT
#define LOG_MODULE "bus"
#include "bus/device.h"
#include "bus/driver.h"
#include "core/errno.h"
#include "core/init.h"
#include "core/log.h"
#include <stdio.h>
#include <string.h>

/* The registered devices, the oldest first. */
static struct list_node devices = LIST_INIT(devices);

const char *device_class_name(enum device_class class)
{
    static const char *const names[DEVICE_CLASSES] = {
        [DEVICE_NONE] = "device",     [DEVICE_GPGPU] = "gpgpu",       [DEVICE_BLOCK] = "block",
        [DEVICE_ENTROPY] = "entropy", [DEVICE_TUTORIAL] = "tutorial",
    };

    return names[class];
}

struct device *device_next(const struct device *previous)
{
    struct list_node *next;

    if (!previous)
        init_run_pending(); /* the buses and drivers, if nobody has looked for a device before */
    next = previous ? previous->node.next : devices.next;
    return next == &devices ? NULL : list_entry(next, struct device, node);
}

struct device *device_get(enum device_class class, unsigned index)
{
    device_for_each (dev)
        if (dev->class == class && dev->index == index)
            return dev;
    return NULL;
}

unsigned device_count(enum device_class class)
{
    unsigned count = 0;

    device_for_each (dev)
        count += dev->class == class;
    return count;
}

static bool is_registered(const struct device *dev)
{
    return dev->name[0] != '\0';
}

int device_register(struct device *dev)
{
    if (is_registered(dev))
        return -EEXIST;
    dev->index = 0;
    while (device_get(dev->class, dev->index))
        dev->index++;
    snprintf(dev->name, sizeof(dev->name), "%s%u", device_class_name(dev->class), dev->index);
    list_add_tail(&devices, &dev->node);
    return 0;
}

void device_unregister(struct device *dev)
{
    if (!is_registered(dev))
        return;
    list_remove(&dev->node);
    dev->name[0] = '\0';
}

static void forget_driver(struct device *dev)
{
    dev->driver = NULL;
    dev->class = DEVICE_NONE;
    dev->ops = NULL;
    dev->priv = NULL;
}

int device_probe(struct device *dev, const struct driver *driver)
{
    int error;

    if (dev->driver)
        return -EBUSY;
    dev->driver = driver;
    dev->class = driver->class;
    error = driver->probe(dev);
    if (error) {
        forget_driver(dev);
        if (error != -ENODEV)
            log_error("%s %s: %s → %s: probe failed: %s", dev->bus->name, dev->address, dev->what,
                      driver->name, error_name(error));
        return error;
    }
    device_register(dev);
    log_info("%s %s: %s → %s", dev->bus->name, dev->address, dev->what, driver->name);
    return 0;
}

int device_bind(struct device *dev)
{
    driver_for_each (driver) {
        int error = dev->bus->match(dev, driver) ? device_probe(dev, driver) : -ENODEV;

        if (error != -ENODEV)
            return error;
    }
    log_info("%s %s: %s: no driver", dev->bus->name, dev->address, dev->what);
    return -ENODEV;
}

void device_unbind(struct device *dev)
{
    device_unregister(dev);
    if (dev->driver)
        dev->driver->remove(dev);
    forget_driver(dev);
}

void device_unbind_all(void)
{
    while (!list_empty(&devices))
        device_unbind(list_last(&devices, struct device, node));
}
