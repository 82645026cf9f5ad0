/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The GPGPU PCI device: its BARs, properties and life. docs/device.md is the contract with software. */
#include "qemu/osdep.h"
#include "gpgpu.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "qemu/module.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "migration/vmstate.h"
#include "trace.h"

const char *gpgpu_name(const GPGPUState *s)
{
    return DEVICE(s)->id ?: TYPE_GPGPU;
}

void gpgpu_guest_error(const GPGPUState *s, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    if (!qemu_loglevel_mask(LOG_GUEST_ERROR)) {
        return;
    }
    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    qemu_log("%s: %s\n", gpgpu_name(s), text);
}

void gpgpu_reset(GPGPUState *s)
{
    trace_gpgpu_reset(gpgpu_name(s));
    gpgpu_queue_disable(s);
    gpgpu_launch_cancel(s);
    gpgpu_dma_cancel(s);
    gpgpu_counters_clear(s);
    gpgpu_regs_reset(s);
    gpgpu_irq_update_intx(s);
}

void gpgpu_write_global_ctrl(GPGPUState *s, uint32_t value)
{
    if (value & GPGPU_CTRL_RESET) {
        gpgpu_reset(s);
        s->reg[REG_GLOBAL_CTRL] = value & GPGPU_CTRL_ENABLE;
    }
}

static uint64_t doorbell_read(void *opaque, hwaddr addr, unsigned size)
{
    gpgpu_guest_error(opaque, "doorbell 0x%" HWADDR_PRIx " read: doorbells are for writing", addr);
    return 0;
}

static void doorbell_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    if (addr == 0 && size == 4) {
        gpgpu_queue_ring(opaque, (uint32_t)value);
    } else {
        gpgpu_guest_error(opaque, "doorbell 0x%" HWADDR_PRIx " rung with %u bytes: there is one, a word at 0",
                          addr, size);
    }
}

static const MemoryRegionOps doorbell_ops = {
    .read = doorbell_read,
    .write = doorbell_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 1, .max_access_size = 8, .unaligned = true},
    .impl = {.min_access_size = 1, .max_access_size = 8, .unaligned = true},
};

/* Work does not go on while the machine is stopped, so that a snapshot holds all of it. */
static void vm_change(void *opaque, bool running, RunState state)
{
    GPGPUState *s = opaque;

    if (running) {
        gpgpu_launch_vm_start(s);
        gpgpu_queue_vm_start(s);
    } else {
        gpgpu_dma_finish(s);
        gpgpu_queue_vm_stop(s, state != RUN_STATE_SHUTDOWN);
        gpgpu_launch_vm_stop(s, state != RUN_STATE_SHUTDOWN);
    }
}

static bool check_range(const char *name, uint32_t value, uint32_t max, Error **errp)
{
    if (value < 1 || value > max) {
        error_setg(errp, "%s=%" PRIu32 ": must be from 1 to %" PRIu32, name, value, max);
        return false;
    }
    return true;
}

static bool check_properties(const GPGPUState *s, Error **errp)
{
    if (!is_power_of_2(s->vram_size) || s->vram_size < GPGPU_MIN_VRAM_SIZE ||
        s->vram_size > SIMT_MAX_VRAM_SIZE) {
        error_setg(errp, "vram_size=%" PRIu64 ": must be a power of two from %u to %u MiB", s->vram_size,
                   (unsigned)(GPGPU_MIN_VRAM_SIZE / MiB), (unsigned)(SIMT_MAX_VRAM_SIZE / MiB));
        return false;
    }
    return check_range("num_cus", s->num_cus, 64, errp) &&
           check_range("warps_per_cu", s->warps_per_cu, 32, errp) &&
           check_range("warp_size", s->warp_size, SIMT_LANES, errp);
}

