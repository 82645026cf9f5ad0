// SPDX-License-Identifier: MIT
/*
 * What drivers of virtio devices share: virtio over PCI, version 1.x ("modern"; Virtual I/O Device
 * Version 1.2, section 4.1). The life of a device:
 *
 *     virtio_open()                  find and map its structures, attach the interrupt
 *     virtio_start()                 reset, agree on features
 *     virtio_queue_start() …         one call a queue
 *     virtio_ready()                 from now on it takes requests
 *     virtio_reset()                 it uses no memory any more; again virtio_start(), or
 *     virtio_close()
 */
#ifndef DRIVERS_VIRTIO_VIRTIO_H
#define DRIVERS_VIRTIO_VIRTIO_H

#include "bus/pci.h"
#include "regs.h"
#include "virtqueue.h"

/* An id table entry for a device type: as a modern device, and as a transitional one (4.1.2.1, 4.1.3). */
#define VIRTIO_PCI_ID(type)          {.vendor = VIRTIO_VENDOR, .device = 0x1040 + (type)}
#define VIRTIO_PCI_ID_LEGACY(number) {.vendor = VIRTIO_VENDOR, .device = (number)}

struct virtio_device {
    struct pci_device *pdev;
    struct mmio common, notify, isr, config; /* the structures of 4.1.4; config may be absent */
    uint32_t notify_multiplier;
    uint64_t features; /* agreed on */
    irq_handler_t interrupt;
    void *interrupt_arg;
};

struct virtio_queue {
    struct virtqueue ring;
    uint16_t index;
    size_t doorbell; /* offset in `notify` */
};

/*
 * Prepares the device for virtio_start(). `interrupt`(arg) will be called for its queues; it must return at
 * once unless virtio_interrupted() says true. Returns 0, -ENODEV (a structure is missing: not a 1.x device)
 * or another negative errno; logged, nothing is left behind then.
 */
int virtio_open(struct virtio_device *virtio, struct pci_device *pdev, irq_handler_t interrupt, void *arg);

/* Undoes virtio_open(). The device is reset, and its queues are destroyed. */
void virtio_close(struct virtio_device *virtio);

/*
 * Resets the device and agrees on those of the `wanted` features (bits of section 6) that it has; the result
 * is in virtio->features. Returns 0, -ETIMEDOUT (it does not come out of reset) or -ENOTSUP (no version 1, or
 * it refuses); logged.
 */
int virtio_start(struct virtio_device *virtio, uint64_t wanted);

/*
 * Makes queue `index`, as large as the device has it but with at most `max` descriptors (a power of two).
 * The queue is the caller's, until virtqueue_destroy() after a reset. Returns 0, -ENOENT (no such queue),
 * -EPROTO (the device's size or doorbell is impossible) or -ENOMEM; logged.
 */
int virtio_queue_start(struct virtio_device *virtio, struct virtio_queue *queue, uint16_t index,
                       unsigned max);

/* The device may use its queues from now on. */
void virtio_ready(struct virtio_device *virtio);

/* Publishes what was added to the queue and rings the doorbell if the device wants that. */
void virtio_publish(struct virtio_device *virtio, struct virtio_queue *queue);

/* For interrupt handlers: has this device something in a queue? Ends the interrupt on a shared wire. */
bool virtio_interrupted(struct virtio_device *virtio);

/*
 * Stops the device: it uses no memory any more, whatever is returned. 0, or -ETIMEDOUT when it does not reset
 * within a second (logged): it is cut off from the bus then.
 */
int virtio_reset(struct virtio_device *virtio);

/* The device's status, for messages. */
unsigned virtio_status(const struct virtio_device *virtio);

/*
 * Reads the field of `size` (1, 2, 4 or 8) bytes at `offset` of the device's own configuration, all from one
 * version of it (2.5.1). A field beyond the end of the structure, as an older device has it, reads as 0.
 */
void virtio_config_read(const struct virtio_device *virtio, size_t offset, void *out, size_t size);

#endif
