/* SPDX-License-Identifier: MIT */
/* Waiting by interrupt: the processor sleeps until the device says that it is done. */
#include "qemu.h"

#include "hal/time.h"

#include <errno.h>

static void note(struct qemu_gpgpu *q, uint32_t status)
{
    if (status & (IRQ_KERNEL | IRQ_ERROR))
        __atomic_store_n(&q->launch_news, true, __ATOMIC_RELEASE);
    if (status & (IRQ_DMA | IRQ_ERROR))
        __atomic_store_n(&q->copy_news, true, __ATOMIC_RELEASE);
}

/* The line may be shared: whoever called, only our own status counts. What comes between reading and
 * acknowledging leaves the line high, and no interrupt controller need see that again: so until it is low. */
static void interrupt(void *arg)
{
    struct qemu_gpgpu *q = arg;
    uint32_t status;
    while ((status = reg_read(q, IRQ_STATUS)) != 0) {
        reg_write(q, IRQ_ACK, status);
        note(q, status);
    }
}

/* Vectors that can be told apart; without MSI-X there is one for everything. */
static unsigned vectors(const struct qemu_gpgpu *q)
{
    return pci_irq_mode(q->pdev) == PCI_IRQ_MSIX ? GPGPU_VECTORS : 1;
}

int qemu_gpgpu_wait_attach(struct qemu_gpgpu *q)
{
    int err = pci_irq_attach(q->pdev, 0, interrupt, q);
    unsigned attached = 1;
    while (!err && attached < vectors(q)) {
        err = pci_irq_attach(q->pdev, attached, interrupt, q);
        if (err)
            while (attached-- > 0)
                pci_irq_detach(q->pdev, attached, interrupt, q);
        else
            attached++;
    }
    return err;
}

void qemu_gpgpu_wait_detach(struct qemu_gpgpu *q)
{
    reg_write(q, IRQ_ENABLE, 0);
    for (unsigned i = vectors(q); i-- > 0;)
        pci_irq_detach(q->pdev, i, interrupt, q);
}

void qemu_gpgpu_wait_arm(struct qemu_gpgpu *q)
{
    reg_write(q, IRQ_ACK, IRQ_ALL);
    q->launch_news = q->copy_news = false;
    reg_write(q, IRQ_ENABLE, IRQ_ALL);
}

bool qemu_gpgpu_launch_news(struct qemu_gpgpu *q)
{
    return __atomic_load_n(&q->launch_news, __ATOMIC_ACQUIRE);
}

bool qemu_gpgpu_copy_news(struct qemu_gpgpu *q)
{
    return __atomic_load_n(&q->copy_news, __ATOMIC_ACQUIRE);
}

static bool something_ended(void *arg)
{
    return qemu_gpgpu_something_ended(arg);
}

int qemu_gpgpu_sleep(struct qemu_gpgpu *q)
{
    return wait_until(something_ended, q, deadline_in_ms(CONFIG_GPGPU_TIMEOUT_MS));
}