static bool init_bars(GPGPUState *s, Error **errp)
{
    PCIDevice *pdev = &s->pdev;

    if (!memory_region_init_ram(&s->vram, OBJECT(s), "gpgpu-vram", s->vram_size, errp)) {
        return false;
    }
    memory_region_init_io(&s->ctrl, OBJECT(s), &gpgpu_regs_ops, s, "gpgpu-ctrl", GPGPU_CTRL_SIZE);
    memory_region_init_io(&s->doorbell, OBJECT(s), &doorbell_ops, s, "gpgpu-doorbell", GPGPU_DOORBELL_SIZE);
    pci_register_bar(pdev, 0, PCI_BASE_ADDRESS_MEM_TYPE_64, &s->ctrl);
    pci_register_bar(pdev, 2, PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH, &s->vram);
    pci_register_bar(pdev, 4, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->doorbell);
    return true;
}

/* MSI-X is left out on a machine whose interrupt controllers cannot take messages. */
static bool init_msix(GPGPUState *s, Error **errp)
{
    Error *local = NULL;
    int error = msix_init(&s->pdev, GPGPU_MSIX_VECTORS, &s->ctrl, 0, GPGPU_MSIX_TABLE, &s->ctrl, 0,
                          GPGPU_MSIX_PBA, 0, &local);

    if (error == -ENOTSUP) {
        error_free(local);
        return true;
    }
    if (error) {
        error_propagate(errp, local);
        return false;
    }
    for (unsigned vector = 0; vector < GPGPU_MSIX_VECTORS; vector++) {
        msix_vector_use(&s->pdev, vector);
    }
    return true;
}

/* Give back what init_bars() and later steps took, as far as they came. */
static void release(GPGPUState *s)
{
    gpgpu_launch_exit(s);
    gpgpu_queue_exit(s);
    gpgpu_dma_exit(s);
    vmstate_unregister_ram(&s->vram, DEVICE(s));
}

static bool init_capabilities(GPGPUState *s, Error **errp)
{
    pci_config_set_interrupt_pin(s->pdev.config, 1);
    if (!init_msix(s, errp)) {
        return false;
    }
    if (pci_bus_is_express(pci_get_bus(&s->pdev)) && pcie_endpoint_cap_init(&s->pdev, 0) < 0) {
        msix_uninit(&s->pdev, &s->ctrl, &s->ctrl);
        error_setg(errp, "no room for the PCI Express capability");
        return false;
    }
    return true;
}

static void gpgpu_realize(PCIDevice *pdev, Error **errp)
{
    GPGPUState *s = GPGPU(pdev);

    if (!check_properties(s, errp) || !init_bars(s, errp)) {
        return;
    }
    gpgpu_dma_init(s);
    gpgpu_queue_init(s);
    if (!gpgpu_launch_init(s, errp) || !init_capabilities(s, errp)) {
        release(s);
        return;
    }
    s->vm_change = qdev_add_vm_change_state_handler(DEVICE(s), vm_change, s);
    gpgpu_regs_reset(s);
}

static void gpgpu_exit(PCIDevice *pdev)
{
    GPGPUState *s = GPGPU(pdev);

    qemu_del_vm_change_state_handler(s->vm_change);
    gpgpu_queue_disable(s);
    gpgpu_launch_cancel(s);
    release(s);
    if (pci_bus_is_express(pci_get_bus(pdev))) {
        pcie_cap_exit(pdev);
    }
    msix_uninit(pdev, &s->ctrl, &s->ctrl);
}

/* The bus resets what is common to PCI devices, MSI-X included. */
static void gpgpu_hold_reset(Object *obj, ResetType type)
{
    gpgpu_reset(GPGPU(obj));
}

/* Turning MSI-X off with something pending moves it to INTA#. Without bus mastering there is neither queue
 * nor transfer. */
static void gpgpu_config_write(PCIDevice *pdev, uint32_t addr, uint32_t value, int size)
{
    pci_default_write_config(pdev, addr, value, size);
    gpgpu_irq_update_intx(GPGPU(pdev));
    if (!(pci_get_word(pdev->config + PCI_COMMAND) & PCI_COMMAND_MASTER)) {
        gpgpu_queue_disable(GPGPU(pdev));
        gpgpu_dma_abort(GPGPU(pdev));
    }
}

