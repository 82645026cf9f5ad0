/* SPDX-License-Identifier: MIT */
/* Waiting by interrupt: the processor sleeps until the device says that it is done. */
#include "qemu.h"

#include "hal/time.h"

#include <errno.h>

/* The line may be shared: whoever called, only our own status counts. */
static void interrupt(void *arg)
{
    struct qemu_gpgpu *q = arg;
    uint32_t status = reg_read(q, IRQ_STATUS);
    if (status == 0)
        return;
    reg_write(q, IRQ_ACK, status);
    __atomic_fetch_or(&q->events, status, __ATOMIC_RELEASE);
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
    q->events = 0;
    reg_write(q, IRQ_ENABLE, IRQ_ALL);
}

void qemu_gpgpu_wait_begin(struct qemu_gpgpu *q, uint32_t events)
{
    __atomic_fetch_and(&q->events, ~events, __ATOMIC_ACQ_REL);
}

static bool launch_done(void *arg)
{
    struct qemu_gpgpu *q = arg;
    return (__atomic_load_n(&q->events, __ATOMIC_ACQUIRE) & (IRQ_KERNEL | IRQ_ERROR)) != 0;
}

static bool dma_done(void *arg)
{
    struct qemu_gpgpu *q = arg;
    return (__atomic_load_n(&q->events, __ATOMIC_ACQUIRE) & (IRQ_DMA | IRQ_ERROR)) != 0;
}

int qemu_gpgpu_wait_launch(struct qemu_gpgpu *q)
{
    return wait_until(launch_done, q, deadline_in_ms(CONFIG_GPGPU_TIMEOUT_MS));
}

int qemu_gpgpu_wait_queue(struct qemu_gpgpu *q)
{
    return wait_until(qemu_gpgpu_queue_done, q, deadline_in_ms(CONFIG_GPGPU_TIMEOUT_MS));
}

int qemu_gpgpu_wait_dma(struct qemu_gpgpu *q)
{
    return wait_until(dma_done, q, deadline_in_ms(CONFIG_GPGPU_TIMEOUT_MS));
}
