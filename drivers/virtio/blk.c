// SPDX-License-Identifier: MIT
/* Disks of the host. */
#define LOG_MODULE "virtio_blk"
#include "blk.h"
#include "virtio.h"
#include "bus/driver.h"
#include "core/errno.h"
#include "core/format.h"
#include "core/log.h"
#include "core/math.h"
#include "core/trace.h"
#include "core/util.h"
#include "drivers/block.h"
#include "hal/cpu.h"
#include "hal/spinlock.h"
#include "hal/thread.h"
#include "hal/time.h"
#include <stdlib.h>

#define BLK_BUFFERS     3u /* descriptors of a request at most: header, data, status */
#define BLK_DESCRIPTORS 256u
#define BLK_MAX_BYTES   (UINT32_C(1) << 30) /* of a request; its length with the status fits in 32 bits */

/* A request that the device has. */
struct blk_slot {
    struct blk_header header;
    struct blk_discard discard;
    uint8_t status;
    struct block_request *request;
    struct list_node node; /* in `free` */
};

enum blk_state {
    BLK_STOPPED, /* not started yet, or in the middle of a reset: requests wait */
    BLK_RUNNING,
    BLK_BROKEN, /* the device lied, or did not start: only a reset helps */
};

/* Any number of threads submit and wait. Requests end outside of `lock`, so that complete() may submit
 * others. */
struct virtio_blk {
    struct device *dev;
    struct virtio_device virtio;
    struct block_info info;
    struct mutex resets;  /* one at a time */
    struct spinlock lock; /* of all that follows; the interrupt handler takes it too */
    enum blk_state state;
    struct virtio_queue queue;
    struct blk_slot *slots;
    struct list_node free;    /* slots */
    struct list_node backlog; /* requests that wait for a slot */
};

/* --- starting requests; the lock is held --- */

/* Fills in the buffers between header and status. Returns how many the device reads, and in *nwrite writes.
 */
static unsigned data_buffers(struct blk_slot *slot, struct virtqueue_buffer *buffer, unsigned *nwrite)
{
    const struct block_request *request = slot->request;

    *nwrite = request->operation == BLOCK_READ;
    switch (request->operation) {
    case BLOCK_READ:
    case BLOCK_WRITE:
        *buffer = (struct virtqueue_buffer){request->data, request->nsectors * BLOCK_SECTOR};
        return request->operation == BLOCK_WRITE;
    case BLOCK_DISCARD:
        slot->discard = (struct blk_discard){.sector = request->sector, .nsectors = request->nsectors};
        *buffer = (struct virtqueue_buffer){&slot->discard, sizeof(slot->discard)};
        return 1;
    case BLOCK_FLUSH:
        break;
    }
    return 0;
}

static void start(struct virtio_blk *blk, struct block_request *request)
{
    static const uint32_t types[] = {
        [BLOCK_READ] = BLK_T_IN,
        [BLOCK_WRITE] = BLK_T_OUT,
        [BLOCK_FLUSH] = BLK_T_FLUSH,
        [BLOCK_DISCARD] = BLK_T_DISCARD,
    };
    struct blk_slot *slot = list_first(&blk->free, struct blk_slot, node);
    struct virtqueue_buffer buffers[BLK_BUFFERS] = {{&slot->header, sizeof(slot->header)}};
    unsigned nread, nwrite;

    list_remove(&slot->node);
    slot->request = request;
    slot->status = BLK_S_PENDING;
    slot->header = (struct blk_header){
        .type = types[request->operation],
        .sector =
            request->operation == BLOCK_FLUSH || request->operation == BLOCK_DISCARD ? 0 : request->sector,
    };
    nread = 1 + data_buffers(slot, &buffers[1], &nwrite);
    buffers[nread + nwrite] = (struct virtqueue_buffer){&slot->status, sizeof(slot->status)};
    /* Cannot fail: there are descriptors for every slot, and a broken queue starts nothing. */
    virtqueue_add(&blk->queue.ring, buffers, nread, nwrite + 1, slot);
}

