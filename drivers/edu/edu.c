// SPDX-License-Identifier: MIT
/* QEMU's educational device; registers from QEMU's docs/specs/edu.rst. */
#define LOG_MODULE "edu"
#include "drivers/edu.h"
#include "bus/driver.h"
#include "bus/pci.h"
#include "core/errno.h"
#include "core/log.h"
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
#define EDU_IRQ_ACK          0x64u

#define EDU_TIMEOUT_MS 1000u

struct edu {
    struct pci_device *pdev;
    struct mmio regs;
    volatile uint32_t done; /* EDU_IRQ_… bits that have come since they were cleared */
};

static void edu_interrupt(void *arg)
{
    struct edu *edu = arg;
    uint32_t status = mmio_read32(&edu->regs, EDU_IRQ_STATUS);

    /* Zero: the wire is shared, and it was somebody else. */
    if (status == 0)
        return;
    mmio_write32(&edu->regs, EDU_IRQ_ACK, status);
    edu->done |= status;
}

static uint32_t edu_identity(struct device *dev)
{
    struct edu *edu = dev->priv;

    return mmio_read32(&edu->regs, EDU_ID);
}

static bool factorial_done(void *arg)
{
    struct edu *edu = arg;

    return edu->done & EDU_IRQ_FACTORIAL;
}

static int edu_factorial(struct device *dev, uint32_t n, uint32_t *result)
{
    struct edu *edu = dev->priv;
    int error;

    edu->done = 0;
    mmio_write32(&edu->regs, EDU_STATUS, EDU_STATUS_INTERRUPT);
    mmio_write32(&edu->regs, EDU_FACTORIAL, n);
    error = wait_until(factorial_done, edu, deadline_in_ms(EDU_TIMEOUT_MS));
    if (error) {
        log_error("%s: no interrupt after %u! (status %#x)", dev->name, (unsigned)n,
                  (unsigned)mmio_read32(&edu->regs, EDU_STATUS));
        return error;
    }
    *result = mmio_read32(&edu->regs, EDU_FACTORIAL);
    return 0;
}

static const struct edu_ops edu_ops = {.identity = edu_identity, .factorial = edu_factorial};

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
