// SPDX-License-Identifier: MIT
/* MSI-X: a message a vector, in a table in one of the BARs (PCI Local Bus Specification 3.0, section 6.8.2).
 */
#include "internal.h"
#include "core/errno.h"
#include <stdlib.h>

struct msix_vector {
    struct msi_vector msi;
    unsigned users; /* attached handlers */
};

struct pci_msix {
    unsigned capability; /* offset in configuration space */
    struct mmio table;
    unsigned count;
    struct msix_vector vectors[];
};

static unsigned msix_vectors(const struct pci_device *pdev)
{
    unsigned capability = pci_find_capability(pdev, PCI_CAP_MSIX);

    return capability ? (pci_config_read16(pdev, capability + PCI_MSIX_CONTROL) & PCI_MSIX_SIZE) + 1u : 0;
}

static void msix_control(struct pci_device *pdev, uint16_t set, uint16_t clear)
{
    unsigned offset = pdev->msix->capability + PCI_MSIX_CONTROL;
    uint16_t control = pci_config_read16(pdev, offset);

    pci_config_write16(pdev, offset, (uint16_t)((control & ~clear) | set));
}

static void set_masked(struct pci_msix *msix, unsigned vector, bool masked)
{
    mmio_write32(&msix->table, vector * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_MASK, masked);
}

static void write_message(struct pci_msix *msix, unsigned vector)
{
    const struct msi_vector *msi = &msix->vectors[vector].msi;
    size_t entry = vector * PCI_MSIX_ENTRY_SIZE;

    mmio_write32(&msix->table, entry + PCI_MSIX_ENTRY_LO, (uint32_t)msi->address);
    mmio_write32(&msix->table, entry + PCI_MSIX_ENTRY_HI, (uint32_t)(msi->address >> 32));
    mmio_write32(&msix->table, entry + PCI_MSIX_ENTRY_DATA, msi->data);
}

static int msix_map(struct pci_device *pdev, struct pci_msix *msix)
{
    uint32_t table = pci_config_read32(pdev, msix->capability + PCI_MSIX_TABLE);

    return pci_bar_map_range(pdev, table & PCI_MSIX_BAR, table & ~PCI_MSIX_BAR,
                             (uint64_t)msix->count * PCI_MSIX_ENTRY_SIZE, &msix->table);
}

static int msix_start(struct pci_device *pdev)
{
    unsigned count = msix_vectors(pdev);
    struct pci_msix *msix = calloc(1, sizeof(*msix) + count * sizeof(msix->vectors[0]));
    int error;

    if (!msix)
        return -ENOMEM;
    msix->capability = pci_find_capability(pdev, PCI_CAP_MSIX);
    msix->count = count;
    error = msix_map(pdev, msix);
    if (error) {
        free(msix);
        return error;
    }
    for (unsigned vector = 0; vector < count; vector++)
        set_masked(msix, vector, true);
    pdev->msix = msix;
    msix_control(pdev, PCI_MSIX_ENABLE, PCI_MSIX_MASK_ALL);
    return 0;
}

static void msix_stop(struct pci_device *pdev)
{
    msix_control(pdev, 0, PCI_MSIX_ENABLE);
    pci_bar_unmap(&pdev->msix->table);
    free(pdev->msix);
    pdev->msix = NULL;
}

/* One more handler for a vector; the first one makes its message. */
static int vector_attach(struct pci_msix *msix, unsigned vector, irq_handler_t fn, void *arg)
{
    struct msix_vector *v = &msix->vectors[vector];
    int error = v->users == 0 ? msi_alloc(&v->msi) : 0;

    if (error)
        return error;
    error = irq_attach(v->msi.irq, fn, arg);
    if (error) {
        if (v->users == 0)
            msi_free(&v->msi);
        return error;
    }
    if (v->users++ == 0) {
        write_message(msix, vector);
        set_masked(msix, vector, false);
    }
    return 0;
}

static int msix_attach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    int error;

    if (vector >= msix_vectors(pdev))
        return -EINVAL;
    error = pdev->irq_users == 0 ? msix_start(pdev) : 0;
    if (error)
        return error;
    error = vector_attach(pdev->msix, vector, fn, arg);
    if (error && pdev->irq_users == 0)
        msix_stop(pdev);
    return error;
}

static int msix_detach(struct pci_device *pdev, unsigned vector, irq_handler_t fn, void *arg)
{
    struct msix_vector *v = vector < pdev->msix->count ? &pdev->msix->vectors[vector] : NULL;
    int error;

    if (!v || v->users == 0)
        return -ENOENT;
    if (v->users == 1)
        set_masked(pdev->msix, vector, true);
    error = irq_detach(v->msi.irq, fn, arg);
    if (error)
        return error;
    if (--v->users == 0)
        msi_free(&v->msi);
    if (pdev->irq_users == 1)
        msix_stop(pdev);
    return 0;
}

static unsigned msix_number(const struct pci_device *pdev, unsigned vector)
{
    return vector < pdev->msix->count ? pdev->msix->vectors[vector].msi.irq : 0;
}

const struct pci_irq_ops pci_msix_ops = {msix_vectors, msix_attach, msix_detach, msix_number};
