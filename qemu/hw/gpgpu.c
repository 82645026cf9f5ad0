/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The GPGPU device: a PCI front end. docs/device.md is the contract. */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "hw/pci/pci_device.h"
#include "hw/qdev-properties.h"
#include "trace.h"

#define TYPE_GPGPU "gpgpu"
OBJECT_DECLARE_SIMPLE_TYPE(GPGPUState, GPGPU)

#define GPGPU_CTRL_SIZE (1 * MiB)
#define GPGPU_MIN_VRAM  (1 * MiB)
#define GPGPU_MAX_VRAM  (1 * GiB)

struct GPGPUState {
    PCIDevice pdev;
    MemoryRegion ctrl;
    MemoryRegion vram;
    uint64_t vram_size;
    uint32_t num_cus;
    uint32_t warps_per_cu;
    uint32_t warp_size;
};

static uint64_t gpgpu_ctrl_read(void *opaque, hwaddr addr, unsigned size)
{
    GPGPUState *s = opaque;
    uint32_t value = 0;

    switch (addr) {
    case 0x00:
        value = 0x47505055;
        break;
    case 0x04:
        value = 0x00010000;
        break;
    case 0x08:
        value = s->num_cus | s->warps_per_cu << 8 | s->warp_size << 16;
        break;
    case 0x0c:
        value = (uint32_t)s->vram_size;
        break;
    case 0x10:
        value = s->vram_size >> 32;
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "gpgpu: read of unknown register 0x%" HWADDR_PRIx "\n", addr);
    }
    trace_gpgpu_reg_read(DEVICE(s)->id, addr, value);
    return value;
}

static void gpgpu_ctrl_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    trace_gpgpu_reg_write(DEVICE(opaque)->id, addr, value);
    qemu_log_mask(LOG_GUEST_ERROR, "gpgpu: write of unknown register 0x%" HWADDR_PRIx "\n", addr);
}

static const MemoryRegionOps gpgpu_ctrl_ops = {
    .read = gpgpu_ctrl_read,
    .write = gpgpu_ctrl_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 4, .max_access_size = 4},
};

static void gpgpu_realize(PCIDevice *pdev, Error **errp)
{
    GPGPUState *s = GPGPU(pdev);

    if (!is_power_of_2(s->vram_size) || s->vram_size < GPGPU_MIN_VRAM || s->vram_size > GPGPU_MAX_VRAM) {
        error_setg(errp, "vram_size %" PRIu64 " is not a power of two from 1 MiB to 1 GiB", s->vram_size);
        return;
    }
    pci_config_set_interrupt_pin(pdev->config, 1);
    memory_region_init_io(&s->ctrl, OBJECT(s), &gpgpu_ctrl_ops, s, "gpgpu-ctrl", GPGPU_CTRL_SIZE);
    if (!memory_region_init_ram(&s->vram, OBJECT(s), "gpgpu-vram", s->vram_size, errp)) {
        return;
    }
    pci_register_bar(pdev, 0, PCI_BASE_ADDRESS_MEM_TYPE_64, &s->ctrl);
    pci_register_bar(pdev, 2, PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH, &s->vram);
}

static const Property gpgpu_properties[] = {
    DEFINE_PROP_SIZE("vram_size", GPGPUState, vram_size, 64 * MiB),
    DEFINE_PROP_UINT32("num_cus", GPGPUState, num_cus, 4),
    DEFINE_PROP_UINT32("warps_per_cu", GPGPUState, warps_per_cu, 4),
    DEFINE_PROP_UINT32("warp_size", GPGPUState, warp_size, 32),
};

static void gpgpu_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *k = PCI_DEVICE_CLASS(klass);

    k->realize = gpgpu_realize;
    k->vendor_id = PCI_VENDOR_ID_QEMU;
    k->device_id = 0x1337;
    k->revision = 1;
    k->class_id = PCI_CLASS_DISPLAY_3D;
    dc->desc = "SIMT GPGPU";
    device_class_set_props(dc, gpgpu_properties);
    set_bit(DEVICE_CATEGORY_DISPLAY, dc->categories);
}

static const TypeInfo gpgpu_type = {
    .name = TYPE_GPGPU,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(GPGPUState),
    .class_init = gpgpu_class_init,
    .interfaces = (InterfaceInfo[]){{INTERFACE_PCIE_DEVICE}, {}},
};

static void gpgpu_register(void)
{
    type_register_static(&gpgpu_type);
}

type_init(gpgpu_register)
