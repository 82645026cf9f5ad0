// SPDX-License-Identifier: MIT
/* Sources of random bytes. */
#ifndef DRIVERS_ENTROPY_H
#define DRIVERS_ENTROPY_H

#include "bus/device.h"
#include <stddef.h>

/* Interface of a DEVICE_ENTROPY device. */
struct entropy_ops {
    /*
     * Fills all `size` bytes of `buffer` (memory that a device can reach, see dma_able() of hal/dma.h) from
     * the source; sleeps until they are there. Returns 0, -EFAULT (not such memory), -ETIMEDOUT (the source
     * stalls) or -EPROTO (the device does not keep to its protocol); logged, and the content is undefined
     * then. One call at a time.
     */
    int (*read)(struct device *dev, void *buffer, size_t size);
};

#endif
