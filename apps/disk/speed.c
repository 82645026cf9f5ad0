// SPDX-License-Identifier: MIT
/* How fast a disk is read from one end to the other. */
#include "disk.h"
#include "core/errno.h"
#include "core/test.h"
#include "core/util.h"
#include "hal/mem.h"
#include "hal/time.h"
#include <stdio.h>
#include <stdlib.h>

#define PASSES         5
#define BUFFER_SECTORS 8192u /* all that block_read() has in flight at once */

static int read_range(struct device *dev, struct range range, void *buffer)
{
    int error = 0;

    while (range.nsectors > 0 && !error) {
        uint64_t n = MIN(range.nsectors, (uint64_t)BUFFER_SECTORS);

        error = block_read(dev, range.sector, buffer, n);
        range.sector += n;
        range.nsectors -= n;
    }
    return error;
}

void command_speed(struct device *dev, struct range range)
{
    /* From a page's start: the host copies several times faster to there. */
    void *buffer = aligned_alloc(PAGE_SIZE, (size_t)BUFFER_SECTORS * BLOCK_SECTOR);
    uint64_t best = UINT64_MAX;
    int error = buffer ? 0 : -ENOMEM;

    for (int pass = 0; pass < PASSES && !error; pass++) {
        uint64_t start = time_now_ns();

        error = read_range(dev, range, buffer);
        best = MIN(best, time_now_ns() - start);
    }
    free(buffer);
    if (!error)
        printf("BENCH virtio_blk.read_gbps %.4g GB/s\n",
               (double)(range.nsectors * BLOCK_SECTOR) / (double)best);
    check(error == 0, "%s: read %llu sectors: %s", dev->name, (unsigned long long)range.nsectors,
          error_name(error));
}
