// SPDX-License-Identifier: MIT
/* Which way a device interrupts: messages if it and the machine can, else a wire. Then, who listens. */
#define LOG_MODULE "bus"
#include "internal.h"
#include "core/errno.h"
#include "core/log.h"
#include "hal/panic.h"
#include <stdlib.h>

static const struct pci_irq_ops no_ops = {.name = "none"};

static const struct pci_irq_ops *const modes[] = {[PCI_IRQ_NONE] = &no_ops,
                                                  [PCI_IRQ_INTX] = &pci_intx_ops,
                                                  [PCI_IRQ_MSI] = &pci_msi_ops,
                                                  [PCI_IRQ_MSIX] = &pci_msix_ops};

#ifdef CONFIG_PCI_MSI
#define BEST_MODE (msi_available() ? PCI_IRQ_MSIX : PCI_IRQ_INTX)
#else
#define BEST_MODE PCI_IRQ_INTX
#endif

/* The mode that the device is in, or would be in: the best that it can. */
static enum pci_irq_mode usable_mode(const struct pci_device *pdev)
{
    enum pci_irq_mode mode = BEST_MODE;

    if (pdev->irqs)
        return pdev->irqs->mode;
    while (mode != PCI_IRQ_NONE && modes[mode]->vectors(pdev) == 0)
        mode--;
    return mode;
}

/* With INTx and MSI all vectors are one. NULL: there is no such vector, or nobody listens to the device. */
static struct pci_vector *vector_of(const struct pci_device *pdev, unsigned *vector)
{
    struct pci_irqs *irqs = pdev->irqs;

    if (irqs && irqs->mode != PCI_IRQ_MSIX)
        *vector = 0;
    return irqs && *vector < irqs->count ? &irqs->vectors[*vector] : NULL;
}

static int start(struct pci_device *pdev, enum pci_irq_mode mode)
{
    unsigned count = modes[mode]->vectors(pdev);
    int error = 0;

    pdev->irqs = calloc(1, sizeof(*pdev->irqs) + count * sizeof(pdev->irqs->vectors[0]));
    if (!pdev->irqs)
        return -ENOMEM;
    pdev->irqs->mode = mode;
    pdev->irqs->count = count;
    if (modes[mode]->start)
        error = modes[mode]->start(pdev);
    if (error) {
        free(pdev->irqs);
        pdev->irqs = NULL;
    }
    return error;
}

static void stop_unused(struct pci_device *pdev)
{
    const struct pci_irq_ops *ops = modes[pdev->irqs->mode];

    if (pdev->irqs->users > 0)
        return;
    if (ops->stop)
        ops->stop(pdev);
    free(pdev->irqs);
    pdev->irqs = NULL;
}

static unsigned number_of(const struct pci_device *pdev, const struct pci_vector *v)
{
    return pdev->irqs->mode == PCI_IRQ_INTX ? pdev->intx_irq : v->msi.irq;
}

/* Gives the vector, which has no handler yet, its message, if it sends any. */
static int prepare(struct pci_device *pdev, unsigned vector)
{
    const struct pci_irq_ops *ops = modes[pdev->irqs->mode];
    int error;

    if (!ops->write)
        return 0;
    error = msi_alloc(&pdev->irqs->vectors[vector].msi);
    return error ? error : ops->write(pdev, vector);
}

static int attach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    struct pci_vector *v = vector_of(pdev, &vector);
    int error = !v ? -EINVAL : v->users == 0 ? prepare(pdev, vector) : 0;

    if (!error)
        error = irq_attach(number_of(pdev, v), fn, arg);
    if (v && error && v->users == 0)
        msi_free(&v->msi);
    if (error)
        return error;
    pdev->irqs->users++;
    if (v->users++ == 0)
        modes[pdev->irqs->mode]->enable(pdev, vector, true);
    return 0;
}

int pci_irq_attach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    enum pci_irq_mode mode = usable_mode(pdev);
    int error = mode == PCI_IRQ_NONE ? -ENODEV : 0;

    if (!error && !pdev->irqs)
        error = start(pdev, mode);
    if (!error) {
        error = attach(pdev, vector, fn, arg);
        stop_unused(pdev);
    }
    if (error)
        log_error("pci %s: cannot attach interrupt vector %u (%s): %s", pdev->dev.address, vector,
                  modes[mode]->name, error_name(error));
    return error;
}

void pci_irq_detach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    struct pci_vector *v = vector_of(pdev, &vector);
    int error = v && v->users > 0 ? 0 : -ENOENT;

    /* Silent first: others share a wire, and would be called for nothing. */
    if (!error && v->users == 1)
        modes[pdev->irqs->mode]->enable(pdev, vector, false);
    if (!error)
        error = irq_detach(number_of(pdev, v), fn, arg);
    if (error)
        panic("pci %s: interrupt vector %u was not attached (%s)", pdev->dev.address, vector,
              error_name(error));
    if (--v->users == 0)
        msi_free(&v->msi);
    pdev->irqs->users--;
    stop_unused(pdev);
}

enum pci_irq_mode pci_irq_mode(const struct pci_device *pdev)
{
    return pdev->irqs ? pdev->irqs->mode : PCI_IRQ_NONE;
}

const char *pci_irq_mode_name(enum pci_irq_mode mode)
{
    return modes[mode]->name;
}

unsigned pci_irq_vectors(const struct pci_device *pdev)
{
    enum pci_irq_mode mode = usable_mode(pdev);

    return mode == PCI_IRQ_NONE ? 0 : modes[mode]->vectors(pdev);
}

unsigned pci_irq_number(const struct pci_device *pdev, unsigned vector)
{
    const struct pci_vector *v = vector_of(pdev, &vector);

    return v ? number_of(pdev, v) : 0;
}
