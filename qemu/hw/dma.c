/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DMA engine. The first slice of a transfer is copied within the store that starts it, so that a small
 * one is done when the store is. The rest goes to a thread where the host side is RAM, straight between it
 * and VRAM, in pieces as large as they are contiguous. Where it is not, a bounce buffer and a timer copy
 * slice by slice. Either way a large transfer keeps nobody from the big lock for long.
 */
#include "qemu/osdep.h"
#include "gpgpu.h"
#include "trace.h"

#define FIRST_SLICE (64 * KiB)
#define SLICE       (1 * MiB)
#define PAUSE_NS    20000

static uint32_t left(const GPGPUState *s)
{
    return s->dma.size - s->dma.done;
}

static bool in_vram(const GPGPUState *s, uint64_t offset)
{
    return offset <= s->vram_size && s->dma.size <= s->vram_size - offset;
}

/* Whether the device side of the transfer lies in VRAM and the host side in 64 bits. */
static bool valid(const GPGPUState *s)
{
    bool src_on_bus = !(s->dma.ctrl & (GPGPU_DMA_TO_HOST | GPGPU_DMA_IN_VRAM));
    bool dst_on_bus = (s->dma.ctrl & (GPGPU_DMA_TO_HOST | GPGPU_DMA_IN_VRAM)) == GPGPU_DMA_TO_HOST;

    return (src_on_bus ? s->dma.src <= UINT64_MAX - s->dma.size : in_vram(s, s->dma.src)) &&
           (dst_on_bus ? s->dma.dst <= UINT64_MAX - s->dma.size : in_vram(s, s->dma.dst));
}

/* Copy the next n bytes within VRAM; from the end where the ranges overlap the wrong way round. */
static void copy_in_vram(GPGPUState *s, uint32_t n)
{
    uint8_t *vram = memory_region_get_ram_ptr(&s->vram);
    uint64_t at = s->dma.dst > s->dma.src ? left(s) - n : s->dma.done;

    memmove(vram + s->dma.dst + at, vram + s->dma.src + at, n);
    gpgpu_vram_dirty(s, s->dma.dst + at, n);
}

static MemTxResult copy_from_host(GPGPUState *s, uint32_t n)
{
    uint64_t to = s->dma.dst + s->dma.done;
    MemTxResult result = pci_dma_read(&s->pdev, s->dma.src + s->dma.done, s->dma.bounce, n);

    if (result == MEMTX_OK) {
        memcpy((uint8_t *)memory_region_get_ram_ptr(&s->vram) + to, s->dma.bounce, n);
        gpgpu_vram_dirty(s, to, n);
    }
    return result;
}

static MemTxResult copy_to_host(GPGPUState *s, uint32_t n)
{
    uint64_t from = s->dma.src + s->dma.done;

    memcpy(s->dma.bounce, (uint8_t *)memory_region_get_ram_ptr(&s->vram) + from, n);
    return pci_dma_write(&s->pdev, s->dma.dst + s->dma.done, s->dma.bounce, n);
}

/* Copy the next n bytes. The host side may be this device's own BAR: VRAM is copied through the bounce
 * buffer, and registers are kept from being entered again by the guard. */
static bool copy(GPGPUState *s, uint32_t n)
{
    MemReentrancyGuard *guard = &DEVICE(s)->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;
    MemTxResult result = MEMTX_OK;

    guard->engaged_in_io = true;
    if (s->dma.ctrl & GPGPU_DMA_IN_VRAM) {
        copy_in_vram(s, n);
    } else if (s->dma.ctrl & GPGPU_DMA_TO_HOST) {
        result = copy_to_host(s, n);
    } else {
        result = copy_from_host(s, n);
    }
    guard->engaged_in_io = engaged;
    s->dma.done += n;
    return result == MEMTX_OK;
}

