// SPDX-License-Identifier: MIT
/* The devices that no bus lists: their drivers know how to look for them. */
#define LOG_MODULE "bus"
#include "bus/device.h"
#include "bus/driver.h"
#include "core/errno.h"
#include "core/init.h"
#include "core/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct platform_device {
    struct device dev;
    struct list_node node;
};

static struct list_node platform_devices = LIST_INIT(platform_devices);

/* A device is found by one driver and stays its. */
static bool platform_match(const struct device *dev, const struct driver *driver)
{
    return !driver->ids && strcmp(dev->what, driver->name) == 0;
}

static const struct bus platform_bus = {.name = "platform", .match = platform_match};

/* Lets `driver` look for its device `number`. */
static int platform_find(const struct driver *driver, unsigned number)
{
    struct platform_device *device = calloc(1, sizeof(*device));
    int error;

    if (!device) {
        log_error("platform: no memory for a device of %s", driver->name);
        return -ENOMEM;
    }
    device->dev.bus = &platform_bus;
    device->dev.number = number;
    snprintf(device->dev.address, sizeof(device->dev.address), "%u", number);
    snprintf(device->dev.what, sizeof(device->dev.what), "%s", driver->name);
    error = device_probe(&device->dev, driver);
    if (error && error != -EAGAIN)
        free(device);
    else
        list_add_tail(&platform_devices, &device->node);
    return error;
}

static int platform_start(void)
{
    driver_for_each (driver) {
        unsigned number = 0;

        if (driver->ids || driver_is_disabled(driver))
            continue;
        while (platform_find(driver, number) == 0)
            number++;
    }
    return 0;
}

static void platform_exit(void)
{
    device_unbind_all();
    list_for_each_safe (node, &platform_devices) {
        list_remove(node);
        free(list_entry(node, struct platform_device, node));
    }
}

INIT(INIT_DRIVER, platform_start, platform_exit);
