/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a snapshot or a migration carries: registers, counters and an interrupted launch. VRAM goes as RAM. */
#include "qemu/osdep.h"
#include "gpgpu.h"
#include "hw/pci/msix.h"
#include "migration/vmstate.h"

static int pre_save(void *opaque)
{
    GPGPUState *s = opaque;

    /* The machine has stopped, and with it the work: see vm_change() in gpgpu.c. */
    assert(s->launch_state != LAUNCH_RUNNING && !(s->reg[REG_DMA_STATUS] & GPGPU_DMA_BUSY));
    gpgpu_counters_fold(s);
    return 0;
}

static int pre_load(void *opaque)
{
    gpgpu_reset(opaque);
    return 0;
}

/* A stream can hold anything; a launch from it is as untrusted as one from the guest. */
static int post_load(void *opaque, int version_id)
{
    GPGPUState *s = opaque;
    char why[128];

    if (s->launch_state == LAUNCH_IDLE) {
        return 0;
    }
    if (s->launch_state != LAUNCH_INTERRUPTED || simt_check_launch(s->simt, &s->launch, why, sizeof(why))) {
        return -EINVAL;
    }
    return 0;
}

static bool queue_needed(void *opaque)
{
    return ((GPGPUState *)opaque)->queue.enabled;
}

static int queue_post_load(void *opaque, int version_id)
{
    GPGPUState *s = opaque;

    s->queue.enabled = true; /* its memory is looked up when the machine starts */
    return gpgpu_queue_valid(s) ? 0 : -EINVAL;
}

static const VMStateDescription vmstate_queue = {
    .name = "gpgpu/queue",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = queue_needed,
    .post_load = queue_post_load,
    .fields =
        (const VMStateField[]){
            VMSTATE_UINT64(queue.base, GPGPUState),
            VMSTATE_UINT32(queue.size, GPGPUState),
            VMSTATE_UINT32(queue.head, GPGPUState),
            VMSTATE_UINT32(queue.tail, GPGPUState),
            VMSTATE_BOOL(queue.failed, GPGPUState),
            VMSTATE_UINT32_2DARRAY(queue.descriptor, GPGPUState, GPGPU_QUEUE_MAX, GPGPU_QUEUE_WORDS),
            VMSTATE_END_OF_LIST(),
        },
};

const VMStateDescription vmstate_gpgpu = {
    .name = "gpgpu",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = pre_save,
    .pre_load = pre_load,
    .post_load = post_load,
    .fields =
        (const VMStateField[]){
            VMSTATE_PCI_DEVICE(pdev, GPGPUState),
            VMSTATE_MSIX(pdev, GPGPUState),
            VMSTATE_UINT64_EQUAL(vram_size, GPGPUState, "vram_size must be the same on both sides"),
            VMSTATE_UINT32_ARRAY(reg, GPGPUState, GPGPU_NUM_REGS),
            VMSTATE_UINT64_ARRAY(counter_base, GPGPUState, GPGPU_NUM_COUNTERS),
            VMSTATE_UINT32(launch_state, GPGPUState),
            VMSTATE_UINT64(launch.kernel, GPGPUState),
            VMSTATE_UINT64(launch.args, GPGPUState),
            VMSTATE_UINT32_ARRAY(launch.grid, GPGPUState, 3),
            VMSTATE_UINT32_ARRAY(launch.block, GPGPUState, 3),
            VMSTATE_UINT32(launch.shared_size, GPGPUState),
            VMSTATE_END_OF_LIST(),
        },
    .subsections = (const VMStateDescription *const[]){&vmstate_queue, NULL},
};