static void start_backlog(struct virtio_blk *blk)
{
    bool any = false;

    while (blk->state == BLK_RUNNING && !list_empty(&blk->free) && !list_empty(&blk->backlog)) {
        struct block_request *request = list_first(&blk->backlog, struct block_request, node);

        list_remove(&request->node);
        start(blk, request);
        any = true;
    }
    if (any)
        virtio_publish(&blk->virtio, &blk->queue);
}

/* --- ending requests: collected under the lock, finished without it --- */

static void end_request(struct block_request *request, int result, struct list_node *ended)
{
    request->result = result;
    list_add_tail(ended, &request->node);
}

static void end_slot(struct virtio_blk *blk, struct blk_slot *slot, int result, struct list_node *ended)
{
    end_request(slot->request, result, ended);
    slot->request = NULL;
    list_add_tail(&blk->free, &slot->node);
}

static int result_of(const struct blk_slot *slot, uint32_t written)
{
    bool read = slot->request->operation == BLOCK_READ;

    switch (slot->status) {
    case BLK_S_OK: /* the status comes last: all data was written before it */
        return read && written != slot->request->nsectors * BLOCK_SECTOR + 1 ? -EPROTO : 0;
    case BLK_S_IOERR:
        return -EIO;
    case BLK_S_UNSUPP:
        return -ENOTSUP;
    default:
        return -EPROTO;
    }
}

static void end_used(struct virtio_blk *blk, struct list_node *ended)
{
    uint32_t written = 0;
    void *token;
    int error;

    while ((error = virtqueue_take(&blk->queue.ring, &token, &written)) == 0)
        end_slot(blk, token, result_of(token, written), ended);
    if (error != -EAGAIN)
        blk->state = BLK_BROKEN;
}

/* The device uses no memory any more: everything it had, and what waited, ends. */
static void end_all(struct virtio_blk *blk, struct list_node *ended)
{
    struct blk_slot *slot;

    while ((slot = virtqueue_cancel(&blk->queue.ring)) != NULL)
        end_slot(blk, slot, -ECANCELED, ended);
    while (!list_empty(&blk->backlog)) {
        struct block_request *request = list_first(&blk->backlog, struct block_request, node);

        list_remove(&request->node);
        end_request(request, -ECANCELED, ended);
    }
}

/* Interrupts are disabled. Once it is done the request may be gone: that comes last. */
static void finish(struct virtio_blk *blk, struct block_request *request)
{
    int result = request->result;

    if (result && result != -ECANCELED)
        log_error("%s: %s of %u sectors at %llu: %s", blk->dev->name,
                  block_operation_name(request->operation), (unsigned)request->nsectors,
                  (unsigned long long)request->sector, error_name(result));
    trace_async_end("block", block_operation_name(request->operation), request, (uint64_t)result);
    if (request->complete)
        request->complete(request);
    __atomic_store_n(&request->done, true, __ATOMIC_RELEASE);
}

static void finish_all(struct virtio_blk *blk, struct list_node *ended)
{
    while (!list_empty(ended)) {
        struct block_request *request = list_first(ended, struct block_request, node);

        list_remove(&request->node);
        finish(blk, request);
    }
}

static void blk_interrupt(void *arg)
{
    struct virtio_blk *blk = arg;
    struct list_node ended = LIST_INIT(ended);

    if (!virtio_interrupted(&blk->virtio))
        return;
    spin_lock(&blk->lock);
    if (blk->state == BLK_RUNNING)
        end_used(blk, &ended);
    start_backlog(blk);
    spin_unlock(&blk->lock);
    finish_all(blk, &ended);
}

/* --- starting and stopping --- */

static int allocate_slots(struct virtio_blk *blk)
{
    unsigned count = blk->queue.ring.size / BLK_BUFFERS;

    list_init(&blk->free);
    if (count == 0) {
        log_error("pci %s: queue of %u descriptors is too short", blk->dev->address, blk->queue.ring.size);
        return -EPROTO;
    }
    blk->slots = calloc(count, sizeof(*blk->slots));
    if (!blk->slots)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++)
        list_add_tail(&blk->free, &blk->slots[i].node);
    return 0;
}

