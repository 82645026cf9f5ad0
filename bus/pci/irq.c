// SPDX-License-Identifier: MIT
/* Which way a device interrupts: messages if it and the machine can, else a wire. */
#define LOG_MODULE "bus"
#include "internal.h"
#include "core/errno.h"
#include "core/log.h"
#include "hal/panic.h"

static const struct {
    const char *name;
    const struct pci_irq_ops *ops;
} modes[] = {
    [PCI_IRQ_NONE] = {"none", NULL},
    [PCI_IRQ_INTX] = {"INTx", &pci_intx_ops},
    [PCI_IRQ_MSI] = {"MSI", &pci_msi_ops},
    [PCI_IRQ_MSIX] = {"MSI-X", &pci_msix_ops},
};

static bool messages_wanted(void)
{
#ifdef CONFIG_PCI_MSI
    return msi_available();
#else
    return false;
#endif
}

/* The mode that the device is in, or would be in. */
static enum pci_irq_mode usable_mode(const struct pci_device *pdev)
{
    if (pdev->irq_mode != PCI_IRQ_NONE)
        return pdev->irq_mode;
    if (messages_wanted() && pci_msix_ops.vectors(pdev) > 0)
        return PCI_IRQ_MSIX;
    if (messages_wanted() && pci_msi_ops.vectors(pdev) > 0)
        return PCI_IRQ_MSI;
    return pci_intx_ops.vectors(pdev) > 0 ? PCI_IRQ_INTX : PCI_IRQ_NONE;
}

int pci_irq_attach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    enum pci_irq_mode mode = usable_mode(pdev);
    int error = mode == PCI_IRQ_NONE ? -ENODEV : modes[mode].ops->attach(pdev, vector, fn, arg);

    if (error) {
        log_error("pci %s: cannot attach interrupt vector %u (%s): %s", pdev->dev.address, vector,
                  modes[mode].name, error_name(error));
        return error;
    }
    pdev->irq_mode = mode;
    pdev->irq_users++;
    return 0;
}

void pci_irq_detach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    enum pci_irq_mode mode = pdev->irq_mode;
    int error = mode == PCI_IRQ_NONE ? -ENOENT : modes[mode].ops->detach(pdev, vector, fn, arg);

    if (error)
        panic("pci %s: interrupt vector %u was not attached (%s)", pdev->dev.address, vector,
              error_name(error));
    if (--pdev->irq_users == 0)
        pdev->irq_mode = PCI_IRQ_NONE;
}

enum pci_irq_mode pci_irq_mode(const struct pci_device *pdev)
{
    return pdev->irq_mode;
}

const char *pci_irq_mode_name(enum pci_irq_mode mode)
{
    return modes[mode].name;
}

unsigned pci_irq_vectors(const struct pci_device *pdev)
{
    enum pci_irq_mode mode = usable_mode(pdev);

    return mode == PCI_IRQ_NONE ? 0 : modes[mode].ops->vectors(pdev);
}

unsigned pci_irq_number(const struct pci_device *pdev, unsigned vector)
{
    enum pci_irq_mode mode = pdev->irq_mode;

    return mode == PCI_IRQ_NONE ? 0 : modes[mode].ops->number(pdev, vector);
}
