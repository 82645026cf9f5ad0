// SPDX-License-Identifier: MIT
/* What disks are for. */
#include "disk.h"
#include "bus/pci.h"
#include "core/errno.h"
#include "core/format.h"
#include "core/test.h"
#include "core/util.h"
#include "hal/irq.h"
#include "hal/time.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void command_info(struct device *dev, struct range range)
{
    const struct block_info *info = block_info(dev);
    const struct pci_device *pdev = to_pci_device(dev);
    int error;

    (void)range;
    printf("%s: %s, %llu sectors, blocks of %u bytes, %s%s\n", dev->name,
           format_size(info->sectors * BLOCK_SECTOR).text, (unsigned long long)info->sectors,
           (unsigned)info->block_size, info->read_only ? "read-only" : "writable",
           info->can_flush ? ", write cache" : "");
    printf("%s: requests of at most %u sectors, discards of %u, aligned to %u\n", dev->name,
           (unsigned)info->max_sectors, (unsigned)info->max_discard, (unsigned)info->discard_alignment);
    printf("%s: geometry %u/%u/%u\n", dev->name, info->cylinders, info->heads, info->sectors_per_track);
    error = block_flush(dev);
    check(error == 0 || error == -EROFS, "%s: flush: %s", dev->name, error_name(error));
    check(irq_count(pci_irq_number(pdev, 0)) > 0, "%s: interrupts by %s", dev->name,
          pci_irq_mode_name(pci_irq_mode(pdev)));
}

void command_read(struct device *dev, struct range range)
{
    uint64_t *words = sectors_alloc(range.nsectors);
    int error = words ? block_read(dev, range.sector, words, range.nsectors) : 0;

    if (error)
        fail("%s: read: %s", dev->name, error_name(error));
    else if (words)
        pattern_check(words, range.sector, range.nsectors, dev->name);
    free(words);
}

static unsigned completed;

static void count_completed(struct block_request *request)
{
    (void)request;
    completed++;
}

/* Puts 0 … count - 1 in an order that jumps about: a stride that has no common divisor with a power of two.
 */
static uint64_t shuffled(uint64_t i, uint64_t count)
{
    return count % 2 == 0 ? i * (count / 2 + 1 + (count / 2) % 2) % count : i;
}

/* One request a sector, all in flight at once: more than the device's queue holds. */
static void read_each(struct device *dev, struct range range, struct block_request *requests, char *data)
{
    unsigned wrong = 0;

    completed = 0;
    for (uint64_t i = 0; i < range.nsectors; i++) {
        uint64_t at = shuffled(i, range.nsectors);

        requests[i] = (struct block_request){.sector = range.sector + at,
                                             .nsectors = 1,
                                             .data = data + at * BLOCK_SECTOR,
                                             .complete = count_completed};
        wrong += block_submit(dev, &requests[i]) != 0;
    }
    for (uint64_t i = 0; i < range.nsectors; i++)
        wrong += block_wait(dev, &requests[i]) != 0;
    check(wrong == 0 && completed == range.nsectors, "%s: %u of %llu requests completed, %u failed",
          dev->name, completed, (unsigned long long)range.nsectors, wrong);
}

void command_many(struct device *dev, struct range range)
{
    uint64_t *words = sectors_alloc(range.nsectors);
    struct block_request *requests = calloc(range.nsectors, sizeof(*requests));

    if (words && requests) {
        read_each(dev, range, requests, (char *)words);
        pattern_check(words, range.sector, range.nsectors, dev->name);
    }
    free(requests);
    free(words);
}

static int write_and_read_back(struct device *dev, struct range range, uint64_t *words)
{
    int error;

    pattern_fill(words, range.sector, range.nsectors);
    error = block_write(dev, range.sector, words, range.nsectors);
    if (!error)
        error = block_flush(dev);
    memset(words, 0, range.nsectors * BLOCK_SECTOR);
    return error ? error : block_read(dev, range.sector, words, range.nsectors);
}

void command_write(struct device *dev, struct range range)
{
    uint64_t *words = sectors_alloc(range.nsectors);
    int error = words ? write_and_read_back(dev, range, words) : 0;

    if (error)
        fail("%s: write: %s", dev->name, error_name(error));
    else if (words)
        pattern_check(words, range.sector, range.nsectors, dev->name);
    free(words);
}

void command_discard(struct device *dev, struct range range)
{
    int error = block_discard(dev, range.sector, range.nsectors);

    check(error == 0, "%s: discard of %llu sectors: %s", dev->name, (unsigned long long)range.nsectors,
          error_name(error));
}
