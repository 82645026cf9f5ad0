// SPDX-License-Identifier: MIT
/* In a Linux process: the argument data=FILE says which file of the host is "data". */
#define LOG_MODULE "files"
#include "bus/driver.h"
#include "core/errno.h"
#include "core/log.h"
#include "drivers/files.h"
#include "hal/machine.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_file(const char *name, uint64_t *size)
{
    char path[PATH_MAX];
    struct stat status;
    int fd;

    if (strcmp(name, "data") != 0 || !machine_bootarg("data", path, sizeof(path)))
        return -ENOENT;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0) {
        log_error("%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -EIO;
    }
    *size = (uint64_t)status.st_size;
    return fd;
}

static int host_size(struct device *dev, const char *name, uint64_t *size)
{
    int fd = open_file(name, size);

    (void)dev;
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

static int read_all(int fd, uint64_t offset, char *buffer, size_t size)
{
    while (size > 0) {
        ssize_t got = pread(fd, buffer, size, (off_t)offset);

        if (got <= 0) {
            log_error("%zu bytes at %llu: %s", size, (unsigned long long)offset,
                      got < 0 ? strerror(errno) : "the file ends");
            return -EIO;
        }
        buffer += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

static int host_read(struct device *dev, const char *name, uint64_t offset, void *buffer, size_t size)
{
    uint64_t length = 0;
    int fd = open_file(name, &length);
    int error;

    (void)dev;
    if (fd < 0)
        return fd;
    error = offset > length || size > length - offset ? -ERANGE : read_all(fd, offset, buffer, size);
    close(fd);
    return error;
}

static const struct files_ops host_ops = {.size = host_size, .read = host_read};

static int host_probe(struct device *dev)
{
    dev->ops = &host_ops;
    return dev->number == 0 ? 0 : -ENODEV;
}

static void host_remove(struct device *dev)
{
    (void)dev;
}

PLATFORM_DRIVER(host_files) = {
    .name = "host_files", .class = DEVICE_FILES, .probe = host_probe, .remove = host_remove};
