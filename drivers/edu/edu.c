// SPDX-License-Identifier: MIT
/* QEMU's educational device; registers from QEMU's docs/specs/edu.rst. */
#define LOG_MODULE "edu"
#include "drivers/edu.h"
#include "bus/driver.h"
#include "bus/pci.h"
#include "core/errno.h"
#include "core/log.h"
#include "hal/cpu.h"
#include "hal/dma.h"
#include "hal/time.h"
#include <stdlib.h>

#define EDU_ID               0x00u /* 0xRRrr00ed */
#define EDU_ID_MASK          0xffffu
#define EDU_ID_VALUE         0x00edu
#define EDU_LIVENESS         0x04u /* reads as the inverse of what was written */
#define EDU_FACTORIAL        0x08u
#define EDU_STATUS           0x20u
#define EDU_STATUS_BUSY      0x01u
#define EDU_STATUS_INTERRUPT 0x80u /* interrupt when a factorial is done */
#define EDU_IRQ_STATUS       0x24u
#define EDU_IRQ_FACTORIAL    0x01u
#define EDU_IRQ_FOR_NOTHING  0x02u /* ours */
#define EDU_IRQ_DMA          0x100u
#define EDU_IRQ_RAISE        0x60u
#define EDU_IRQ_ACK          0x64u
#define EDU_DMA_FROM         0x80u /* 64 bits, as the next two */
#define EDU_DMA_TO           0x88u
#define EDU_DMA_SIZE         0x90u
#define EDU_DMA_COMMAND      0x98u
#define EDU_DMA_START        0x01u
#define EDU_DMA_TO_MEMORY    0x02u /* else to the buffer */
#define EDU_DMA_INTERRUPT    0x04u
#define EDU_BUFFER           0x40000u /* the buffer's address, as its DMA engine counts */

#define EDU_TIMEOUT_MS 1000u

struct edu {
    struct pci_device *pdev;
    struct mmio regs;
    volatile uint32_t done;    /* EDU_IRQ_… bits that have come since they were cleared */
    volatile uint64_t handled; /* when the handler began last, time_now_ns() */
};

static void edu_interrupt(void *arg)
{
    struct edu *edu = arg;
    uint64_t now = time_now_ns();
    uint32_t status = mmio_read32(&edu->regs, EDU_IRQ_STATUS);

    /* Zero: the wire is shared, and it was somebody else. */
    if (status == 0)
        return;
    mmio_write32(&edu->regs, EDU_IRQ_ACK, status);
    edu->handled = now;
    edu->done |= status;
}

static uint32_t edu_identity(struct device *dev)
{
    struct edu *edu = dev->priv;

    return mmio_read32(&edu->regs, EDU_ID);
}

/* What is waited for: one of the EDU_IRQ_… bits. */
struct wait {
    const struct edu *edu;
    uint32_t bit;
};

static bool has_come(void *arg)
{
    const struct wait *wait = arg;

    return wait->edu->done & wait->bit;
}

static int edu_wait(struct device *dev, uint32_t bit, const char *what)
{
    struct edu *edu = dev->priv;
    int error = wait_until(has_come, &(struct wait){edu, bit}, deadline_in_ms(EDU_TIMEOUT_MS));

    if (error)
        log_error("%s: no interrupt within %u ms after %s: status %#x, interrupt status %#x", dev->name,
                  EDU_TIMEOUT_MS, what, (unsigned)mmio_read32(&edu->regs, EDU_STATUS),
                  (unsigned)mmio_read32(&edu->regs, EDU_IRQ_STATUS));
    return error;
}

static int edu_factorial(struct device *dev, uint32_t n, uint32_t *result)
{
    struct edu *edu = dev->priv;
    int error;

    edu->done = 0;
    mmio_write32(&edu->regs, EDU_STATUS, EDU_STATUS_INTERRUPT);
    mmio_write32(&edu->regs, EDU_FACTORIAL, n);
    error = edu_wait(dev, EDU_IRQ_FACTORIAL, "a factorial");
    if (!error)
        *result = mmio_read32(&edu->regs, EDU_FACTORIAL);
    return error;
}

