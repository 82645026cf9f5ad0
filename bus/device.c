// SPDX-License-Identifier: MIT
#include "bus/device.h"
#include "core/init.h"
#include <stdio.h>

/* The registered devices, the oldest first. */
static struct list_node devices = LIST_INIT(devices);

const char *device_class_name(enum device_class class)
{
    static const char *const names[DEVICE_CLASSES] = {
        [DEVICE_NONE] = "device",     [DEVICE_GPGPU] = "gpgpu", [DEVICE_BLOCK] = "block",
        [DEVICE_ENTROPY] = "entropy", [DEVICE_FILES] = "files", [DEVICE_TUTORIAL] = "tutorial",
    };

    return names[class];
}

struct device *device_next(const struct device *previous)
{
    struct list_node *next;

    if (!previous)
        init_run_once(); /* the buses and drivers, if nobody has looked for a device before */
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

void device_register(struct device *dev)
{
    dev->index = 0;
    while (device_get(dev->class, dev->index))
        dev->index++;
    snprintf(dev->name, sizeof(dev->name), "%s%u", device_class_name(dev->class), dev->index);
    list_add_tail(&devices, &dev->node);
}

void device_unregister(struct device *dev)
{
    list_remove(&dev->node);
    dev->name[0] = '\0';
}

struct device *device_last(void)
{
    return list_empty(&devices) ? NULL : list_last(&devices, struct device, node);
}