static void complete(GPGPUState *s, bool ok)
{
    enum simt_direction direction = s->dma.ctrl & GPGPU_DMA_IN_VRAM   ? SIMT_WITHIN_DEVICE
                                    : s->dma.ctrl & GPGPU_DMA_TO_HOST ? SIMT_FROM_DEVICE
                                                                      : SIMT_TO_DEVICE;

    simt_timeline_transfer(s->simt, direction, s->dma.begin, s->dma.done);
    trace_gpgpu_dma_done(gpgpu_name(s), s->dma.done, ok);
    s->reg[REG_DMA_STATUS] = ok ? GPGPU_DMA_COMPLETE : GPGPU_DMA_ERROR;
    if (ok && s->dma.ctrl & GPGPU_DMA_IRQ) {
        gpgpu_irq_raise(s, GPGPU_IRQ_DMA);
    }
    if (!ok) {
        gpgpu_error_raise(s, GPGPU_ERROR_DMA_FAULT);
    }
}

/* Copy at most limit bytes more and complete the transfer when that was the rest or failed. */
static void advance(GPGPUState *s, uint32_t limit)
{
    uint32_t stop_at = s->dma.done + MIN(limit, left(s));

    while (s->dma.done < stop_at) {
        if (!copy(s, MIN(stop_at - s->dma.done, sizeof(s->dma.bounce)))) {
            gpgpu_guest_error(
                s, "DMA: bus error within %" PRIu32 " of %" PRIu32 " bytes from 0x%" PRIx64 " to 0x%" PRIx64,
                s->dma.done, s->dma.size, s->dma.src, s->dma.dst);
            complete(s, false);
            return;
        }
    }
    if (!left(s)) {
        complete(s, true);
    }
}

static bool busy(const GPGPUState *s)
{
    return s->reg[REG_DMA_STATUS] & GPGPU_DMA_BUSY;
}

/* ---- pieces ---- */

static bool to_host(const GPGPUState *s)
{
    return !(s->dma.ctrl & GPGPU_DMA_IN_VRAM) && s->dma.ctrl & GPGPU_DMA_TO_HOST;
}

static void forget_memory(GPGPUState *s)
{
    address_space_cache_destroy(&s->dma.memory);
    s->dma.memory = (MemoryRegionCache){0};
}

/* Resolve as much of the rest of the host side as is contiguous RAM. Returns its length, 0 if it is none. */
static uint32_t resolve_host(GPGPUState *s)
{
    uint64_t at = (to_host(s) ? s->dma.dst : s->dma.src) + s->dma.done;
    int64_t length =
        address_space_cache_init(&s->dma.memory, pci_get_address_space(&s->pdev), at, left(s), to_host(s));

    if (!s->dma.memory.ptr) {
        forget_memory(s);
        return 0;
    }
    return (uint32_t)length;
}

/* Give the copier the rest of a copy within VRAM, of which advance() may have done the end. */
static void start_piece_in_vram(GPGPUState *s)
{
    uint8_t *vram = memory_region_get_ram_ptr(&s->vram);
    uint32_t at = s->dma.dst > s->dma.src ? 0 : s->dma.done;

    s->dma.piece = left(s);
    gpgpu_copier_start(&s->dma.copier, vram + s->dma.dst + at, vram + s->dma.src + at, s->dma.piece);
}

/* Give the copier the next piece. False where the host side is no RAM. */
static bool start_piece(GPGPUState *s)
{
    uint8_t *vram = (uint8_t *)memory_region_get_ram_ptr(&s->vram) + s->dma.done;

    if (s->dma.ctrl & GPGPU_DMA_IN_VRAM) {
        start_piece_in_vram(s);
        return true;
    }
    s->dma.piece = resolve_host(s);
    if (!s->dma.piece) {
        return false;
    }
    if (to_host(s)) {
        gpgpu_copier_start(&s->dma.copier, s->dma.memory.ptr, vram + s->dma.src, s->dma.piece);
    } else {
        gpgpu_copier_start(&s->dma.copier, vram + s->dma.dst, s->dma.memory.ptr, s->dma.piece);
    }
    return true;
}

