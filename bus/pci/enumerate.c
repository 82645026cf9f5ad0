// SPDX-License-Identifier: MIT
/* Finding devices: depth first, so that the buses behind a bridge have consecutive numbers. */
#define LOG_MODULE "bus"
#include "internal.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/util.h"
#include <stdio.h>
#include <stdlib.h>

static void scan_bus(struct pci_bus *bus);

static void set_bus_numbers(struct pci_device *bridge, unsigned secondary, unsigned subordinate)
{
    pci_config_write32(bridge, PCI_REG_BRIDGE_BUSES,
                       subordinate << 16 | secondary << 8 | bridge->bus->number);
}

static void scan_bridge(struct pci_device *bridge)
{
    struct pci_root *root = bridge->bus->root;

    set_bus_numbers(bridge, 0, 0);
    if (root->next_bus > root->last_bus) {
        log_error("pci %s: no bus number left for the bus behind it: the last is %02x", bridge->dev.address,
                  root->last_bus);
        return;
    }
    bridge->secondary = calloc(1, sizeof(*bridge->secondary));
    if (!bridge->secondary) {
        log_error("pci: no memory for bus %02x", root->next_bus);
        return;
    }
    *bridge->secondary =
        (struct pci_bus){.root = root, .bridge = bridge, .number = (uint8_t)root->next_bus++};
    /* Everything above the secondary bus goes through this bridge until its last bus is known. */
    set_bus_numbers(bridge, bridge->secondary->number, root->last_bus);
    scan_bus(bridge->secondary);
    set_bus_numbers(bridge, bridge->secondary->number, root->next_bus - 1);
}

static void read_identity(struct pci_device *pdev)
{
    uint32_t class_revision = pci_config_read32(pdev, PCI_REG_CLASS_REVISION);

    pdev->vendor = pci_config_read16(pdev, PCI_REG_VENDOR);
    pdev->device = pci_config_read16(pdev, PCI_REG_DEVICE);
    pdev->class = class_revision >> 8;
    pdev->revision = (uint8_t)class_revision;
    pdev->pin = pci_config_read8(pdev, PCI_REG_PIN);
    snprintf(pdev->dev.address, sizeof(pdev->dev.address), "%02x:%02x.%x", pdev->bus->number, pdev->slot,
             pdev->function);
    snprintf(pdev->dev.what, sizeof(pdev->dev.what), "%04x:%04x %s", pdev->vendor, pdev->device,
             pci_class_name(pdev->class));
}

static void read_header(struct pci_device *pdev, uint8_t header)
{
    switch (header & PCI_HEADER_TYPE_MASK) {
    case PCI_HEADER_DEVICE:
        pci_size_bars(pdev, PCI_BARS);
        pci_config_write32(pdev, PCI_REG_ROM, 0);
        break;
    case PCI_HEADER_BRIDGE:
        pci_size_bars(pdev, PCI_BRIDGE_BARS);
        pci_config_write32(pdev, PCI_REG_BRIDGE_ROM, 0);
        scan_bridge(pdev);
        break;
    default:
        log_warn("pci %s: %s: unknown header type %#x, left alone", pdev->dev.address, pdev->dev.what,
                 header);
    }
}

/* Keeps the function that answers at `found`. Returns its header type's register, 0 without memory for it. */
static uint8_t add_function(const struct pci_device *found)
{
    struct pci_device *pdev = malloc(sizeof(*pdev));
    uint8_t header = pci_config_read8(found, PCI_REG_HEADER_TYPE);

    if (!pdev) {
        log_error("pci: no memory for device %02x:%02x.%x", found->bus->number, found->slot, found->function);
        return 0;
    }
    *pdev = *found;
    list_add_tail(&pdev->bus->root->devices, &pdev->node);
    read_identity(pdev);
    pdev->intx_irq = pci_intx_route(pdev);
    /* Quiet until a driver wants it: no decoding, no DMA, no interrupt on a wire it may share. */
    pci_update16(pdev, PCI_REG_COMMAND, PCI_COMMAND_INTX_OFF, PCI_IO | PCI_MEMORY | PCI_MASTER);
    read_header(pdev, header);
    return header;
}

static void scan_slot(struct pci_bus *bus, unsigned slot)
{
    struct pci_device found = {.bus = bus, .slot = (uint8_t)slot};
    unsigned functions = 1;

    for (; found.function < functions; found.function++) {
        uint16_t vendor = pci_config_read16(&found, PCI_REG_VENDOR);

        /* Nothing answers: all ones; some old devices give zeros. */
        if (vendor == 0xffff || vendor == 0)
            continue;
        if (add_function(&found) & PCI_HEADER_MULTIFUNCTION && found.function == 0)
            functions = PCI_FUNCTIONS;
    }
}

/* A PCI Express link has one device at its end; others may only be echoes of it (PCIe 3.0, section 7.3.1). */
static bool is_link(const struct pci_device *bridge)
{
    unsigned capability = bridge ? pci_find_capability(bridge, PCI_CAP_EXP) : 0;
    unsigned type;

    if (capability == 0)
        return false;
    type = PCI_EXP_TYPE(pci_config_read16(bridge, capability + PCI_EXP_FLAGS));
    return type == PCI_EXP_TYPE_ROOT_PORT || type == PCI_EXP_TYPE_DOWNSTREAM;
}

static void scan_bus(struct pci_bus *bus)
{
    unsigned slots = is_link(bus->bridge) ? 1 : PCI_SLOTS;

    for (unsigned slot = 0; slot < slots; slot++)
        scan_slot(bus, slot);
}

int pci_enumerate(struct pci_root *root)
{
    const struct pci_host *host = root->host;
    uint64_t buses = host->ecam_size / PCI_BUS_CONFIG_SIZE;
    int error = buses > 0 ? mmio_map(&root->config, host->ecam, host->ecam_size) : -ERANGE;

    list_init(&root->devices);
    if (error) {
        log_error("pci: cannot reach the configuration space: %s", error_name(error));
        return error;
    }
    root->last_bus = (unsigned)MIN((uint64_t)host->bus_last, host->bus_first + buses - 1);
    root->bus = (struct pci_bus){.root = root, .number = host->bus_first};
    root->next_bus = host->bus_first + 1u;
    scan_bus(&root->bus);
    return 0;
}

void pci_root_destroy(struct pci_root *root)
{
    list_for_each_safe (node, &root->devices) {
        struct pci_device *pdev = list_entry(node, struct pci_device, node);

        free(pdev->secondary);
        list_remove(node);
        free(pdev);
    }
    mmio_unmap(&root->config);
}