static int start_device(struct virtio_blk *blk)
{
    int error = virtio_start(&blk->virtio, BLK_F_SIZE_MAX | BLK_F_GEOMETRY | BLK_F_RO | BLK_F_BLK_SIZE |
                                               BLK_F_FLUSH | BLK_F_DISCARD);

    if (!error)
        error = virtio_queue_start(&blk->virtio, &blk->queue, 0, BLK_DESCRIPTORS);
    if (!error)
        error = allocate_slots(blk);
    if (!error)
        virtio_ready(&blk->virtio);
    return error;
}

static void set_state(struct virtio_blk *blk, enum blk_state state)
{
    unsigned long flags = spin_lock_irq(&blk->lock);

    blk->state = state;
    start_backlog(blk);
    spin_unlock_irq(&blk->lock, flags);
}

static int blk_start(struct virtio_blk *blk)
{
    int error = start_device(blk);

    set_state(blk, error ? BLK_BROKEN : BLK_RUNNING);
    return error;
}

/* Stopped, nobody but this looks at the queue. */
static void blk_stop(struct virtio_blk *blk)
{
    struct list_node ended = LIST_INIT(ended);
    unsigned long flags;

    set_state(blk, BLK_STOPPED);
    virtio_reset(&blk->virtio);
    flags = spin_lock_irq(&blk->lock);
    end_all(blk, &ended);
    spin_unlock(&blk->lock);
    finish_all(blk, &ended);
    cpu_irq_restore(flags);
    virtqueue_destroy(&blk->queue.ring);
    free(blk->slots);
    blk->slots = NULL;
}

/* --- properties --- */

static bool has(const struct virtio_blk *blk, uint64_t feature)
{
    return blk->virtio.features & feature;
}

static void read_geometry(struct virtio_blk *blk)
{
    const struct virtio_device *virtio = &blk->virtio;

    virtio_config_read(virtio, BLK_CYLINDERS, &blk->info.cylinders, 2);
    virtio_config_read(virtio, BLK_HEADS, &blk->info.heads, 1);
    virtio_config_read(virtio, BLK_SECTORS, &blk->info.sectors_per_track, 1);
}

static void read_discard(struct virtio_blk *blk)
{
    struct block_info *info = &blk->info;

    virtio_config_read(&blk->virtio, BLK_MAX_DISCARD, &info->max_discard, 4);
    virtio_config_read(&blk->virtio, BLK_DISCARD_ALIGNMENT, &info->discard_alignment, 4);
    info->max_discard = (uint32_t)align_down(info->max_discard, info->block_size / BLOCK_SECTOR);
}

static int read_info(struct virtio_blk *blk)
{
    struct block_info *info = &blk->info;
    uint32_t max_bytes = BLK_MAX_BYTES;

    *info = (struct block_info){
        .block_size = BLOCK_SECTOR, .read_only = has(blk, BLK_F_RO), .can_flush = has(blk, BLK_F_FLUSH)};
    virtio_config_read(&blk->virtio, BLK_CAPACITY, &info->sectors, 8);
    if (has(blk, BLK_F_BLK_SIZE))
        virtio_config_read(&blk->virtio, BLK_BLK_SIZE, &info->block_size, 4);
    if (has(blk, BLK_F_SIZE_MAX))
        virtio_config_read(&blk->virtio, BLK_SIZE_MAX, &max_bytes, 4);
    max_bytes = MIN(max_bytes, BLK_MAX_BYTES);
    if (!is_power_of_two(info->block_size) || info->block_size < BLOCK_SECTOR ||
        info->block_size > max_bytes) {
        log_error("pci %s: blocks of %u bytes, requests of at most %u", blk->dev->address,
                  (unsigned)info->block_size, (unsigned)max_bytes);
        return -EPROTO;
    }
    info->max_sectors = (uint32_t)align_down(max_bytes, info->block_size) / BLOCK_SECTOR;
    if (has(blk, BLK_F_GEOMETRY))
        read_geometry(blk);
    if (has(blk, BLK_F_DISCARD))
        read_discard(blk);
    return 0;
}

/* --- the class's interface --- */

static const struct block_info *blk_info(struct device *dev)
{
    const struct virtio_blk *blk = dev->priv;

    return &blk->info;
}

