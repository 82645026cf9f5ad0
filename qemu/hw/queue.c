/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The launch queue: descriptors in guest memory, one doorbell store for any number of them, completions
 * written back to guest memory. docs/device.md describes the layout.
 *
 * The doorbell copies the new descriptors, once, into the device; what the guest does to them afterwards is
 * without effect. From then on no big lock is needed: the engine's thread that ends a launch writes its
 * completion through a pointer to guest RAM that was resolved when the queue was enabled, and starts the next
 * launch itself. Only an interrupt, for which the guest has to ask, goes through the main loop.
 */
#include "qemu/osdep.h"
#include "gpgpu.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/lockable.h"
#include "qemu/main-loop.h"
#include "trace.h"

/* Offsets in the queue's memory: a header, then descriptors, then completions. */
#define HEADER_COMPLETED    0 /* device: descriptors completed since the queue was enabled */
#define HEADER_INTERRUPT_AT 4 /* guest: raise the queue interrupt when COMPLETED becomes this */
#define HEADER_SIZE         64
#define COMPLETION_SIZE     32

/* Words of a descriptor. */
enum {
    WORD_COMMAND,
    WORD_SHARED_SIZE,
    WORD_KERNEL, /* 64 bits, low word first */
    WORD_ARGS = 4,
    WORD_GRID = 6,
    WORD_BLOCK = 9,
    WORD_RESERVED = 12,
};

#define COMMAND_LAUNCH  0x001u
#define COMMAND_CHAINED 0x100u

static uint64_t memory_size(uint32_t size)
{
    return HEADER_SIZE +
           (uint64_t)size * (sizeof(((struct gpgpu_queue *)0)->descriptor[0]) + COMPLETION_SIZE);
}

static bool valid_placement(uint64_t base, uint32_t size)
{
    return size <= GPGPU_QUEUE_MAX && is_power_of_2(size) && base % HEADER_SIZE == 0 &&
           base <= UINT64_MAX - memory_size(size);
}

static bool mapped(const struct gpgpu_queue *q)
{
    return q->memory.ptr != NULL;
}

/* The bitmap of dirty pages is read when the machine has stopped; until then the engine's threads need not
 * tell it about each completion. */
static void note_writes(GPGPUState *s)
{
    if (qatomic_xchg(&s->queue.wrote, false)) {
        gpgpu_vram_dirty(s, 0, s->vram_size);
        address_space_cache_invalidate(&s->queue.memory, 0, memory_size(s->queue.size));
    }
}

static void unmap(struct gpgpu_queue *q)
{
    address_space_cache_destroy(&q->memory);
    q->memory = (MemoryRegionCache){0};
}

/* Resolve the queue's memory, all of which must be RAM. */
static bool map(GPGPUState *s)
{
    struct gpgpu_queue *q = &s->queue;
    uint64_t bytes = memory_size(q->size);

    if (address_space_cache_init(&q->memory, pci_get_address_space(&s->pdev), q->base, bytes, true) ==
            (int64_t)bytes &&
        mapped(q)) {
        return true;
    }
    unmap(q);
    gpgpu_guest_error(s,
                      "queue of %" PRIu64 " bytes at 0x%" PRIx64 ": not in memory that the device can reach",
                      bytes, q->base);
    return false;
}

/* ---- completions: on any thread, with the lock held ---- */

static void write_completion(struct gpgpu_queue *q, uint32_t status, const struct simt_fault *fault)
{
    uint8_t *record = q->memory.ptr + HEADER_SIZE + q->size * sizeof(q->descriptor[0]) +
                      q->head % q->size * (size_t)COMPLETION_SIZE;
    const struct simt_fault none = {0}, *f = fault ? fault : &none;
    const uint32_t words[COMPLETION_SIZE / 4] = {
        status, f->cause, f->pc, f->addr, f->insn, f->mhartid, f->count, q->head + 1,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
        stl_le_p(record + 4 * i, words[i]);
    }
}

/* Complete the descriptor at head. The guest stores INTERRUPT_AT before it looks at COMPLETED for the last
 * time, we the other way round, so that one of us sees the other. */
static void complete(GPGPUState *s, uint32_t status, const struct simt_fault *fault)
{
    struct gpgpu_queue *q = &s->queue;
    uint32_t *header = (uint32_t *)q->memory.ptr;

    trace_gpgpu_queue_done(gpgpu_name(s), q->head, status);
    write_completion(q, status, fault);
    q->failed = status != 0;
    q->head++;
    qatomic_set(&q->wrote, true);
    qatomic_store_release(&header[HEADER_COMPLETED / 4], cpu_to_le32(q->head));
    smp_mb();
    if (le32_to_cpu(qatomic_read(&header[HEADER_INTERRUPT_AT / 4])) == q->head) {
        qatomic_set(&q->interrupt, true);
        qemu_bh_schedule(q->bh);
    }
}

