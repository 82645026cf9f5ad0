// SPDX-License-Identifier: MIT
/* PCI Code and ID Assignment Specification 1.11, chapter 1: the classes that QEMU's machines show. */
#include "bus/pci.h"
#include "core/util.h"

const char *pci_class_name(uint32_t class)
{
    static const struct {
        uint16_t class; /* base class << 8 | sub-class */
        const char *name;
    } names[] = {
        {0x0100, "SCSI controller"},
        {0x0101, "IDE controller"},
        {0x0106, "SATA controller"},
        {0x0108, "NVMe controller"},
        {0x0180, "storage controller"},
        {0x0200, "Ethernet controller"},
        {0x0280, "network controller"},
        {0x0300, "VGA controller"},
        {0x0302, "3D controller"},
        {0x0380, "display controller"},
        {0x0403, "audio device"},
        {0x0500, "RAM controller"},
        {0x0600, "host bridge"},
        {0x0601, "ISA bridge"},
        {0x0604, "PCI bridge"},
        {0x0700, "serial controller"},
        {0x0780, "communication controller"},
        {0x0880, "system peripheral"},
        {0x0900, "keyboard controller"},
        {0x0980, "input controller"},
        {0x0c03, "USB controller"},
        {0x0c05, "SMBus controller"},
        {0x1000, "encryption controller"},
        {0x1200, "accelerator"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (names[i].class == class >> 8)
            return names[i].name;
    return "device";
}
