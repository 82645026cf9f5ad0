// SPDX-License-Identifier: MIT
/* What may go wrong with disks. */
#include "disk.h"
#include "core/errno.h"
#include "core/test.h"
#include "core/util.h"
#include <stdlib.h>
#include <string.h>

static void expect(struct device *dev, int error, int expected, const char *what)
{
    check(error == expected, "%s: %s: %s", dev->name, what, error_name(error));
}

void command_readonly(struct device *dev, struct range range)
{
    char *data = sectors_alloc(1);

    check(block_info(dev)->read_only, "%s: is read-only", dev->name);
    expect(dev, block_write(dev, range.sector, data, 1), -EROFS, "write");
    expect(dev, block_discard(dev, range.sector, 1), -EROFS, "discard");
    free(data);
    command_read(dev, range);
}

/* Requests that must not reach the device. */
void command_limits(struct device *dev, struct range range)
{
    uint64_t end = block_info(dev)->sectors;
    uint32_t block = block_info(dev)->block_size / BLOCK_SECTOR;
    char *data = sectors_alloc(2 * block);

    expect(dev, block_read(dev, end, data, block), -ERANGE, "read behind the end");
    expect(dev, block_read(dev, end - block, data, 2 * block), -ERANGE, "read across the end");
    expect(dev, block_read(dev, UINT64_MAX, data, block), -ERANGE, "read at the last number");
    expect(dev, block_write(dev, end, data, block), -ERANGE, "write behind the end");
    expect(dev, block_read(dev, 0, (void *)16, block), -EFAULT, "read to where no memory is");
    expect(dev, block_read(dev, end - block, data, block), 0, "read of the last block");
    expect(dev, block_read(dev, end, data, 0), 0, "read of nothing");
    expect(dev, block_submit(dev, &(struct block_request){.data = data}), -EINVAL, "request for nothing");
    if (block > 1) {
        expect(dev, block_read(dev, 1, data, block), -EINVAL, "read from within a block");
        expect(dev, block_read(dev, 0, data, 1), -EINVAL, "read of a part of a block");
    }
    free(data);
    command_read(dev, range);
}

/* A disk whose sector range.sector is bad: an error there, and the others are well. */
void command_error(struct device *dev, struct range range)
{
    uint64_t *words = sectors_alloc(1);
    struct range rest = {.sector = range.sector + 1, .nsectors = range.nsectors - 1};

    expect(dev, block_read(dev, range.sector, words, 1), -EIO, "read of the bad sector");
    free(words);
    command_read(dev, rest);
}

/* A disk that is slower than the driver's time limit. */
void command_timeout(struct device *dev, struct range range)
{
    uint64_t *words = sectors_alloc(1);
    int error = 0;

    for (unsigned i = 0; i < 10 && !error; i++)
        error = block_read(dev, range.sector, words, 1);
    expect(dev, error, -ETIMEDOUT, "a read that takes too long");
    free(words);
}

static unsigned count_results(struct device *dev, struct block_request *requests, size_t count, int result)
{
    unsigned n = 0;

    for (size_t i = 0; i < count; i++)
        n += block_wait(dev, &requests[i]) == result;
    return n;
}

/* Starts reads, more than the queue has room for, and calls stop() with them in flight. */
static void stop_in_flight(struct device *dev, struct range range, int (*stop)(struct device *dev),
                           char *data)
{
    static struct block_request requests[200];
    unsigned done, cancelled;
    int error = 0;

    for (size_t i = 0; i < ARRAY_SIZE(requests) && !error; i++) {
        requests[i] = (struct block_request){.sector = range.sector, .nsectors = 8, .data = data + i * 4096};
        error = block_submit(dev, &requests[i]);
    }
    check(error == 0, "%s: %zu requests are submitted: %s", dev->name, ARRAY_SIZE(requests),
          error_name(error));
    error = stop(dev);
    done = count_results(dev, requests, ARRAY_SIZE(requests), 0);
    cancelled = count_results(dev, requests, ARRAY_SIZE(requests), -ECANCELED);
    check(error == 0 && cancelled > 0 && done + cancelled == ARRAY_SIZE(requests),
          "%s: %s with requests in flight: %s", dev->name, stop == block_reset ? "reset" : "unbind and bind",
          error_name(error));
}

static int bind_again(struct device *dev)
{
    device_unbind(dev);
    return device_bind(dev);
}

static void stop_and_read(struct device *dev, struct range range, int (*stop)(struct device *dev))
{
    char *data = sectors_alloc(200 * 8);

    if (data)
        stop_in_flight(dev, range, stop, data);
    free(data);
    command_read(dev, range);
}

void command_reset(struct device *dev, struct range range)
{
    stop_and_read(dev, range, block_reset);
}

void command_unbind(struct device *dev, struct range range)
{
    stop_and_read(dev, range, bind_again);
}