static void blk_submit(struct device *dev, struct block_request *request)
{
    struct virtio_blk *blk = dev->priv;
    bool nothing_to_do = request->operation == BLOCK_FLUSH && !blk->info.can_flush; /* no volatile cache */
    unsigned long flags = spin_lock_irq(&blk->lock);

    request->result = 0;
    if (!nothing_to_do)
        list_add_tail(&blk->backlog, &request->node);
    start_backlog(blk);
    spin_unlock(&blk->lock);
    if (nothing_to_do)
        finish(blk, request);
    cpu_irq_restore(flags);
}

struct wait {
    const struct virtio_blk *blk;
    const struct block_request *request;
};

static bool is_done_or_broken(void *arg)
{
    const struct wait *wait = arg;

    return block_is_done(wait->request) || __atomic_load_n(&wait->blk->state, __ATOMIC_RELAXED) == BLK_BROKEN;
}

/* Ends what others wait for too, and no interrupt tells them. */
static int reset_locked(struct virtio_blk *blk)
{
    int error;

    blk_stop(blk);
    error = blk_start(blk);
    wait_recheck();
    return error;
}

static int blk_reset(struct device *dev)
{
    struct virtio_blk *blk = dev->priv;
    int error;

    mutex_lock(&blk->resets);
    error = reset_locked(blk);
    mutex_unlock(&blk->resets);
    return error;
}

static void log_timeout(const struct virtio_blk *blk, const struct block_request *request)
{
    log_error("%s: %s of %u sectors at %llu: no answer after %u ms, %u in flight, status %#x: reset",
              blk->dev->name, block_operation_name(request->operation), (unsigned)request->nsectors,
              (unsigned long long)request->sector, CONFIG_VIRTIO_BLK_TIMEOUT_MS, blk->queue.ring.in_flight,
              virtio_status(&blk->virtio));
}

/* The reset ends the request as cancelled; what ended it in truth is known here. A request that another
 * thread's reset ended while this one waited for the mutex stays cancelled. */
static void blk_wait(struct device *dev, struct block_request *request)
{
    struct virtio_blk *blk = dev->priv;
    struct wait wait = {blk, request};
    int error = wait_until(is_done_or_broken, &wait, deadline_in_ms(CONFIG_VIRTIO_BLK_TIMEOUT_MS));

    if (block_is_done(request))
        return;
    mutex_lock(&blk->resets);
    if (!block_is_done(request)) {
        if (error)
            log_timeout(blk, request);
        reset_locked(blk);
        request->result = error ? error : -EPROTO;
    }
    mutex_unlock(&blk->resets);
}

static const struct block_ops blk_ops = {
    .info = blk_info, .submit = blk_submit, .wait = blk_wait, .reset = blk_reset};

/* --- the driver --- */

static int blk_begin(struct virtio_blk *blk)
{
    int error = virtio_open(&blk->virtio, to_pci_device(blk->dev), blk_interrupt, blk);

    if (error)
        return error;
    error = blk_start(blk);
    if (!error)
        error = read_info(blk);
    if (error) {
        blk_stop(blk);
        virtio_close(&blk->virtio);
    }
    return error;
}

static int blk_probe(struct device *dev)
{
    struct virtio_blk *blk = calloc(1, sizeof(*blk));
    int error;

    if (!blk)
        return -ENOMEM;
    blk->dev = dev;
    mutex_init(&blk->resets);
    list_init(&blk->backlog);
    list_init(&blk->free);
    error = blk_begin(blk);
    if (error) {
        free(blk);
        return error;
    }
    dev->ops = &blk_ops;
    dev->priv = blk;
    log_info("pci %s: %s%s", dev->address, format_size(blk->info.sectors * BLOCK_SECTOR).text,
             blk->info.read_only ? ", read-only" : "");
    return 0;
}

static void blk_remove(struct device *dev)
{
    struct virtio_blk *blk = dev->priv;

    blk_stop(blk);
    virtio_close(&blk->virtio);
    free(blk);
}

static const struct pci_id blk_ids[] = {VIRTIO_PCI_ID(BLK_TYPE), VIRTIO_PCI_ID_LEGACY(BLK_LEGACY), {0}};

PCI_DRIVER(virtio_blk) = {
    .name = "virtio_blk", .class = DEVICE_BLOCK, .ids = blk_ids, .probe = blk_probe, .remove = blk_remove};
