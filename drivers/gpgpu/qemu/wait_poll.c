/* SPDX-License-Identifier: MIT */
/* Waiting by polling the status registers; no interrupt is used. */
#include "qemu.h"

#include "hal/cpu.h"
#include "hal/thread.h"
#include "hal/time.h"

#include <errno.h>

int qemu_gpgpu_wait_attach(struct qemu_gpgpu *q)
{
    (void)q;
    return 0;
}

void qemu_gpgpu_wait_detach(struct qemu_gpgpu *q)
{
    (void)q;
}

void qemu_gpgpu_wait_arm(struct qemu_gpgpu *q)
{
    reg_write(q, IRQ_ENABLE, 0);
}

void qemu_gpgpu_wait_begin(struct qemu_gpgpu *q, uint32_t events)
{
    (void)q;
    (void)events;
}

static int poll(const struct qemu_gpgpu *q, size_t reg, uint32_t busy)
{
    uint64_t deadline = deadline_in_ms(CONFIG_GPGPU_TIMEOUT_MS);
    while (reg_read(q, reg) & busy) {
        if (deadline_passed(deadline))
            return -ETIMEDOUT;
        cpu_relax();
        thread_yield();
    }
    return 0;
}

int qemu_gpgpu_wait_launch(struct qemu_gpgpu *q)
{
    return poll(q, GLOBAL_STATUS, GLOBAL_STATUS_BUSY);
}

int qemu_gpgpu_wait_dma(struct qemu_gpgpu *q)
{
    return poll(q, DMA_STATUS, DMA_STATUS_BUSY);
}

int qemu_gpgpu_wait_queue(struct qemu_gpgpu *q)
{
    uint64_t deadline = deadline_in_ms(CONFIG_GPGPU_TIMEOUT_MS);
    while (!qemu_gpgpu_queue_done(q)) {
        if (deadline_passed(deadline))
            return -ETIMEDOUT;
        cpu_relax();
    }
    return 0;
}
