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
    struct rv32_port port;
    struct pci_device *pdev;
    struct mmio regs;
    struct mmio vram;
    struct mmio doorbell;
    struct qemu_gpgpu_queue *queue; /* NULL: launches go through the registers */
    uint32_t queued;                /* descriptors put into it; counts on through 2^32 */
    uint32_t sleeps;                /* waits still to come that do not look before they sleep */
    uint32_t sleeps_after_poll;     /* their number after the last look, 0 when it was not in vain */
    uint32_t events;                /* IRQ_* seen and not yet consumed; set by the interrupt handler */
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

/* Log what went wrong with the registers that tell about it, then reset. */
void qemu_gpgpu_give_up(struct qemu_gpgpu *q, const char *what);

/* Copies, for the port. */
int qemu_gpgpu_write(struct rv32_device *dev, uint64_t dst, const void *src, size_t size);
int qemu_gpgpu_read(struct rv32_device *dev, void *dst, uint64_t src, size_t size);
int qemu_gpgpu_copy(struct rv32_device *dev, uint64_t dst, uint64_t src, size_t size);

/* Launches, for the port. */
int qemu_gpgpu_start(struct rv32_device *dev, const struct rv32_start *start);
int qemu_gpgpu_wait(struct rv32_device *dev, const struct rv32_start *start, struct gpgpu_fault *fault);

/* The same through the queue, while it is attached. */
int qemu_gpgpu_queue_start(struct rv32_device *dev, const struct rv32_start *start);
int qemu_gpgpu_queue_wait(struct rv32_device *dev, const struct rv32_start *start, struct gpgpu_fault *fault);

/* Give the device a queue. 0, -ENOMEM, -EIO (logged) or the error of mapping the doorbells. */
int qemu_gpgpu_queue_attach(struct qemu_gpgpu *q);
void qemu_gpgpu_queue_detach(struct qemu_gpgpu *q);

/* After a reset of the device: give it the queue again, if it had one. 0 or -EIO. */
int qemu_gpgpu_queue_reset(struct qemu_gpgpu *q);

/* Whether everything queued is complete; arg is the struct qemu_gpgpu. */
bool qemu_gpgpu_queue_done(void *arg);

/* ---- waiting, one of two ways ----------------------------------------------------------------------------
 */

/* Make the device tell when work ends; called after each reset. */
int qemu_gpgpu_wait_attach(struct qemu_gpgpu *q);
void qemu_gpgpu_wait_detach(struct qemu_gpgpu *q);
void qemu_gpgpu_wait_arm(struct qemu_gpgpu *q);

/* Forget earlier events of this kind; before the work starts. */
void qemu_gpgpu_wait_begin(struct qemu_gpgpu *q, uint32_t events);

/* Wait for the launch or DMA transfer in flight. 0 or -ETIMEDOUT. */
int qemu_gpgpu_wait_launch(struct qemu_gpgpu *q);
int qemu_gpgpu_wait_dma(struct qemu_gpgpu *q);

/* Wait until everything queued is complete; the device has been asked for an interrupt. 0 or -ETIMEDOUT. */
int qemu_gpgpu_wait_queue(struct qemu_gpgpu *q);

#endif
