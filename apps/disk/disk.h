// SPDX-License-Identifier: MIT
#ifndef APPS_DISK_DISK_H
#define APPS_DISK_DISK_H

#include "drivers/block.h"

/* The arguments of a command: app.args="read 0 2048" has sector 0 and 2048 sectors. */
struct range {
    uint64_t sector;
    uint64_t nsectors;
    uint64_t seed; /* of commands that do random things */
};

/*
 * pattern.c: each 64-bit word of a disk holds its own number, counted from the start of the disk. So a sector
 * that comes from, or goes to, a wrong place is noticed.
 */
void pattern_fill(uint64_t *words, uint64_t sector, uint64_t nsectors);

/* ok() or fail(): do the `nsectors` hold the pattern? */
void pattern_check(const uint64_t *words, uint64_t sector, uint64_t nsectors, const char *what);

/* Memory for `nsectors`; NULL after a fail(). The caller frees it. */
void *sectors_alloc(uint64_t nsectors);

/* The commands; each says ok() or fail(). transfer.c: */
void command_info(struct device *dev, struct range range);
void command_read(struct device *dev, struct range range);
void command_many(struct device *dev, struct range range);
void command_write(struct device *dev, struct range range);
void command_discard(struct device *dev, struct range range);

/* share.c, with threads: */
void command_share(struct device *dev, struct range range);

/* speed.c: */
void command_speed(struct device *dev, struct range range);

/* trouble.c: */
void command_readonly(struct device *dev, struct range range);
void command_limits(struct device *dev, struct range range);
void command_error(struct device *dev, struct range range);
void command_timeout(struct device *dev, struct range range);
void command_reset(struct device *dev, struct range range);
void command_unbind(struct device *dev, struct range range);

#endif