static int edu_dma(struct device *dev, uint64_t to, uint64_t from, size_t size, uint32_t direction)
{
    struct edu *edu = dev->priv;

    edu->done = 0;
    mmio_write64(&edu->regs, EDU_DMA_FROM, from);
    mmio_write64(&edu->regs, EDU_DMA_TO, to);
    mmio_write64(&edu->regs, EDU_DMA_SIZE, size);
    mmio_write64(&edu->regs, EDU_DMA_COMMAND, EDU_DMA_START | EDU_DMA_INTERRUPT | direction);
    return edu_wait(dev, EDU_IRQ_DMA, "a DMA transfer");
}

static int edu_copy(struct device *dev, void *to, const void *from, size_t size)
{
    int error;

    if (size == 0 || size > EDU_BUFFER_SIZE)
        return -EINVAL;
    if (!dma_able(from, size) || !dma_able(to, size))
        return -EFAULT;
    error = edu_dma(dev, EDU_BUFFER, dma_address(from).value, size, 0);
    return error ? error : edu_dma(dev, dma_address(to).value, EDU_BUFFER, size, EDU_DMA_TO_MEMORY);
}

/* While interrupts are disabled it is only the sleep in edu_wait() that takes one. */
static int edu_interrupt_for_nothing(struct device *dev, bool asleep, struct edu_interrupt *times)
{
    struct edu *edu = dev->priv;
    unsigned long flags = asleep ? cpu_irq_save() : 0;
    int error;

    edu->done = 0;
    times->raised = time_now_ns();
    mmio_write32(&edu->regs, EDU_IRQ_RAISE, EDU_IRQ_FOR_NOTHING);
    error = edu_wait(dev, EDU_IRQ_FOR_NOTHING, "it was raised");
    times->woken = time_now_ns();
    times->handled = edu->handled;
    if (asleep)
        cpu_irq_restore(flags);
    return error;
}

static const struct edu_ops edu_ops = {.identity = edu_identity,
                                       .factorial = edu_factorial,
                                       .copy = edu_copy,
                                       .interrupt = edu_interrupt_for_nothing};

/* Is it alive, and what it claims to be? */
static int edu_check(struct edu *edu)
{
    const uint32_t pattern = 0x5eedf00d;
    uint32_t id = mmio_read32(&edu->regs, EDU_ID);

    if ((id & EDU_ID_MASK) != EDU_ID_VALUE) {
        log_error("pci %s: identity %#x does not end in ed", edu->pdev->dev.address, (unsigned)id);
        return -ENODEV;
    }
    mmio_write32(&edu->regs, EDU_LIVENESS, pattern);
    if (mmio_read32(&edu->regs, EDU_LIVENESS) != ~pattern) {
        log_error("pci %s: fails the liveness check", edu->pdev->dev.address);
        return -EIO;
    }
    return 0;
}

/* Each step undoes the ones before it when it fails. */
static int edu_start(struct edu *edu)
{
    int error = pci_enable(edu->pdev, PCI_MEMORY | PCI_MASTER);

    if (error)
        return error;
    error = pci_bar_map(edu->pdev, 0, &edu->regs);
    if (error)
        goto disable;
    error = edu_check(edu);
    if (error)
        goto unmap;
    error = pci_irq_attach(edu->pdev, 0, edu_interrupt, edu);
    if (error)
        goto unmap;
    return 0;
unmap:
    pci_bar_unmap(&edu->regs);
disable:
    pci_disable(edu->pdev);
    return error;
}

static int edu_probe(struct device *dev)
{
    struct edu *edu = calloc(1, sizeof(*edu));
    int error;

    if (!edu)
        return -ENOMEM;
    edu->pdev = to_pci_device(dev);
    error = edu_start(edu);
    if (error) {
        free(edu);
        return error;
    }
    dev->ops = &edu_ops;
    dev->priv = edu;
    return 0;
}

static void edu_remove(struct device *dev)
{
    struct edu *edu = dev->priv;

    mmio_write32(&edu->regs, EDU_STATUS, 0);
    pci_irq_detach(edu->pdev, 0, edu_interrupt, edu);
    pci_bar_unmap(&edu->regs);
    pci_disable(edu->pdev);
    free(edu);
}

static const struct pci_id edu_ids[] = {{.vendor = 0x1234, .device = 0x11e8}, {0}};

PCI_DRIVER(edu) = {
    .name = "edu", .class = DEVICE_TUTORIAL, .ids = edu_ids, .probe = edu_probe, .remove = edu_remove};
