/* SPDX-License-Identifier: MIT */
/* Driver of our GPGPU device behind PCI, 1234:1337: ports of rv32.h over its registers. */
#include "qemu.h"

#include "hal/cpu.h"
#include "hal/thread.h"
#include "hal/time.h"

#define LOG_MODULE "gpgpu-qemu"
#include "core/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define RESET_MS 2000 /* the device stops running work within milliseconds */

int qemu_gpgpu_reset(struct qemu_gpgpu *q)
{
    uint64_t deadline = deadline_in_ms(RESET_MS);
    uint32_t status;
    reg_write(q, GLOBAL_CTRL, GLOBAL_CTRL_RESET);
    while ((status = reg_read(q, GLOBAL_STATUS)) & GLOBAL_STATUS_BUSY) {
        if (deadline_passed(deadline)) {
            log_error("%s: still busy %d ms after a reset: GLOBAL_STATUS 0x%" PRIx32, q->pdev->dev.address,
                      RESET_MS, status);
            return -ETIMEDOUT;
        }
        cpu_relax();
        thread_yield();
    }
    reg_write(q, ERROR_STATUS, ERROR_ALL);
    reg_write(q, GLOBAL_CTRL, GLOBAL_CTRL_ENABLE);
    q->reported = q->queued = q->wanted = 0;
    q->copying = false;
    qemu_gpgpu_wait_arm(q);
    return qemu_gpgpu_queue_reset(q);
}

void qemu_gpgpu_give_up(struct rv32_device *dev)
{
    struct qemu_gpgpu *q = to_qemu(dev);
    log_error("%s: nothing ended in time (limit %d ms): GLOBAL_STATUS 0x%" PRIx32 ", ERROR_STATUS 0x%" PRIx32
              ", IRQ_STATUS 0x%" PRIx32 ", DMA_STATUS 0x%" PRIx32 ": resetting it",
              q->rv32.gpgpu.name, CONFIG_GPGPU_TIMEOUT_MS, reg_read(q, GLOBAL_STATUS),
              reg_read(q, ERROR_STATUS), reg_read(q, IRQ_STATUS), reg_read(q, DMA_STATUS));
    qemu_gpgpu_reset(q);
}

bool qemu_gpgpu_something_ended(struct qemu_gpgpu *q)
{
    bool launch =
        q->wanted != q->reported && (q->queue ? qemu_gpgpu_queue_reached(q) : qemu_gpgpu_launch_news(q));
    return launch || (q->copying && qemu_gpgpu_copy_news(q));
}

static const struct rv32_port register_port = {
    .depth = 1,
    .write = qemu_gpgpu_write,
    .start = qemu_gpgpu_start,
    .launch_ended = qemu_gpgpu_launch_ended,
    .copy = qemu_gpgpu_copy,
    .copy_ended = qemu_gpgpu_copy_ended,
    .wait = qemu_gpgpu_wait,
    .give_up = qemu_gpgpu_give_up,
};

static const struct rv32_port queue_port = {
    .depth = RV32_DEPTH,
    .write = qemu_gpgpu_write,
    .start = qemu_gpgpu_queue_start,
    .launch_ended = qemu_gpgpu_queue_ended,
    .copy = qemu_gpgpu_copy,
    .copy_ended = qemu_gpgpu_copy_ended,
    .wait = qemu_gpgpu_queue_wait,
    .give_up = qemu_gpgpu_give_up,
};

static int check_identity(const struct qemu_gpgpu *q)
{
    uint32_t id = reg_read(q, DEV_ID), version = reg_read(q, DEV_VERSION);
    uint64_t vram = (uint64_t)reg_read(q, VRAM_SIZE_HI) << 32 | reg_read(q, VRAM_SIZE_LO);
    const char *where = q->pdev->dev.address;
    if (id != DEV_ID_VALUE || DEV_VERSION_MAJOR(version) != 1) {
        log_error("%s: DEV_ID 0x%08" PRIx32 ", DEV_VERSION 0x%08" PRIx32 ": expected 0x%08x and version 1",
                  where, id, version, DEV_ID_VALUE);
        return -ENODEV;
    }
    if (vram != q->vram.size) {
        log_error("%s: VRAM_SIZE says %" PRIu64 " bytes, BAR%d has %zu", where, vram, GPGPU_BAR_VRAM,
                  q->vram.size);
        return -EIO;
    }
    return 0;
}

