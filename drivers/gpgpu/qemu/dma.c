/* SPDX-License-Identifier: MIT */
/* Copies: by the device (DMA) where they are long and it can reach the memory, else by the CPU. */
#include "qemu.h"

#include "hal/dma.h"

#define LOG_MODULE "gpgpu-qemu"
#include "core/log.h"

#include <errno.h>
#include <inttypes.h>

#define DMA_MAX_BYTES ((size_t)1 << 30) /* of one transfer; DMA_SIZE has 32 bits */

static int transfer(struct qemu_gpgpu *q, uint64_t dst, uint64_t src, size_t size, uint32_t direction)
{
    qemu_gpgpu_wait_begin(q, IRQ_DMA | IRQ_ERROR);
    reg_write_pair(q, DMA_SRC_LO, src);
    reg_write_pair(q, DMA_DST_LO, dst);
    reg_write(q, DMA_SIZE, (uint32_t)size);
    reg_write(q, DMA_CTRL, DMA_CTRL_START | DMA_CTRL_IRQ | direction);
    if (qemu_gpgpu_wait_dma(q) < 0) {
        qemu_gpgpu_give_up(q, "DMA did not end in time");
        return -ETIMEDOUT;
    }
    uint32_t status = reg_read(q, DMA_STATUS);
    if (!(status & DMA_STATUS_COMPLETE) || status & DMA_STATUS_ERROR) {
        log_error("%s: DMA of %zu bytes from 0x%" PRIx64 " to 0x%" PRIx64 " failed: DMA_STATUS 0x%" PRIx32
                  ", ERROR_STATUS 0x%" PRIx32,
                  q->rv32.gpgpu.name, size, src, dst, status, reg_read(q, ERROR_STATUS));
        reg_write(q, ERROR_STATUS, ERROR_DMA_FAULT);
        return -EIO;
    }
    return 0;
}

static int transfer_all(struct qemu_gpgpu *q, uint64_t dst, uint64_t src, size_t size, uint32_t direction)
{
    int err = 0;
    for (size_t done = 0; done < size && !err; done += DMA_MAX_BYTES)
        err = transfer(q, dst + done, src + done, MIN(size - done, DMA_MAX_BYTES), direction);
    return err;
}

static bool by_dma(const void *host, size_t size)
{
    return size >= CONFIG_GPGPU_DMA_THRESHOLD && dma_able(host, size);
}

int qemu_gpgpu_write(struct rv32_device *dev, uint64_t dst, const void *src, size_t size)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    if (by_dma(src, size))
        return transfer_all(q, dst, dma_address(src).value, size, 0);
    mmio_copy_to(&q->vram, dst, src, size);
    return 0;
}

int qemu_gpgpu_read(struct rv32_device *dev, void *dst, uint64_t src, size_t size)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    if (by_dma(dst, size))
        return transfer_all(q, dma_address(dst).value, src, size, DMA_CTRL_TO_HOST);
    mmio_copy_from(&q->vram, src, dst, size);
    return 0;
}

int qemu_gpgpu_copy(struct rv32_device *dev, uint64_t dst, uint64_t src, size_t size)
{
    return transfer_all(to_qemu(dev), dst, src, size, DMA_CTRL_IN_VRAM);
}
