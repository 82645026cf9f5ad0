/* SPDX-License-Identifier: MIT */
/* Launches through the queue: descriptors in our memory and one doorbell store each; ends are seen in memory,
 * too. */
#include "qemu.h"

#include "hal/cpu.h"
#include "hal/dma.h"
#include "hal/time.h"

#define LOG_MODULE "gpgpu-qemu"
#include "core/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdlib.h>

#define QUEUE_LENGTH    RV32_DEPTH /* descriptors, a power of two */
#define COMMAND_LAUNCH  0x001u
#define COMMAND_CHAINED 0x100u /* skipped if the one before it did not succeed */
#define STATUS_SKIPPED  0x10u
#define MAX_SLEEPS      3u /* waits in a row without looking first */
#define NS_PER_US       1000u

struct descriptor {
    uint32_t command;
    uint32_t shared_bytes;
    uint64_t kernel;
    uint64_t args;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t reserved[4];
};

struct completion {
    uint32_t status; /* ERROR_*, STATUS_SKIPPED */
    uint32_t cause, pc, addr, insn, mhartid, count;
    uint32_t number;
};

/* As the device reads and writes it: docs/device.md, "Launch queue". */
struct qemu_gpgpu_queue {
    alignas(64) uint32_t completed;
    uint32_t interrupt_at;
    alignas(64) struct descriptor descriptors[QUEUE_LENGTH];
    struct completion completions[QUEUE_LENGTH];
};
_Static_assert(sizeof(struct qemu_gpgpu_queue) == 64 + QUEUE_LENGTH * (64 + 32), "layout of the device");

static int enable(struct qemu_gpgpu *q)
{
    q->queued = q->reported = 0;
    reg_write_pair(q, QUEUE_BASE_LO, dma_address(q->queue).value);
    reg_write(q, QUEUE_SIZE, QUEUE_LENGTH);
    reg_write(q, QUEUE_CTRL, QUEUE_CTRL_ENABLE);
    if (reg_read(q, QUEUE_CTRL) & QUEUE_CTRL_ENABLE)
        return 0;
    log_error("%s: the device refused a launch queue of %u descriptors at 0x%" PRIx64, q->pdev->dev.address,
              QUEUE_LENGTH, dma_address(q->queue).value);
    return -EIO;
}

int qemu_gpgpu_queue_attach(struct qemu_gpgpu *q)
{
    int err = pci_bar_map(q->pdev, GPGPU_BAR_DOORBELL, &q->doorbell);
    if (err)
        return err;
    q->queue = aligned_alloc(alignof(struct qemu_gpgpu_queue), sizeof(*q->queue));
    err = q->queue ? enable(q) : -ENOMEM;
    if (err)
        qemu_gpgpu_queue_detach(q);
    return err;
}

void qemu_gpgpu_queue_detach(struct qemu_gpgpu *q)
{
    if (q->queue)
        reg_write(q, QUEUE_CTRL, 0);
    free(q->queue);
    q->queue = NULL;
    pci_bar_unmap(&q->doorbell);
}

int qemu_gpgpu_queue_reset(struct qemu_gpgpu *q)
{
    return q->queue ? enable(q) : 0;
}

int qemu_gpgpu_queue_start(struct rv32_device *dev, const struct rv32_start *start, bool chained)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    q->queue->descriptors[q->queued++ % QUEUE_LENGTH] = (struct descriptor){
        .command = COMMAND_LAUNCH | (chained ? COMMAND_CHAINED : 0),
        .shared_bytes = start->shared_bytes,
        .kernel = start->kernel,
        .args = start->args,
        .grid = {start->grid[0], start->grid[1], start->grid[2]},
        .block = {start->block[0], start->block[1], start->block[2]},
    };
    mmio_write32(&q->doorbell, 0, q->queued);
    return 0;
}

/* Whether `count` descriptors are complete; counts wrap. */
static bool reached(const struct qemu_gpgpu *q, uint32_t count)
{
    uint32_t completed = __atomic_load_n(&q->queue->completed, __ATOMIC_ACQUIRE);
    return (int32_t)(completed - count) >= 0;
}

bool qemu_gpgpu_queue_reached(const struct qemu_gpgpu *q)
{
    return reached(q, q->wanted);
}

static void read_fault(const struct qemu_gpgpu *q, const struct completion *c, const struct rv32_start *start,
                       struct gpgpu_fault *fault)
{
    *fault = (struct gpgpu_fault){
        .cause = (enum gpgpu_cause)c->cause,
        .pc = c->pc,
        .addr = c->addr,
        .insn = c->insn,
        .count = c->count,
    };
    rv32_locate(&q->rv32, start, c->mhartid, fault);
}

int qemu_gpgpu_queue_ended(struct rv32_device *dev, const struct rv32_start *start, struct gpgpu_fault *fault)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    if (!reached(q, q->reported + 1))
        return -EINPROGRESS;
    const struct completion *c = &q->queue->completions[q->reported++ % QUEUE_LENGTH];
    if (c->status == 0)
        return 0;
    if (c->status == STATUS_SKIPPED)
        return -ECANCELED;
    if (c->status & (ERROR_KERNEL_FAULT | ERROR_VRAM_FAULT)) {
        read_fault(q, c, start, fault);
        return -EFAULT;
    }
    log_error("%s: the device refused the launch: status 0x%" PRIx32, dev->gpgpu.name, c->status);
    return -EIO;
}

/* Looking in vain costs time, and keeps a processor from the device's threads: each time it happens, more of
 * the next waits go to sleep at once. */
static bool poll_briefly(struct qemu_gpgpu *q)
{
    if (q->sleeps > 0) {
        q->sleeps--;
        return qemu_gpgpu_something_ended(q);
    }
    uint64_t end = time_now_ns() + (uint64_t)CONFIG_GPGPU_QUEUE_POLL_US * NS_PER_US;
    bool done;
    while (!(done = qemu_gpgpu_something_ended(q)) && time_now_ns() < end)
        cpu_relax();
    q->sleeps_after_poll = done ? 0 : MIN(2 * q->sleeps_after_poll + 1, MAX_SLEEPS);
    q->sleeps = q->sleeps_after_poll;
    return done;
}

/* The device completes, then looks whether we want to be woken; we say so, then look whether it is complete.
 */
int qemu_gpgpu_queue_wait(struct rv32_device *dev, unsigned launches)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    q->wanted = q->reported + launches;
    if (launches > 0 && poll_briefly(q))
        return 0;
    __atomic_store_n(&q->queue->interrupt_at, q->wanted, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return qemu_gpgpu_sleep(q);
}
