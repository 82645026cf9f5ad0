// SPDX-License-Identifier: MIT
/*
 * Split virtqueues (Virtual I/O Device Version 1.2, section 2.7): a table of descriptors, the ring of what
 * the driver made available, and the ring of what the device has used. Plain memory, no device: whoever owns
 * the queue tells the device where the parts are, and notifies it.
 *
 * The device is not trusted: what it writes to the used ring is checked against what is in flight, and
 * nothing that the driver relies on lies in memory that the device may write. One that lies breaks the queue,
 * and only virtqueue_cancel() works then, after the device was reset.
 */
#ifndef DRIVERS_VIRTIO_VIRTQUEUE_H
#define DRIVERS_VIRTIO_VIRTQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIRTQUEUE_MAX 32768u /* descriptors, section 2.7 */

/* A piece of memory that a device can reach (hal/dma.h). */
struct virtqueue_buffer {
    void *data;
    uint32_t size; /* bytes, not 0 */
};

struct virtqueue_slot;

struct virtqueue {
    uint16_t size; /* descriptors, a power of two; 0: not created */
    uint16_t free; /* descriptors not in use */
    uint16_t free_head;
    uint16_t in_flight;       /* chains that the device has */
    uint16_t available_index; /* counts chains made available, modulo 2^16 */
    uint16_t used_index;      /* counts chains taken back, modulo 2^16 */
    bool broken;
    struct virtqueue_slot *slots; /* what we know of each descriptor */
    struct virtq_desc *desc;      /* the parts that the device is told of, in pages of their own */
    struct virtq_avail *avail;
    struct virtq_used *used;
};

/*
 * An empty queue of `size` descriptors (a power of two up to VIRTQUEUE_MAX). Returns 0, -EINVAL or -ENOMEM.
 */
int virtqueue_create(struct virtqueue *vq, unsigned size);

/* Frees the queue, which the device no longer uses; virtqueue_take() says -EIO then. */
void virtqueue_destroy(struct virtqueue *vq);

/*
 * Makes one chain of buffers: `nread` that the device reads, then `nwrite` that it writes. It is handed over
 * by the next virtqueue_publish(). Until virtqueue_take() or virtqueue_cancel() gives `token` (not NULL)
 * back, the buffers are the device's. Returns 0, -EINVAL (no buffers, or more than the queue has
 * descriptors), -ENOSPC (not that many are free now) or -EIO (the queue is broken).
 */
int virtqueue_add(struct virtqueue *vq, const struct virtqueue_buffer *buffers, unsigned nread,
                  unsigned nwrite, void *token);

/* Lets the device see all added chains. Returns whether it wants to be notified. */
bool virtqueue_publish(struct virtqueue *vq);

/*
 * Takes one used chain back: its token, and how many bytes the device wrote to it. Returns 0, -EAGAIN (there
 * is none), -EPROTO (the device lied: logged, the queue is broken now) or -EIO (it was broken before).
 */
int virtqueue_take(struct virtqueue *vq, void **token, uint32_t *written);

/* After a reset of the device: the token of a chain that never came back, taken off the queue; NULL: none
 * left. */
void *virtqueue_cancel(struct virtqueue *vq);

#endif
