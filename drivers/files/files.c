// SPDX-License-Identifier: MIT
#include "drivers/files.h"
#include "core/errno.h"
#include <stdlib.h>

static int load_from(struct device *dev, const char *name, char **data, uint64_t *size)
{
    const struct files_ops *ops = dev->ops;
    int error = ops->size(dev, name, size);

    if (error)
        return error;
    *data = *size < SIZE_MAX ? malloc(*size + 1) : NULL;
    if (!*data)
        return -ENOMEM;
    (*data)[*size] = '\0';
    error = ops->read(dev, name, 0, *data, *size);
    if (error)
        free(*data);
    return error;
}

int file_load(const char *name, void **data, size_t *size)
{
    char *bytes = NULL;
    uint64_t length = 0;
    int error = -ENOENT;

    for (unsigned i = 0; error == -ENOENT && i < device_count(DEVICE_FILES); i++)
        error = load_from(device_get(DEVICE_FILES, i), name, &bytes, &length);
    *data = error ? NULL : bytes;
    *size = error ? 0 : (size_t)length;
    return error;
}
