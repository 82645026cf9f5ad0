// SPDX-License-Identifier: MIT
/* Which driver gets which device, and the devices that wait for others. */
#define LOG_MODULE "bus"
#include "bus/device.h"
#include "bus/driver.h"
#include "core/errno.h"
#include "core/init.h"
#include "core/log.h"
#include "core/trace.h"

/* Devices whose status is -EAGAIN, by the `node` that registered ones have in the registry, the one that
 * waits longest first. */
static struct list_node waiting = LIST_INIT(waiting);

/* Asks each waiting device's drivers once. Returns how many devices got one. */
static unsigned ask_waiting(void)
{
    unsigned count = 0;
    unsigned bound = 0;

    list_for_each (node, &waiting)
        count++;
    /* What has to go on waiting joins the list again at its end, behind the `count` devices of now. */
    while (count-- > 0 && !list_empty(&waiting))
        bound += device_bind(list_first(&waiting, struct device, node)) == 0;
    return bound;
}

/* A device was taken: it may be the one that others wait for. */
static void retry_waiting(void)
{
    static bool busy;

    if (busy)
        return;
    busy = true;
    while (ask_waiting() > 0)
        ;
    busy = false;
}

static void forget_driver(struct device *dev)
{
    dev->driver = NULL;
    dev->class = DEVICE_NONE;
    dev->ops = NULL;
    dev->priv = NULL;
}

static void probe_failed(struct device *dev, const struct driver *driver)
{
    forget_driver(dev);
    if (dev->status == -EAGAIN)
        list_add_tail(&waiting, &dev->node);
    else if (dev->status != -ENODEV)
        log_error("%s %s: %s → %s: probe failed: %s", dev->bus->name, dev->address, dev->what, driver->name,
                  error_name(dev->status));
}

int device_probe(struct device *dev, const struct driver *driver)
{
    if (dev->driver)
        return -EBUSY;
    list_remove(&dev->node); /* from the waiting */
    dev->driver = driver;
    dev->class = driver->class;
    trace_begin("probe", driver->name, 0, 0);
    dev->status = driver->probe(dev);
    trace_end("probe");
    if (dev->status) {
        probe_failed(dev, driver);
        return dev->status;
    }
    device_register(dev);
    log_info("%s %s: %s → %s", dev->bus->name, dev->address, dev->what, driver->name);
    retry_waiting();
    return 0;
}

static bool wants(const struct driver *driver, const struct device *dev)
{
    return dev->bus->match(dev, driver) && !driver_is_disabled(driver);
}

static void log_no_driver(const struct device *dev)
{
    log_info("%s %s: %s: no driver", dev->bus->name, dev->address, dev->what);
}

int device_bind(struct device *dev)
{
    if (dev->driver)
        return -EBUSY;
    driver_for_each (driver) {
        int error = wants(driver, dev) ? device_probe(dev, driver) : -ENODEV;

        if (error != -ENODEV)
            return error;
    }
    list_remove(&dev->node);
    dev->status = -ENODEV;
    log_no_driver(dev);
    return -ENODEV;
}

void device_bind_all(struct device *(*next)(struct device *previous))
{
    driver_for_each (driver)
        for (struct device *dev = next(NULL); dev; dev = next(dev))
            if (dev->status == -ENODEV && wants(driver, dev))
                device_probe(dev, driver);
    for (struct device *dev = next(NULL); dev; dev = next(dev))
        if (dev->status == -ENODEV)
            log_no_driver(dev);
}

void device_unbind(struct device *dev)
{
    device_unregister(dev);
    if (dev->driver)
        dev->driver->remove(dev);
    forget_driver(dev);
    dev->status = -ENODEV;
}

void device_unbind_all(void)
{
    while (!list_empty(&waiting))
        device_unbind(list_last(&waiting, struct device, node));
    for (struct device *dev = device_last(); dev; dev = device_last())
        device_unbind(dev);
}

/* Everything was found and asked: what waits now waits in vain. */
static int report_waiting(void)
{
    list_for_each (node, &waiting) {
        const struct device *dev = list_entry(node, struct device, node);

        log_warn("%s %s: %s: its driver still waits for another device", dev->bus->name, dev->address,
                 dev->what);
    }
    return 0;
}

INIT(INIT_DRIVER + 50, report_waiting);
