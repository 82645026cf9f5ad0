// SPDX-License-Identifier: MIT
/*
 * Block devices: disks that are read and written in sectors of 512 bytes.
 *
 * The simple way: block_read() and its kind return when the work is done. The other way: a program keeps
 * several requests in flight with block_submit(), and waits for each when it needs it. Any number of threads
 * may do both at the same time; requests that overlap are done in any order.
 */
#ifndef DRIVERS_BLOCK_H
#define DRIVERS_BLOCK_H

#include "bus/device.h"
#include "core/list.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_SECTOR                                                                                         \
    512u /* bytes; the unit of all positions and counts here, whatever the device's own blocks */

struct block_info {
    uint64_t sectors;           /* capacity */
    uint32_t block_size;        /* bytes; requests begin and end at multiples of it */
    uint32_t max_sectors;       /* of one read or write request */
    uint32_t max_discard;       /* sectors of one discard request; 0: the device cannot discard */
    uint32_t discard_alignment; /* sectors; what is not aligned to it may be kept */
    bool read_only;
    bool can_flush;     /* false: what was written is durable as soon as the write is done */
    uint16_t cylinders; /* a made-up geometry for old partition tables; 0 where the device has none */
    uint8_t heads, sectors_per_track;
};

enum block_operation { BLOCK_READ, BLOCK_WRITE, BLOCK_FLUSH, BLOCK_DISCARD };

/* "read", "write", "flush", "discard" */
const char *block_operation_name(enum block_operation operation);

/*
 * A request. The caller fills in the first part; from block_submit() until `done` the request and its data
 * belong to the device.
 */
struct block_request {
    enum block_operation operation;
    uint64_t sector;   /* not for flush, as nsectors */
    uint32_t nsectors; /* not 0 */
    void *data;        /* read and write: nsectors * BLOCK_SECTOR bytes that a device can reach (hal/dma.h) */
    /*
     * Called right before it is done, with interrupts disabled, on any hart; may submit other requests,
     * unless this one was cancelled. NULL: nothing is called.
     */
    void (*complete)(struct block_request *request);
    void *owner; /* the caller's, for complete() */

    /* When done: 0, -EIO (the medium), -ENOTSUP, -ECANCELED (a reset), -ETIMEDOUT, -EPROTO (the device lied).
     */
    int result;
    bool done;             /* read it by block_is_done() */
    struct list_node node; /* the driver's */
};

/* Interface of a DEVICE_BLOCK device: what a driver implements. Callers use the functions below. */
struct block_ops {
    /* The device's properties; they stay as they are while it is bound. */
    const struct block_info *(*info)(struct device *dev);

    /* Starts a checked request, or queues it until there is room. Never fails: errors come as its result. */
    void (*submit)(struct device *dev, struct block_request *request);

    /* Returns when the request is done; after the driver's own time limit the device is reset, which ends it.
     */
    void (*wait)(struct device *dev, struct block_request *request);

    /* Resets the device; what is in flight ends with -ECANCELED. Returns 0 or a negative errno (logged). */
    int (*reset)(struct device *dev);
};

const struct block_info *block_info(struct device *dev);

/*
 * Starts `request`. Returns 0, or what is wrong with the request, which was not started then: -ERANGE
 * (outside the device), -EINVAL (no sectors, or not whole blocks), -E2BIG (more than max_sectors or
 * max_discard), -EROFS, -ENOTSUP (the device cannot discard), -EFAULT (data that no device can reach).
 */
int block_submit(struct device *dev, struct block_request *request);

bool block_is_done(const struct block_request *request);

/* Sleeps until the request is done. Returns its result. */
int block_wait(struct device *dev, struct block_request *request);

/*
 * Any number of sectors, in as many requests as it takes, several in flight; fastest when `data` begins with
 * a page, as the host copies to and from there. They return the first error (as block_submit() and the
 * request's result); then part of the data may have been transferred. A flush makes durable what was written
 * before. Discarded sectors read as anything until they are written again.
 */
int block_read(struct device *dev, uint64_t sector, void *data, uint64_t nsectors);
int block_write(struct device *dev, uint64_t sector, const void *data, uint64_t nsectors);
int block_flush(struct device *dev);
int block_discard(struct device *dev, uint64_t sector, uint64_t nsectors);

/* Resets the device; what is in flight ends with -ECANCELED. Returns 0 or a negative errno (logged). */
int block_reset(struct device *dev);

#endif
