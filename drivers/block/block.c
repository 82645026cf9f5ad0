// SPDX-License-Identifier: MIT
/* What all block devices share: checks, and long transfers as several requests. */
#include "drivers/block.h"
#include "core/errno.h"
#include "core/math.h"
#include "core/trace.h"
#include "core/util.h"
#include "hal/dma.h"

/* Long transfers: so many requests in flight, of so many sectors. Small enough to overlap, large enough that
 * the cost of a request does not show. */
#define DEPTH         4u
#define CHUNK_SECTORS 2048u

const char *block_operation_name(enum block_operation operation)
{
    static const char *const names[] = {"read", "write", "flush", "discard"};

    return names[operation];
}

static const struct block_ops *ops(struct device *dev)
{
    return dev->ops;
}

const struct block_info *block_info(struct device *dev)
{
    return ops(dev)->info(dev);
}

static int check_range(const struct block_info *info, const struct block_request *request, uint32_t max)
{
    uint32_t block = info->block_size / BLOCK_SECTOR;

    if (!range_inside(request->sector, request->nsectors, 0, info->sectors))
        return -ERANGE;
    if (request->nsectors == 0 || request->sector % block != 0 || request->nsectors % block != 0)
        return -EINVAL;
    return request->nsectors > max ? -E2BIG : 0;
}

static int check_data(const struct block_request *request)
{
    return dma_able(request->data, (size_t)request->nsectors * BLOCK_SECTOR) ? 0 : -EFAULT;
}

static int check(const struct block_info *info, const struct block_request *request)
{
    int error;

    if (request->operation == BLOCK_FLUSH)
        return 0;
    if (request->operation != BLOCK_READ && info->read_only)
        return -EROFS;
    if (request->operation == BLOCK_DISCARD)
        return info->max_discard == 0 ? -ENOTSUP : check_range(info, request, info->max_discard);
    error = check_range(info, request, info->max_sectors);
    return error ? error : check_data(request);
}

int block_submit(struct device *dev, struct block_request *request)
{
    int error = check(block_info(dev), request);

    if (error)
        return error;
    request->done = false;
    trace_async_begin("block", block_operation_name(request->operation), request, request->nsectors);
    ops(dev)->submit(dev, request);
    return 0;
}

bool block_is_done(const struct block_request *request)
{
    return __atomic_load_n(&request->done, __ATOMIC_ACQUIRE);
}

int block_wait(struct device *dev, struct block_request *request)
{
    if (!block_is_done(request))
        ops(dev)->wait(dev, request);
    return request->result;
}

/* A transfer in pieces: requests[i % DEPTH] for i from `finished` to `started` are in flight. */
struct transfer {
    struct block_request next; /* the piece to start next; nsectors is its greatest length */
    uint64_t left;             /* sectors not started */
    unsigned started, finished;
    int error; /* the first one */
    struct block_request requests[DEPTH];
};

static void start_piece(struct device *dev, struct transfer *t)
{
    struct block_request *request = &t->requests[t->started % DEPTH];

    *request = t->next;
    request->nsectors = (uint32_t)MIN(t->left, (uint64_t)t->next.nsectors);
    t->error = block_submit(dev, request);
    if (t->error)
        return;
    t->started++;
    t->left -= request->nsectors;
    t->next.sector += request->nsectors;
    if (t->next.data)
        t->next.data = (char *)t->next.data + (size_t)request->nsectors * BLOCK_SECTOR;
}

static void finish_piece(struct device *dev, struct transfer *t)
{
    int error = block_wait(dev, &t->requests[t->finished++ % DEPTH]);

    if (!t->error)
        t->error = error;
}

static int transfer(struct device *dev, struct transfer *t)
{
    if (!range_inside(t->next.sector, t->left, 0, block_info(dev)->sectors))
        return -ERANGE;
    while (t->started != t->finished || (t->left > 0 && !t->error))
        if (t->left > 0 && !t->error && t->started - t->finished < DEPTH)
            start_piece(dev, t);
        else
            finish_piece(dev, t);
    return t->error;
}

static int read_or_write(struct device *dev, enum block_operation operation, uint64_t sector, void *data,
                         uint64_t nsectors)
{
    const struct block_info *info = block_info(dev);
    uint32_t chunk = MAX(CHUNK_SECTORS, info->block_size / BLOCK_SECTOR);
    uint32_t most = MIN(info->max_sectors, chunk);
    struct transfer t = {
        .next = {.operation = operation, .sector = sector, .nsectors = most, .data = data},
        .left = nsectors,
    };

    return transfer(dev, &t);
}

int block_read(struct device *dev, uint64_t sector, void *data, uint64_t nsectors)
{
    return read_or_write(dev, BLOCK_READ, sector, data, nsectors);
}

int block_write(struct device *dev, uint64_t sector, const void *data, uint64_t nsectors)
{
    return read_or_write(dev, BLOCK_WRITE, sector, (void *)(uintptr_t)data, nsectors);
}

int block_discard(struct device *dev, uint64_t sector, uint64_t nsectors)
{
    struct transfer t = {
        .next = {.operation = BLOCK_DISCARD, .sector = sector, .nsectors = block_info(dev)->max_discard},
        .left = nsectors,
    };

    if (t.next.nsectors == 0)
        return block_info(dev)->read_only ? -EROFS : -ENOTSUP;
    return transfer(dev, &t);
}

int block_flush(struct device *dev)
{
    struct block_request request = {.operation = BLOCK_FLUSH};
    int error = block_submit(dev, &request);

    return error ? error : block_wait(dev, &request);
}

int block_reset(struct device *dev)
{
    return ops(dev)->reset(dev);
}