static void tell_fault(GPGPUState *s, const struct simt_fault *fault)
{
    char text[256];

    simt_fault_describe(fault, text, sizeof(text));
    gpgpu_guest_error(s, "descriptor %" PRIu32 ": %s", s->queue.head, text);
}

/* ---- launches: on any thread, with the lock held ---- */

static uint32_t word(const uint32_t *descriptor, unsigned index)
{
    return le32_to_cpu(descriptor[index]);
}

static bool read_launch(const uint32_t *d, struct simt_launch *launch)
{
    if ((word(d, WORD_COMMAND) & ~COMMAND_CHAINED) != COMMAND_LAUNCH ||
        !buffer_is_zero(&d[WORD_RESERVED], (GPGPU_QUEUE_WORDS - WORD_RESERVED) * sizeof(d[0]))) {
        return false;
    }
    *launch = (struct simt_launch){
        .kernel = (uint64_t)word(d, WORD_KERNEL + 1) << 32 | word(d, WORD_KERNEL),
        .args = (uint64_t)word(d, WORD_ARGS + 1) << 32 | word(d, WORD_ARGS),
        .shared_size = word(d, WORD_SHARED_SIZE),
    };
    for (unsigned i = 0; i < 3; i++) {
        launch->grid[i] = word(d, WORD_GRID + i);
        launch->block[i] = word(d, WORD_BLOCK + i);
    }
    return true;
}

static void done_on_worker(void *opaque, const struct simt_fault *fault);

/* Give the descriptor at head to the idle engine. 0, or the status with which it is complete already. */
static uint32_t start(GPGPUState *s)
{
    struct gpgpu_queue *q = &s->queue;
    const uint32_t *d = q->descriptor[q->head % q->size];
    struct simt_launch launch;
    char why[128] = "unknown command or reserved bits set";

    if (word(d, WORD_COMMAND) & COMMAND_CHAINED && q->failed) {
        return GPGPU_QUEUE_SKIPPED;
    }
    if (!read_launch(d, &launch) || simt_check_launch(s->simt, &launch, why, sizeof(why))) {
        gpgpu_guest_error(s, "descriptor %" PRIu32 " refused: %s", q->head, why);
        return GPGPU_ERROR_INVALID_COMMAND;
    }
    trace_gpgpu_launch_start(gpgpu_name(s), launch.kernel, launch.args, launch.grid[0], launch.grid[1],
                             launch.grid[2], launch.block[0], launch.block[1], launch.block[2]);
    return simt_start(s->simt, &launch, done_on_worker, s) ? GPGPU_ERROR_INVALID_COMMAND : 0;
}

/* Go on with the queue as far as it goes without waiting. */
static void advance(GPGPUState *s)
{
    const struct simt_fault bad_launch = {.cause = SIMT_BAD_LAUNCH, .count = 1};
    struct gpgpu_queue *q = &s->queue;

    while (!q->running && !q->paused && q->head != q->tail) {
        uint32_t status = start(s);
        q->running = status == 0;
        if (status) {
            complete(s, status, status == GPGPU_ERROR_INVALID_COMMAND ? &bad_launch : NULL);
        }
    }
}

/* A launch that the device itself stopped is not complete: it is forgotten or starts again. */
static void done_on_worker(void *opaque, const struct simt_fault *fault)
{
    GPGPUState *s = opaque;

    QEMU_LOCK_GUARD(&s->queue.lock);
    s->queue.running = false;
    qatomic_set(&s->queue.wrote, true);
    if (fault && fault->cause == SIMT_CANCELLED) {
        return;
    }
    if (fault) {
        tell_fault(s, fault);
    }
    complete(s, fault ? gpgpu_error_bits(fault->cause) : 0, fault);
    advance(s);
}

/* ---- under the big lock ---- */

static void raise_interrupt(void *opaque)
{
    GPGPUState *s = opaque;

    if (qatomic_xchg(&s->queue.interrupt, false)) {
        gpgpu_irq_raise(s, GPGPU_IRQ_QUEUE);
    }
}

bool gpgpu_queue_busy(GPGPUState *s)
{
    QEMU_LOCK_GUARD(&s->queue.lock);
    return s->queue.head != s->queue.tail;
}

void gpgpu_queue_kick(GPGPUState *s)
{
    if (!mapped(&s->queue) || s->launch_state != LAUNCH_IDLE) {
        return;
    }
    WITH_QEMU_LOCK_GUARD(&s->queue.lock)
    {
        advance(s);
    }
    if (s->launch_synchronous) {
        simt_wait(s->simt);
        raise_interrupt(s);
    }
}

/* Stop starting descriptors; returns whether one runs. */
static bool pause_queue(GPGPUState *s, bool paused, bool *was_paused)
{
    QEMU_LOCK_GUARD(&s->queue.lock);
    *was_paused = s->queue.paused;
    s->queue.paused = paused;
    return s->queue.running;
}

