/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPGPU device model: state and the calls between its files.
 *
 * Everything here runs under the big QEMU lock, but for what the engine's worker threads call when a launch
 * ends: launch_done_on_worker() in launch.c hands it over to the main loop; done_on_worker() in queue.c
 * completes it and goes on, under the queue's own lock.
 */
#ifndef HW_GPGPU_GPGPU_H
#define HW_GPGPU_GPGPU_H

#include "qemu/units.h"
#include "hw/pci/pci_device.h"
#include "qemu/timer.h"
#include "system/runstate.h"
#include "copier.h"
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

#define GPGPU_CAPS2       0xffu
#define GPGPU_CAPS2_QUEUE 0x80u

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
#define GPGPU_IRQ_QUEUE  0x8u
#define GPGPU_IRQ_ALL    0xfu

#define GPGPU_DMA_START   0x1u
#define GPGPU_DMA_TO_HOST 0x2u
#define GPGPU_DMA_IRQ     0x4u
#define GPGPU_DMA_IN_VRAM 0x8u

#define GPGPU_DMA_BUSY     0x1u
#define GPGPU_DMA_COMPLETE 0x2u
#define GPGPU_DMA_ERROR    0x4u

#define GPGPU_QUEUE_ENABLE 0x1u
#define GPGPU_QUEUE_MAX    256u /* descriptors of the ring */
#define GPGPU_QUEUE_WORDS  16u  /* words of a descriptor */

/* Status of a completion, beside the bits of ERROR_STATUS. */
#define GPGPU_QUEUE_SKIPPED 0x10u

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

struct gpgpu_queue {
    QemuMutex lock; /* head, tail, running, paused, failed */
    bool enabled;
    bool running;   /* the engine has the descriptor at head */
    bool paused;    /* none is started */
    bool failed;    /* the last one that was completed did not succeed */
    bool wrote;     /* VRAM and the queue's memory are dirty; atomic */
    bool interrupt; /* an interrupt is due; atomic */
    uint32_t head;  /* descriptors completed; counts on through 2^32 */
    uint32_t tail;  /* descriptors fetched */
    uint32_t size;  /* descriptors of the ring */
    uint64_t base;  /* bus address */
    uint32_t descriptor[GPGPU_QUEUE_MAX][GPGPU_QUEUE_WORDS]; /* little-endian, as fetched */
    MemoryRegionCache memory;
    QEMUBH *bh;
};

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

    struct gpgpu_queue queue; /* queue.c */

    /* dma.c */
    struct {
        uint64_t src;
        uint64_t dst;
        uint32_t size;
        uint32_t done;
        uint32_t ctrl;
        QEMUTimer *timer;
        uint64_t begin;           /* on the timeline */
        uint32_t piece;           /* bytes that the copier has, 0: none */
        MemoryRegionCache memory; /* the host side of the piece */
        struct gpgpu_copier copier;
        uint8_t bounce[64 * KiB];
    } dma;

    /* properties */
    uint64_t vram_size;
    uint32_t num_cus;
    uint32_t warps_per_cu;
    uint32_t warp_size;
    char *engine;
    OnOffAuto sync;
    bool queue_property;
    uint64_t max_insns;
    uint32_t timeout_ms;
    char *trace;
    uint64_t trace_block;
    uint32_t trace_warp;
    char *timeline;
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
uint32_t gpgpu_read_queue_completed(GPGPUState *s, enum gpgpu_reg reg);
void gpgpu_write_queue_ctrl(GPGPUState *s, uint32_t value);

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
/* Return when nothing runs any more: patiently, or by stopping what does. */
void gpgpu_launch_end(GPGPUState *s, bool patient);
/* ERROR_STATUS for a fault. */
uint32_t gpgpu_error_bits(enum simt_cause cause);

/* queue.c */
void gpgpu_queue_init(GPGPUState *s);
void gpgpu_queue_exit(GPGPUState *s);
/* The doorbell: descriptors up to the free-running count tail are ready. */
void gpgpu_queue_ring(GPGPUState *s, uint32_t tail);
/* Go on with waiting descriptors if the engine is free. */
void gpgpu_queue_kick(GPGPUState *s);
/* Whether descriptors wait or run. */
bool gpgpu_queue_busy(GPGPUState *s);
void gpgpu_queue_disable(GPGPUState *s);
void gpgpu_queue_vm_stop(GPGPUState *s, bool keep);
void gpgpu_queue_vm_start(GPGPUState *s);
/* Whether the state that came with a migration can be a queue's. */
bool gpgpu_queue_valid(const GPGPUState *s);

/* counters.c */
void gpgpu_counters_clear(GPGPUState *s);
void gpgpu_counters_fold(GPGPUState *s);

/* dma.c */
void gpgpu_dma_init(GPGPUState *s);
void gpgpu_dma_exit(GPGPUState *s);
void gpgpu_dma_cancel(GPGPUState *s);
/* End a transfer in flight with an error. */
void gpgpu_dma_abort(GPGPUState *s);
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
