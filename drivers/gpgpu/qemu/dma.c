/* SPDX-License-Identifier: MIT */
/* Copies: by the device (DMA) where they are long and it can reach the memory, else by the CPU. */
#include "qemu.h"

#include "hal/dma.h"

#define LOG_MODULE "gpgpu-qemu"
#include "core/log.h"

#include <errno.h>
#include <inttypes.h>

/* A transfer is below the size of VRAM, so DMA_SIZE holds it. */
static void start_transfer(struct qemu_gpgpu *q, uint64_t dst, uint64_t src, size_t size, uint32_t direction)
{
    __atomic_store_n(&q->copy_news, false, __ATOMIC_RELAXED);
    q->copying = true;
    reg_write_pair(q, DMA_SRC_LO, src);
    reg_write_pair(q, DMA_DST_LO, dst);
    reg_write(q, DMA_SIZE, (uint32_t)size);
    reg_write(q, DMA_CTRL, DMA_CTRL_START | DMA_CTRL_IRQ | direction);
}

/* The news is forgotten before the registers are read: what comes meanwhile is news again. */
int qemu_gpgpu_copy_ended(struct rv32_device *dev)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    if (!qemu_gpgpu_copy_news(q))
        return -EINPROGRESS;
    __atomic_store_n(&q->copy_news, false, __ATOMIC_SEQ_CST);
    uint32_t status = reg_read(q, DMA_STATUS);
    if (status & DMA_STATUS_BUSY)
        return -EINPROGRESS;
    q->copying = false;
    if (status & DMA_STATUS_COMPLETE && !(status & DMA_STATUS_ERROR))
        return 0;
    log_error("%s: DMA failed: DMA_STATUS 0x%" PRIx32 ", ERROR_STATUS 0x%" PRIx32, dev->gpgpu.name, status,
              reg_read(q, ERROR_STATUS));
    reg_write(q, ERROR_STATUS, ERROR_DMA_FAULT);
    return -EIO;
}

/* Host memory that a copy reads or writes; NULL: none. */
static const void *host_side(const struct rv32_copy *copy)
{
    return copy->direction == RV32_INSIDE ? NULL : copy->source;
}

static bool by_dma(const struct rv32_copy *copy)
{
    return copy->direction == RV32_INSIDE ||
           (copy->size >= CONFIG_GPGPU_DMA_THRESHOLD && dma_able(host_side(copy), copy->size));
}

static void copy_by_cpu(struct qemu_gpgpu *q, const struct rv32_copy *copy)
{
    if (copy->direction == RV32_TO_DEVICE)
        mmio_copy_to(&q->vram, copy->device, copy->source, copy->size);
    else
        mmio_copy_from(&q->vram, copy->device, copy->destination, copy->size);
}

static void copy_by_dma(struct qemu_gpgpu *q, const struct rv32_copy *copy)
{
    if (copy->direction == RV32_INSIDE)
        start_transfer(q, copy->device, copy->from, copy->size, DMA_CTRL_IN_VRAM);
    else if (copy->direction == RV32_TO_DEVICE)
        start_transfer(q, copy->device, dma_address(copy->source).value, copy->size, 0);
    else
        start_transfer(q, dma_address(copy->destination).value, copy->device, copy->size, DMA_CTRL_TO_HOST);
}

void qemu_gpgpu_write(struct rv32_device *dev, uint64_t dst, const void *src, size_t size)
{
    mmio_copy_to(&to_qemu(dev)->vram, dst, src, size);
}

/* A short transfer is done when the store that starts it is. */
int qemu_gpgpu_copy(struct rv32_device *dev, const struct rv32_copy *copy)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    if (!by_dma(copy)) {
        copy_by_cpu(q, copy);
        return 0;
    }
    if (q->copying)
        return -EBUSY;
    copy_by_dma(q, copy);
    return qemu_gpgpu_copy_ended(dev);
}