/* Forget everything; nothing is written to guest memory any more. */
void gpgpu_queue_disable(GPGPUState *s)
{
    struct gpgpu_queue *q = &s->queue;
    bool was_paused, ignored;

    if (pause_queue(s, true, &was_paused)) {
        simt_cancel(s->simt);
        simt_wait(s->simt);
    }
    note_writes(s);
    unmap(q);
    q->head = q->tail = 0;
    q->failed = q->interrupt = false;
    q->enabled = false;
    s->reg[REG_QUEUE_CTRL] = 0;
    pause_queue(s, was_paused, &ignored);
}

static bool enable(GPGPUState *s)
{
    struct gpgpu_queue *q = &s->queue;

    q->base = gpgpu_reg64(s, REG_QUEUE_BASE_LO);
    q->size = s->reg[REG_QUEUE_SIZE];
    if (!s->queue_property) {
        gpgpu_guest_error(s, "queue enabled, which this device does not have (queue=off)");
        return false;
    }
    if (!valid_placement(q->base, q->size)) {
        gpgpu_guest_error(s,
                          "queue of %" PRIu32 " descriptors at 0x%" PRIx64
                          ": the size must be a power of two up to %u, the base a multiple of %u",
                          q->size, q->base, GPGPU_QUEUE_MAX, HEADER_SIZE);
        return false;
    }
    if (!map(s)) {
        return false;
    }
    memset(q->memory.ptr, 0, HEADER_SIZE);
    qatomic_set(&q->wrote, true);
    q->enabled = true;
    return true;
}

void gpgpu_write_queue_ctrl(GPGPUState *s, uint32_t value)
{
    bool wanted = value & GPGPU_QUEUE_ENABLE;

    if (!wanted) {
        gpgpu_queue_disable(s);
    } else if (!s->queue.enabled && !enable(s)) {
        s->reg[REG_QUEUE_CTRL] = 0;
        gpgpu_error_raise(s, GPGPU_ERROR_INVALID_COMMAND);
    }
}

uint32_t gpgpu_read_queue_completed(GPGPUState *s, enum gpgpu_reg reg)
{
    QEMU_LOCK_GUARD(&s->queue.lock);
    return s->queue.head;
}

/* Copy the descriptors up to tail. False if the ring cannot hold that many, or tail goes back. */
static bool fetch(struct gpgpu_queue *q, uint32_t tail)
{
    const uint8_t *ring = q->memory.ptr + HEADER_SIZE;

    QEMU_LOCK_GUARD(&q->lock);
    if (tail - q->head > q->size || tail - q->head < q->tail - q->head) {
        return false;
    }
    for (; q->tail != tail; q->tail++) {
        uint32_t slot = q->tail % q->size;
        memcpy(q->descriptor[slot], ring + slot * sizeof(q->descriptor[0]), sizeof(q->descriptor[0]));
    }
    return true;
}

void gpgpu_queue_ring(GPGPUState *s, uint32_t tail)
{
    struct gpgpu_queue *q = &s->queue;
    const char *why = NULL;

    trace_gpgpu_queue_ring(gpgpu_name(s), tail);
    if (!(s->reg[REG_GLOBAL_CTRL] & GPGPU_CTRL_ENABLE)) {
        why = "the device is not enabled";
    } else if (!mapped(q)) {
        why = "no queue is there";
    } else if (!fetch(q, tail)) {
        why = "the ring does not hold that many descriptors";
    }
    if (why) {
        gpgpu_guest_error(s, "doorbell 0 rung with %" PRIu32 ": %s", tail, why);
        gpgpu_error_raise(s, GPGPU_ERROR_INVALID_COMMAND);
        return;
    }
    gpgpu_queue_kick(s);
}

void gpgpu_queue_vm_stop(GPGPUState *s, bool keep)
{
    bool ignored;

    if (pause_queue(s, true, &ignored)) {
        gpgpu_launch_end(s, keep);
    }
    qemu_bh_cancel(s->queue.bh);
    raise_interrupt(s);
    if (mapped(&s->queue)) {
        note_writes(s);
    }
}

void gpgpu_queue_vm_start(GPGPUState *s)
{
    bool ignored;

    if (s->queue.enabled && !mapped(&s->queue) && !map(s)) {
        error_report("%s: the launch queue that arrived lies outside memory: it is disabled", gpgpu_name(s));
        gpgpu_queue_disable(s);
        gpgpu_error_raise(s, GPGPU_ERROR_INVALID_COMMAND);
    }
    pause_queue(s, false, &ignored);
    gpgpu_queue_kick(s);
}

bool gpgpu_queue_valid(const GPGPUState *s)
{
    const struct gpgpu_queue *q = &s->queue;

    return !q->running && valid_placement(q->base, q->size) && q->tail - q->head <= q->size;
}

void gpgpu_queue_init(GPGPUState *s)
{
    qemu_mutex_init(&s->queue.lock);
    s->queue.bh = qemu_bh_new(raise_interrupt, s);
}

void gpgpu_queue_exit(GPGPUState *s)
{
    qemu_bh_delete(s->queue.bh);
    qemu_mutex_destroy(&s->queue.lock);
}
