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

#define EDU_BUFFER_SIZE 4096u /* bytes */

/* When the device was told to interrupt, when its handler began, when the caller went on: time_now_ns(). */
struct edu_interrupt {
    uint64_t raised, handled, woken;
};

/* Interface of a DEVICE_TUTORIAL device. */
struct edu_ops {
    /* 0xRRrr00ed: major version RR, minor version rr. */
    uint32_t (*identity)(struct device *dev);

    /*
     * *result = n! modulo 2^32, computed by the device; returns when its interrupt has come. 0, or -ETIMEDOUT
     * when it has not within a second (logged with the device's status).
     */
    int (*factorial)(struct device *dev, uint32_t n, uint32_t *result);

    /*
     * Copies `size` (1 … EDU_BUFFER_SIZE) bytes to the device's own buffer and from there to `to`, both by
     * DMA. 0, -EINVAL (size), -EFAULT (memory that no device can reach, see hal/dma.h) or -ETIMEDOUT
     * (logged). The device drops the address bits that its property dma_mask lacks, without a word: RAM of
     * the virt machine needs -device edu,dma_mask=0xffffffffff.
     */
    int (*copy)(struct device *dev, void *to, const void *from, size_t size);

    /*
     * Has the device interrupt, for nothing: to measure how long that takes. `asleep`: the interrupt is taken
     * only when the caller sleeps; else as soon as it comes. Returns 0 or -ETIMEDOUT (logged).
     */
    int (*interrupt)(struct device *dev, bool asleep, struct edu_interrupt *times);
};

#endif
