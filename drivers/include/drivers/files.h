// SPDX-License-Identifier: MIT
/*
 * Files that whoever starts the program hands to it, to be read whole or in parts. `make run APP=x DATA=FILE`
 * hands over one with the name "data"; further ones come by QEMU_ARGS='-fw_cfg name=opt/weft/NAME,file=FILE'.
 */
#ifndef DRIVERS_FILES_H
#define DRIVERS_FILES_H

#include "bus/device.h"
#include <stddef.h>
#include <stdint.h>

/* Interface of a DEVICE_FILES device. */
struct files_ops {
    /* *size = bytes of the file. Returns 0, -ENOENT (no such file) or -EIO (logged). */
    int (*size)(struct device *dev, const char *name, uint64_t *size);

    /*
     * Reads `size` bytes at byte `offset` to `buffer`, memory that a device can reach (hal/dma.h). Returns 0,
     * -ENOENT, -ERANGE (not all inside the file), -EFAULT (not such memory), -EIO or -ETIMEDOUT (both
     * logged).
     */
    int (*read)(struct device *dev, const char *name, uint64_t offset, void *buffer, size_t size);
};

/*
 * Reads the whole file `name` from the first device that has it. *data gets its *size bytes and a zero byte
 * behind them; the caller frees it. Returns 0, -ENOENT (nobody has it), -ENOMEM or the error of the device.
 * Both are cleared then.
 */
int file_load(const char *name, void **data, size_t *size);

#endif