static void read_caps(const struct qemu_gpgpu *q, struct gpgpu_caps *caps)
{
    uint32_t units = reg_read(q, DEV_CAPS);
    *caps = (struct gpgpu_caps){
        .size = sizeof(*caps),
        .name = "qemu-gpgpu",
        .isa = GPGPU_ISA_RV32,
        .compute_units = DEV_CAPS_CUS(units),
        .warp_size = DEV_CAPS_WARP(units),
        .max_block = 1024,
        .vram_bytes = q->vram.size,
        .shared_max = reg_read(q, SHARED_MAX),
        .private_size = reg_read(q, PRIVATE_SIZE),
        .features = reg_read(q, DEV_CAPS2) & 0xffff,
    };
    caps->features |= GPGPU_FEATURE_EXECUTES | GPGPU_FEATURE_ASYNC | GPGPU_FEATURE_STREAMS;
}

/* The queue is used where both the device and the configuration have it. */
static int attach_queue(struct qemu_gpgpu *q, struct gpgpu_caps *caps)
{
#ifdef CONFIG_GPGPU_LAUNCH_REGISTERS
    caps->features &= ~GPGPU_FEATURE_QUEUE;
#endif
    return caps->features & GPGPU_FEATURE_QUEUE ? qemu_gpgpu_queue_attach(q) : 0;
}

static int set_up(struct qemu_gpgpu *q)
{
    struct gpgpu_caps caps;
    int err = check_identity(q);
    if (!err)
        err = qemu_gpgpu_reset(q);
    if (err)
        return err;
    read_caps(q, &caps);
    err = attach_queue(q, &caps);
    if (err)
        return err;
    q->rv32.gpgpu.name = q->pdev->dev.name;
    err = rv32_init(&q->rv32, q->queue ? &queue_port : &register_port, &caps);
    if (err)
        qemu_gpgpu_queue_detach(q);
    return err;
}

static int map_and_set_up(struct qemu_gpgpu *q)
{
    int err = pci_bar_map(q->pdev, GPGPU_BAR_CTRL, &q->regs);
    if (err)
        return err;
    err = pci_bar_map(q->pdev, GPGPU_BAR_VRAM, &q->vram);
    if (err)
        goto unmap_regs;
    err = qemu_gpgpu_wait_attach(q);
    if (err)
        goto unmap_vram;
    err = set_up(q);
    if (err)
        goto detach;
    return 0;

detach:
    qemu_gpgpu_wait_detach(q);
unmap_vram:
    pci_bar_unmap(&q->vram);
unmap_regs:
    pci_bar_unmap(&q->regs);
    return err;
}

static int probe(struct device *dev)
{
    struct qemu_gpgpu *q = calloc(1, sizeof(*q));
    if (!q)
        return -ENOMEM;
    q->pdev = to_pci_device(dev);
    int err = pci_enable(q->pdev, PCI_MEMORY | PCI_MASTER);
    if (!err)
        err = map_and_set_up(q);
    if (err) {
        pci_disable(q->pdev);
        free(q);
        return err;
    }
    dev->ops = q->rv32.gpgpu.ops;
    dev->priv = &q->rv32.gpgpu;
    const struct gpgpu_caps *caps = &q->rv32.caps;
    log_info("%s: %" PRIu32 " compute units, warps of %" PRIu32 ", %" PRIu64 " MiB, features 0x%" PRIx32
             ", %s",
             dev->address, caps->compute_units, caps->warp_size, caps->vram_bytes >> 20,
             caps->features & 0xffff, pci_irq_mode_name(pci_irq_mode(q->pdev)));
    return 0;
}

static void remove_device(struct device *dev)
{
    struct gpgpu_device *gpgpu = dev->priv;
    struct qemu_gpgpu *q = to_qemu(container_of(gpgpu, struct rv32_device, gpgpu));
    rv32_destroy(&q->rv32);
    qemu_gpgpu_queue_detach(q);
    qemu_gpgpu_wait_detach(q);
    reg_write(q, GLOBAL_CTRL, GLOBAL_CTRL_RESET);
    pci_bar_unmap(&q->vram);
    pci_bar_unmap(&q->regs);
    pci_disable(q->pdev);
    free(q);
}

static const struct pci_id ids[] = {{.vendor = GPGPU_VENDOR_ID, .device = GPGPU_DEVICE_ID}, {}};

PCI_DRIVER(qemu_gpgpu) = {
    .name = "qemu_gpgpu",
    .class = DEVICE_GPGPU,
    .ids = ids,
    .probe = probe,
    .remove = remove_device,
};
