/* SPDX-License-Identifier: MIT */
/* Private to this driver: qemu.c (probe), dma.c (copies), launch.c, queue.c,
 * wait_irq.c or wait_poll.c. */
#ifndef DRIVERS_GPGPU_QEMU_H
#define DRIVERS_GPGPU_QEMU_H

#include "bus/pci.h"
#include "core/util.h"
#include "../rv32.h"
#include "regs.h"

struct qemu_gpgpu_queue;

struct qemu_gpgpu {
    struct rv32_device rv32;
    struct pci_device *pdev;
    struct mmio regs;
    struct mmio vram;
    struct mmio doorbell;
    struct qemu_gpgpu_queue *queue; /* NULL: launches go through the registers */
    uint32_t queued;                /* descriptors put into it; counts on through 2^32 */
    uint32_t reported;              /* of which launch_ended() has told */
    uint32_t wanted;                /* the wait in progress is for as many; `reported`: for no launch */
    uint32_t sleeps;                /* waits still to come that do not look before they sleep */
    uint32_t sleeps_after_poll;     /* their number after the last look, 0 when it was not in vain */
    bool copying;                   /* a transfer has been started and copy_ended() has not told of its end */
    bool launch_news;               /* an interrupt came that may mean the end of a launch by registers ... */
    bool copy_news;                 /* ... or of the transfer; set by its handler */
};

static inline struct qemu_gpgpu *to_qemu(struct rv32_device *dev)
{
    return container_of(dev, struct qemu_gpgpu, rv32);
}

static inline uint32_t reg_read(const struct qemu_gpgpu *q, size_t reg)
{
    return mmio_read32(&q->regs, reg);
}

static inline void reg_write(const struct qemu_gpgpu *q, size_t reg, uint32_t value)
{
    mmio_write32(&q->regs, reg, value);
}

/* A 64-bit register pair whose low half is at lo. */
static inline void reg_write_pair(const struct qemu_gpgpu *q, size_t lo, uint64_t value)
{
    reg_write(q, lo, (uint32_t)value);
    reg_write(q, lo + 4, (uint32_t)(value >> 32));
}

/* Stop whatever runs and bring the device to its enabled, idle state. Its memory is kept. -ETIMEDOUT when it
 * does not become ready (logged). */
int qemu_gpgpu_reset(struct qemu_gpgpu *q);

/* Log the registers that tell what hangs, then reset; for the port. */
void qemu_gpgpu_give_up(struct rv32_device *dev);

/* Copies, for the port. */
void qemu_gpgpu_write(struct rv32_device *dev, uint64_t dst, const void *src, size_t size);
int qemu_gpgpu_copy(struct rv32_device *dev, const struct rv32_copy *copy);
int qemu_gpgpu_copy_ended(struct rv32_device *dev);

/* Launches through the registers, one at a time, for the port. */
int qemu_gpgpu_start(struct rv32_device *dev, const struct rv32_start *start, bool chained);
int qemu_gpgpu_launch_ended(struct rv32_device *dev, const struct rv32_start *start,
                            struct gpgpu_fault *fault);
int qemu_gpgpu_wait(struct rv32_device *dev, unsigned launches);

/* The same through the queue, while it is attached. */
int qemu_gpgpu_queue_start(struct rv32_device *dev, const struct rv32_start *start, bool chained);
int qemu_gpgpu_queue_ended(struct rv32_device *dev, const struct rv32_start *start,
                           struct gpgpu_fault *fault);
int qemu_gpgpu_queue_wait(struct rv32_device *dev, unsigned launches);

/* Give the device a queue. 0, -ENOMEM, -EIO (logged) or the error of mapping the doorbells. */
int qemu_gpgpu_queue_attach(struct qemu_gpgpu *q);
void qemu_gpgpu_queue_detach(struct qemu_gpgpu *q);

/* After a reset of the device: give it the queue again, if it had one. 0 or -EIO. */
int qemu_gpgpu_queue_reset(struct qemu_gpgpu *q);

/* Whether `wanted` descriptors are complete. */
bool qemu_gpgpu_queue_reached(const struct qemu_gpgpu *q);

/* Whether what a wait is for may have ended: launches up to `wanted`, or the transfer. */
bool qemu_gpgpu_something_ended(struct qemu_gpgpu *q);

/* ---- waiting, one of two ways ----------------------------------------------------------------------------
 */

/* Make the device tell when work ends; called after each reset. */
int qemu_gpgpu_wait_attach(struct qemu_gpgpu *q);
void qemu_gpgpu_wait_detach(struct qemu_gpgpu *q);
void qemu_gpgpu_wait_arm(struct qemu_gpgpu *q);

/* Whether a launch by registers, or the transfer, may have ended: then its status register tells. */
bool qemu_gpgpu_launch_news(struct qemu_gpgpu *q);
bool qemu_gpgpu_copy_news(struct qemu_gpgpu *q);

/* Sleep until qemu_gpgpu_something_ended(). 0 or -ETIMEDOUT. */
int qemu_gpgpu_sleep(struct qemu_gpgpu *q);

#endif