/* The copier no longer works on the piece, which may be copied in part. */
static void end_piece(GPGPUState *s)
{
    if (to_host(s)) {
        address_space_cache_invalidate(&s->dma.memory, 0, s->dma.piece);
    } else {
        gpgpu_vram_dirty(s, s->dma.dst, s->dma.size);
    }
    forget_memory(s);
    s->dma.done += s->dma.piece;
    s->dma.piece = 0;
}

static void go_on(GPGPUState *s)
{
    if (start_piece(s)) {
        return;
    }
    advance(s, SLICE);
    if (busy(s)) {
        timer_mod_ns(s->dma.timer, qemu_clock_get_ns(QEMU_CLOCK_REALTIME) + PAUSE_NS);
    }
}

static void next_slice(void *opaque)
{
    go_on(opaque);
}

static void piece_done(void *opaque)
{
    GPGPUState *s = opaque;

    end_piece(s);
    if (left(s)) {
        go_on(s);
    } else {
        complete(s, true);
    }
}

static void start(GPGPUState *s)
{
    s->dma.src = gpgpu_reg64(s, REG_DMA_SRC_LO);
    s->dma.dst = gpgpu_reg64(s, REG_DMA_DST_LO);
    s->dma.size = s->reg[REG_DMA_SIZE];
    s->dma.ctrl = s->reg[REG_DMA_CTRL];
    s->dma.done = 0;
    s->dma.begin = simt_timeline_now(s->simt);
    s->reg[REG_DMA_STATUS] = GPGPU_DMA_BUSY;
    trace_gpgpu_dma_start(gpgpu_name(s), s->dma.src, s->dma.dst, s->dma.size, s->dma.ctrl);
    if (!valid(s)) {
        gpgpu_guest_error(
            s, "DMA: %" PRIu32 " bytes from 0x%" PRIx64 " to 0x%" PRIx64 " leave the address space or VRAM",
            s->dma.size, s->dma.src, s->dma.dst);
        complete(s, false);
        return;
    }
    advance(s, s->launch_synchronous ? UINT32_MAX : FIRST_SLICE);
    if (busy(s)) {
        go_on(s);
    }
}

void gpgpu_write_dma_ctrl(GPGPUState *s, uint32_t value)
{
    if (!(value & GPGPU_DMA_START)) {
        return;
    }
    if (busy(s)) {
        gpgpu_guest_error(s, "DMA started while one is in flight");
        gpgpu_error_raise(s, GPGPU_ERROR_INVALID_COMMAND);
        return;
    }
    start(s);
}

void gpgpu_dma_finish(GPGPUState *s)
{
    while (busy(s)) {
        if (s->dma.piece) {
            gpgpu_copier_wait(&s->dma.copier, false);
            piece_done(s);
        } else {
            advance(s, UINT32_MAX);
        }
    }
    timer_del(s->dma.timer);
}

static void stop(GPGPUState *s)
{
    timer_del(s->dma.timer);
    if (s->dma.piece) {
        gpgpu_copier_wait(&s->dma.copier, true);
        end_piece(s);
    }
}

void gpgpu_dma_cancel(GPGPUState *s)
{
    stop(s);
    s->reg[REG_DMA_STATUS] &= ~GPGPU_DMA_BUSY;
}

void gpgpu_dma_abort(GPGPUState *s)
{
    stop(s);
    if (busy(s)) {
        complete(s, false);
    }
}

void gpgpu_dma_init(GPGPUState *s)
{
    s->dma.timer = timer_new_ns(QEMU_CLOCK_REALTIME, next_slice, s);
    gpgpu_copier_init(&s->dma.copier, piece_done, s);
}

void gpgpu_dma_exit(GPGPUState *s)
{
    stop(s);
    gpgpu_copier_exit(&s->dma.copier);
    timer_free(s->dma.timer);
}