static const Property gpgpu_properties[] = {
    DEFINE_PROP_SIZE("vram_size", GPGPUState, vram_size, 64 * MiB),
    DEFINE_PROP_UINT32("num_cus", GPGPUState, num_cus, 4),
    DEFINE_PROP_UINT32("warps_per_cu", GPGPUState, warps_per_cu, 4),
    DEFINE_PROP_UINT32("warp_size", GPGPUState, warp_size, 32),
    DEFINE_PROP_STRING("engine", GPGPUState, engine),
    DEFINE_PROP_ON_OFF_AUTO("sync", GPGPUState, sync, ON_OFF_AUTO_AUTO),
    DEFINE_PROP_BOOL("queue", GPGPUState, queue_property, true),
    DEFINE_PROP_UINT64("max_insns", GPGPUState, max_insns, 0),
    DEFINE_PROP_UINT32("timeout_ms", GPGPUState, timeout_ms, 0),
    DEFINE_PROP_STRING("trace", GPGPUState, trace),
    DEFINE_PROP_UINT64("trace_block", GPGPUState, trace_block, 0),
    DEFINE_PROP_UINT32("trace_warp", GPGPUState, trace_warp, 0),
    DEFINE_PROP_STRING("timeline", GPGPUState, timeline),
};

static void describe_properties(ObjectClass *klass)
{
    static const char *const texts[][2] = {
        {"vram_size", "bytes of VRAM, a power of two up to 1G"},
        {"num_cus", "compute units, a host thread each"},
        {"warps_per_cu", "warps per compute unit, as DEV_CAPS tells"},
        {"warp_size", "threads put into a warp"},
        {"engine", "auto, interp, jit or check"},
        {"sync", "whether a dispatch returns after completion: on, off, auto: only under qtest"},
        {"queue", "whether the device has the launch queue"},
        {"max_insns", "instruction budget of a thread, 0 for none"},
        {"timeout_ms", "wall-clock limit of a launch, 0 for none"},
        {"trace", "file to write one warp's instructions to"},
        {"trace_block", "linear index of the traced block"},
        {"trace_warp", "warp of that block"},
        {"timeline", "file to write to when launches, warps and transfers ran"},
    };

    for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
        object_class_property_set_description(klass, texts[i][0], texts[i][1]);
    }
}

static void gpgpu_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *k = PCI_DEVICE_CLASS(klass);

    k->realize = gpgpu_realize;
    k->exit = gpgpu_exit;
    k->config_write = gpgpu_config_write;
    k->vendor_id = PCI_VENDOR_ID_QEMU;
    k->device_id = GPGPU_DEVICE_ID;
    k->revision = GPGPU_REVISION;
    k->class_id = PCI_CLASS_DISPLAY_3D;
    dc->desc = "SIMT GPGPU that runs RISC-V kernels";
    dc->vmsd = &vmstate_gpgpu;
    device_class_set_props(dc, gpgpu_properties);
    describe_properties(klass);
    RESETTABLE_CLASS(klass)->phases.hold = gpgpu_hold_reset;
    set_bit(DEVICE_CATEGORY_DISPLAY, dc->categories);
}

/* A device for both kinds of bus says before realize that it has the larger configuration space. */
static void gpgpu_instance_init(Object *obj)
{
    PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
}

static const TypeInfo gpgpu_type = {
    .name = TYPE_GPGPU,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(GPGPUState),
    .instance_init = gpgpu_instance_init,
    .class_init = gpgpu_class_init,
    .interfaces = (InterfaceInfo[]){{INTERFACE_PCIE_DEVICE}, {INTERFACE_CONVENTIONAL_PCI_DEVICE}, {}},
};

static void gpgpu_register(void)
{
    type_register_static(&gpgpu_type);
}

type_init(gpgpu_register)
