/* SPDX-License-Identifier: MIT */
/* Starting a kernel through the registers, and reading what stopped it. */
#include "qemu.h"

#define LOG_MODULE "gpgpu-qemu"
#include "core/log.h"

#include <errno.h>
#include <inttypes.h>

int qemu_gpgpu_start(struct rv32_device *dev, const struct rv32_start *start, bool chained)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    (void)chained; /* to nothing: a launch is started when none is in flight */
    __atomic_store_n(&q->launch_news, false, __ATOMIC_RELAXED);
    reg_write_pair(q, KERNEL_ADDR_LO, start->kernel);
    reg_write_pair(q, KERNEL_ARGS_LO, start->args);
    for (unsigned i = 0; i < 3; i++) {
        reg_write(q, GRID_DIM(i), start->grid[i]);
        reg_write(q, BLOCK_DIM(i), start->block[i]);
    }
    reg_write(q, SHARED_MEM_SIZE, start->shared_bytes);
    reg_write(q, DISPATCH, 1);
    return 0;
}

static void read_fault(struct qemu_gpgpu *q, const struct rv32_start *start, struct gpgpu_fault *fault)
{
    if (!(q->rv32.caps.features & GPGPU_FEATURE_FAULT_RECORD)) {
        fault->cause = GPGPU_CAUSE_UNKNOWN;
        return;
    }
    fault->cause = (enum gpgpu_cause)reg_read(q, FAULT_CAUSE);
    fault->pc = reg_read(q, FAULT_PC);
    fault->addr = reg_read(q, FAULT_ADDR);
    fault->insn = reg_read(q, FAULT_INSN);
    fault->count = reg_read(q, FAULT_COUNT);
    rv32_locate(&q->rv32, start, reg_read(q, FAULT_MHARTID), fault);
}

/* The news is forgotten before the registers are read: what comes meanwhile is news again. */
int qemu_gpgpu_launch_ended(struct rv32_device *dev, const struct rv32_start *start,
                            struct gpgpu_fault *fault)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    if (!qemu_gpgpu_launch_news(q))
        return -EINPROGRESS;
    __atomic_store_n(&q->launch_news, false, __ATOMIC_SEQ_CST);
    if (reg_read(q, GLOBAL_STATUS) & GLOBAL_STATUS_BUSY)
        return -EINPROGRESS;
    q->reported++;
    uint32_t errors = reg_read(q, ERROR_STATUS) & ~ERROR_DMA_FAULT;
    if (errors == 0)
        return 0;
    if (errors & (ERROR_KERNEL_FAULT | ERROR_VRAM_FAULT))
        read_fault(q, start, fault);
    else
        log_error("%s: the device refused the launch: ERROR_STATUS 0x%" PRIx32, dev->gpgpu.name, errors);
    reg_write(q, ERROR_STATUS, errors);
    return errors & (ERROR_KERNEL_FAULT | ERROR_VRAM_FAULT) ? -EFAULT : -EIO;
}

int qemu_gpgpu_wait(struct rv32_device *dev, unsigned launches)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    q->wanted = q->reported + launches;
    return qemu_gpgpu_sleep(q);
}
