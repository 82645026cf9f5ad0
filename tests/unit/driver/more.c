// SPDX-License-Identifier: MIT
/* Drivers in an object that nothing refers to, as drivers are. Records of this file lie beside other const
 * data. */
#include "bus/driver.h"
#include "core/errno.h"

static int never(struct device *dev)
{
    (void)dev;
    return -ENODEV;
}

static void nothing(struct device *dev)
{
    (void)dev;
}

DRIVER(drv10) = {.name = "drv10", .probe = never, .remove = nothing};
DRIVER(drv2) = {.name = "drv2", .probe = never, .remove = nothing};
DRIVER(last) = {.name = "aaa", .prio = 10, .probe = never, .remove = nothing};
DRIVER(first) = {.name = "zzz", .prio = -10, .probe = never, .remove = nothing};
