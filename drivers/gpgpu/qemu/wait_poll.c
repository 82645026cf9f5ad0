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

bool qemu_gpgpu_launch_news(struct qemu_gpgpu *q)
{
    return !(reg_read(q, GLOBAL_STATUS) & GLOBAL_STATUS_BUSY);
}

bool qemu_gpgpu_copy_news(struct qemu_gpgpu *q)
{
    return !(reg_read(q, DMA_STATUS) & DMA_STATUS_BUSY);
}

int qemu_gpgpu_sleep(struct qemu_gpgpu *q)
{
    uint64_t deadline = deadline_in_ms(CONFIG_GPGPU_TIMEOUT_MS);
    while (!qemu_gpgpu_something_ended(q)) {
        if (deadline_passed(deadline))
            return -ETIMEDOUT;
        cpu_relax();
        thread_yield();
    }
    return 0;
}
