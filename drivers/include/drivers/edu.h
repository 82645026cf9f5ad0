// SPDX-License-Identifier: MIT
/*
 * The tutorial class: QEMU's educational device (its docs/specs/edu.rst). Enough to show identity, a
 * computation that ends with an interrupt, and DMA.
 */
#ifndef DRIVERS_EDU_H
#define DRIVERS_EDU_H

#include "bus/device.h"
#include <stddef.h>
#include <stdint.h>

/* Interface of a DEVICE_TUTORIAL device. */
struct edu_ops {
    /* 0xRRrr00ed: major version RR, minor version rr. */
    uint32_t (*identity)(struct device *dev);

    /*
     * *result = n! modulo 2^32, computed by the device; returns when its interrupt has come. 0, or -ETIMEDOUT
     * when it has not within a second (logged with the device's status).
     */
    int (*factorial)(struct device *dev, uint32_t n, uint32_t *result);
};

#endif
