// SPDX-License-Identifier: MIT
/* Reads the file that it is started with: make run APP=data DATA=FILE. Says its size and checksum. */
#include "bus/device.h"
#include "core/errno.h"
#include "core/test.h"
#include "core/util.h"
#include "drivers/files.h"
#include <stdlib.h>
#include <string.h>

#define PART 1000 /* bytes */

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t checksum(const uint8_t *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* Parts from both ends and the limits, against the whole. */
static void check_parts(struct device *dev, const uint8_t *data, size_t size)
{
    const struct files_ops *ops = dev->ops;
    size_t part = MIN(size, (size_t)PART);
    uint8_t *buffer = calloc(1, PART);

    if (!buffer)
        return;
    check(ops->read(dev, "data", 0, buffer, part) == 0 && memcmp(buffer, data, part) == 0,
          "its first %zu bytes", part);
    check(ops->read(dev, "data", size - part, buffer, part) == 0 &&
              memcmp(buffer, data + size - part, part) == 0,
          "its last %zu bytes", part);
    check(ops->read(dev, "data", size, buffer, 1) == -ERANGE, "nothing is behind its end");
    check(ops->read(dev, "atad", 0, buffer, 0) == -ENOENT, "no other file is there");
    free(buffer);
}

int main(void)
{
    void *data;
    size_t size;
    int error = file_load("data", &data, &size);

    if (error == -ENOENT)
        fail("no file: run with DATA=FILE");
    else if (error)
        fail("data: %s", error_name(error));
    else {
        ok("%zu bytes, checksum %016llx", size, (unsigned long long)checksum(data, size));
        check(((char *)data)[size] == '\0', "a zero byte ends it");
        check_parts(device_get(DEVICE_FILES, 0), data, size);
    }
    free(data);
    return test_exit_code();
}
