/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPGPU device model: state and the calls between its files.
 *
 * Everything here runs under the big QEMU lock. The engine's worker threads touch only VRAM and, through
 * launch_done_on_worker() in launch.c, hand over a finished launch.
 */
#ifndef HW_GPGPU_GPGPU_H
#define HW_GPGPU_GPGPU_H

#include "qemu/units.h"
#include "hw/pci/pci_device.h"
#include "qemu/timer.h"
#include "system/runstate.h"
#include "simt/simt.h"

#define TYPE_GPGPU "gpgpu"
OBJECT_DECLARE_SIMPLE_TYPE(GPGPUState, GPGPU)

#define GPGPU_DEVICE_ID     0x1337
#define GPGPU_REVISION      0x01
#define GPGPU_CTRL_SIZE     (1 * MiB)
#define GPGPU_DOORBELL_SIZE (64 * KiB)
#define GPGPU_MIN_VRAM_SIZE (1 * MiB)
#define GPGPU_MSIX_VECTORS  4
#define GPGPU_MSIX_TABLE    0xfe000
#define GPGPU_MSIX_PBA      0xff000

#define GPGPU_CAPS2 0x7fu

#define GPGPU_CTRL_ENABLE 0x1u
#define GPGPU_CTRL_RESET  0x2u

#define GPGPU_STATUS_READY 0x1u
#define GPGPU_STATUS_BUSY  0x2u
#define GPGPU_STATUS_ERROR 0x4u

#define GPGPU_ERROR_INVALID_COMMAND 0x1u
#define GPGPU_ERROR_VRAM_FAULT      0x2u
#define GPGPU_ERROR_KERNEL_FAULT    0x4u
#define GPGPU_ERROR_DMA_FAULT       0x8u
#define GPGPU_ERROR_ALL             0xfu

/* Bits of IRQ_STATUS; a bit's number is that of its MSI-X vector. */
#define GPGPU_IRQ_KERNEL 0x1u
#define GPGPU_IRQ_DMA    0x2u
#define GPGPU_IRQ_ERROR  0x4u
#define GPGPU_IRQ_ALL    0xfu

#define GPGPU_DMA_START   0x1u
#define GPGPU_DMA_TO_HOST 0x2u
#define GPGPU_DMA_IRQ     0x4u
#define GPGPU_DMA_IN_VRAM 0x8u

#define GPGPU_DMA_BUSY     0x1u
#define GPGPU_DMA_COMPLETE 0x2u
#define GPGPU_DMA_ERROR    0x4u

/* Index of a register in GPGPUState::reg. */
enum gpgpu_reg {
#define REGISTER(name, offset, access, reset, mask, read, write, doc) REG_##name,
#include "registers.inc"
#undef REGISTER
    GPGPU_NUM_REGS
};

enum gpgpu_launch_state {
    LAUNCH_IDLE,
    LAUNCH_RUNNING,
    LAUNCH_INTERRUPTED, /* cut short by a stop of the machine; starts again when it goes on */
};

#define GPGPU_NUM_COUNTERS 8

struct GPGPUState {
    PCIDevice pdev;
    MemoryRegion ctrl;     /* BAR0 */
    MemoryRegion vram;     /* BAR2 */
    MemoryRegion doorbell; /* BAR4 */
    uint32_t reg[GPGPU_NUM_REGS];
    VMChangeStateEntry *vm_change;

    /* launch.c */
    struct simt *simt;
    struct simt_launch launch;
    uint32_t launch_state;
    struct simt_fault launch_fault; /* written by a worker before it schedules launch_bh */
    bool launch_faulted;
    QEMUBH *launch_bh;
    bool launch_synchronous;
    uint64_t counter_base[GPGPU_NUM_COUNTERS]; /* counted before the engine's own counters began */

    /* dma.c */
    struct {
        uint64_t src;
        uint64_t dst;
        uint32_t size;
        uint32_t done;
        uint32_t ctrl;
        QEMUTimer *timer;
        uint8_t bounce[64 * KiB];
    } dma;

    /* properties */
    uint64_t vram_size;
    uint32_t num_cus;
    uint32_t warps_per_cu;
    uint32_t warp_size;
    char *engine;
    OnOffAuto sync;
    uint64_t max_insns;
    uint32_t timeout_ms;
    char *trace;
    uint64_t trace_block;
    uint32_t trace_warp;
};

/* Name for messages: the id that the user gave, else "gpgpu". */
const char *gpgpu_name(const GPGPUState *s);

/* Tell about something the guest did wrong, when -d guest_errors asks for it. */
void gpgpu_guest_error(const GPGPUState *s, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* gpgpu.c: stop all work and put every register to its reset value. */
void gpgpu_reset(GPGPUState *s);

/* regs.c */
extern const MemoryRegionOps gpgpu_regs_ops;
void gpgpu_regs_reset(GPGPUState *s);
static inline uint64_t gpgpu_reg64(const GPGPUState *s, enum gpgpu_reg low)
{
    return (uint64_t)s->reg[low + 1] << 32 | s->reg[low];
}

/* The functions that registers.inc names. */
uint32_t gpgpu_read_global_status(GPGPUState *s, enum gpgpu_reg reg);
uint32_t gpgpu_read_counter(GPGPUState *s, enum gpgpu_reg reg);
void gpgpu_write_global_ctrl(GPGPUState *s, uint32_t value);
void gpgpu_write_error_status(GPGPUState *s, uint32_t value);
void gpgpu_write_irq_enable(GPGPUState *s, uint32_t value);
void gpgpu_write_irq_ack(GPGPUState *s, uint32_t value);
void gpgpu_write_dispatch(GPGPUState *s, uint32_t value);
void gpgpu_write_dma_ctrl(GPGPUState *s, uint32_t value);
void gpgpu_write_count_clear(GPGPUState *s, uint32_t value);

/* irq.c */
void gpgpu_irq_raise(GPGPUState *s, uint32_t bits);
void gpgpu_irq_update_intx(GPGPUState *s);
/* Set bits of ERROR_STATUS and raise the error interrupt. */
void gpgpu_error_raise(GPGPUState *s, uint32_t bits);

/* launch.c: the engine. */
bool gpgpu_launch_init(GPGPUState *s, Error **errp);
void gpgpu_launch_exit(GPGPUState *s);
void gpgpu_launch_cancel(GPGPUState *s);
void gpgpu_launch_vm_stop(GPGPUState *s, bool keep);
void gpgpu_launch_vm_start(GPGPUState *s);

/* counters.c */
void gpgpu_counters_clear(GPGPUState *s);
void gpgpu_counters_fold(GPGPUState *s);

/* dma.c */
void gpgpu_dma_init(GPGPUState *s);
void gpgpu_dma_exit(GPGPUState *s);
void gpgpu_dma_cancel(GPGPUState *s);
/* Complete a transfer in flight before returning. */
void gpgpu_dma_finish(GPGPUState *s);

/* vmstate.c */
extern const VMStateDescription vmstate_gpgpu;

/* Note that [offset, offset + size) of VRAM was written other than through guest stores. */
static inline void gpgpu_vram_dirty(GPGPUState *s, uint64_t offset, uint64_t size)
{
    memory_region_set_dirty(&s->vram, offset, size);
}

#endif
