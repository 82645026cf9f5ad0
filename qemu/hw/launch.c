/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel launches: from DISPATCH to the engine and back.
 *
 * A launch runs on the engine's threads while the machine goes on. Its end comes back as a bottom half on the
 * main loop. Whoever waits for a launch under the big lock may do so, as the engine's threads never take that
 * lock.
 */
#include "qemu/osdep.h"
#include "gpgpu.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "system/qtest.h"
#include "trace.h"

/* A stop of the machine waits this long for a launch before it interrupts it. */
#define STOP_PATIENCE_MS 2000

static void record_fault(GPGPUState *s, const struct simt_fault *fault)
{
    uint32_t count = s->reg[REG_FAULT_COUNT];

    s->reg[REG_FAULT_COUNT] = count + MIN(fault->count, UINT32_MAX - count);
    if (s->reg[REG_FAULT_CAUSE]) {
        return;
    }
    s->reg[REG_FAULT_CAUSE] = fault->cause;
    s->reg[REG_FAULT_PC] = fault->pc;
    s->reg[REG_FAULT_ADDR] = fault->addr;
    s->reg[REG_FAULT_INSN] = fault->insn;
    s->reg[REG_FAULT_MHARTID] = fault->mhartid;
}

static void clear_fault_record(GPGPUState *s)
{
    for (enum gpgpu_reg reg = REG_FAULT_CAUSE; reg <= REG_FAULT_COUNT; reg++) {
        s->reg[reg] = 0;
    }
}

void gpgpu_write_error_status(GPGPUState *s, uint32_t value)
{
    if (value & (GPGPU_ERROR_INVALID_COMMAND | GPGPU_ERROR_VRAM_FAULT | GPGPU_ERROR_KERNEL_FAULT)) {
        clear_fault_record(s);
    }
}

static bool idle(GPGPUState *s)
{
    return s->launch_state == LAUNCH_IDLE && !gpgpu_queue_busy(s);
}

uint32_t gpgpu_read_global_status(GPGPUState *s, enum gpgpu_reg reg)
{
    return (idle(s) ? GPGPU_STATUS_READY : GPGPU_STATUS_BUSY) |
           (s->reg[REG_ERROR_STATUS] ? GPGPU_STATUS_ERROR : 0);
}

/* Accesses that left every window are VRAM faults too. */
uint32_t gpgpu_error_bits(enum simt_cause cause)
{
    switch (cause) {
    case SIMT_FETCH_FAULT:
    case SIMT_ACCESS_FAULT:
        return GPGPU_ERROR_KERNEL_FAULT | GPGPU_ERROR_VRAM_FAULT;
    default:
        return GPGPU_ERROR_KERNEL_FAULT;
    }
}

/* Tell the guest how the launch ended; fault is NULL when every thread ended normally. */
static void complete(GPGPUState *s, const struct simt_fault *fault)
{
    char text[256];

    s->launch_state = LAUNCH_IDLE;
    gpgpu_vram_dirty(s, 0, s->vram_size);
    trace_gpgpu_launch_done(gpgpu_name(s), fault ? fault->cause : SIMT_OK);
    if (fault) {
        simt_fault_describe(fault, text, sizeof(text));
        gpgpu_guest_error(s, "%s", text);
        record_fault(s, fault);
        gpgpu_error_raise(s, gpgpu_error_bits(fault->cause));
    } else {
        gpgpu_irq_raise(s, GPGPU_IRQ_KERNEL);
    }
    gpgpu_queue_kick(s);
}

static void launch_done_bh(void *opaque)
{
    GPGPUState *s = opaque;

    complete(s, s->launch_faulted ? &s->launch_fault : NULL);
}

/* On a worker thread: hand the outcome to the main loop. Scheduling orders the stores before the bottom half.
 */
static void launch_done_on_worker(void *opaque, const struct simt_fault *fault)
{
    GPGPUState *s = opaque;

    s->launch_faulted = fault != NULL;
    if (fault) {
        s->launch_fault = *fault;
    }
    qemu_bh_schedule(s->launch_bh);
}

/* Give s->launch, which is valid, to the idle engine. */
static void start(GPGPUState *s)
{
    int error = simt_start(s->simt, &s->launch, launch_done_on_worker, s);

    if (error) {
        error_report("%s: engine refused a checked launch: %s", gpgpu_name(s), strerror(-error));
        gpgpu_error_raise(s, GPGPU_ERROR_INVALID_COMMAND);
        return;
    }
    s->launch_state = LAUNCH_RUNNING;
}

/* Wait for the engine and do at once what its bottom half would. */
static void finish(GPGPUState *s)
{
    simt_wait(s->simt);
    qemu_bh_cancel(s->launch_bh);
    launch_done_bh(s);
}

static void read_launch(const GPGPUState *s, struct simt_launch *launch)
{
    *launch = (struct simt_launch){
        .kernel = gpgpu_reg64(s, REG_KERNEL_ADDR_LO),
        .args = gpgpu_reg64(s, REG_KERNEL_ARGS_LO),
        .shared_size = s->reg[REG_SHARED_MEM_SIZE],
    };
    for (unsigned i = 0; i < 3; i++) {
        launch->grid[i] = s->reg[REG_GRID_DIM_X + i];
        launch->block[i] = s->reg[REG_BLOCK_DIM_X + i];
    }
}

static void refuse(GPGPUState *s, const char *why)
{
    gpgpu_guest_error(s, "launch refused: %s", why);
    gpgpu_error_raise(s, GPGPU_ERROR_INVALID_COMMAND);
}

void gpgpu_write_dispatch(GPGPUState *s, uint32_t value)
{
    const struct simt_fault bad_launch = {.cause = SIMT_BAD_LAUNCH, .count = 1};
    struct simt_launch launch;
    char why[128];

    if (!(s->reg[REG_GLOBAL_CTRL] & GPGPU_CTRL_ENABLE)) {
        refuse(s, "the device is not enabled");
        return;
    }
    if (!idle(s)) {
        refuse(s, "the device is busy");
        return;
    }
    read_launch(s, &launch);
    if (simt_check_launch(s->simt, &launch, why, sizeof(why))) {
        record_fault(s, &bad_launch);
        refuse(s, why);
        return;
    }
    trace_gpgpu_launch_start(gpgpu_name(s), launch.kernel, launch.args, launch.grid[0], launch.grid[1],
                             launch.grid[2], launch.block[0], launch.block[1], launch.block[2]);
    s->launch = launch;
    start(s);
    if (s->launch_synchronous && s->launch_state == LAUNCH_RUNNING) {
        finish(s);
    }
}

static void wait_with_patience(GPGPUState *s)
{
    int64_t deadline = qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + STOP_PATIENCE_MS;

    while (simt_busy(s->simt) && qemu_clock_get_ms(QEMU_CLOCK_REALTIME) < deadline) {
        g_usleep(1000);
    }
}

void gpgpu_launch_end(GPGPUState *s, bool patient)
{
    if (patient) {
        wait_with_patience(s);
    }
    simt_cancel(s->simt);
    simt_wait(s->simt);
}

/* Stop the engine. Returns whether that cut the launch short: it may have ended by itself just before. */
static bool stop(GPGPUState *s, bool patient)
{
    gpgpu_launch_end(s, patient);
    qemu_bh_cancel(s->launch_bh);
    gpgpu_vram_dirty(s, 0, s->vram_size);
    return s->launch_faulted && s->launch_fault.cause == SIMT_CANCELLED;
}

void gpgpu_launch_cancel(GPGPUState *s)
{
    if (s->launch_state == LAUNCH_RUNNING) {
        stop(s, false);
        trace_gpgpu_launch_done(gpgpu_name(s), SIMT_CANCELLED);
    }
    s->launch_state = LAUNCH_IDLE;
}

/*
 * The machine stops: what is saved now must not change any more. A launch that does not end soon is
 * interrupted and, if the machine may go on (keep), starts again from its first instruction then, on VRAM as
 * it left it.
 */
void gpgpu_launch_vm_stop(GPGPUState *s, bool keep)
{
    if (s->launch_state == LAUNCH_RUNNING) {
        if (stop(s, keep)) {
            s->launch_state = LAUNCH_INTERRUPTED;
        } else {
            launch_done_bh(s);
        }
    }
    /* If the process ends now, exit() must not find the compiler at work, and nobody destroys the engine. */
    simt_drain(s->simt);
    simt_timeline_write(s->simt);
}

void gpgpu_launch_vm_start(GPGPUState *s)
{
    if (s->launch_state == LAUNCH_INTERRUPTED) {
        warn_report("%s: starting the interrupted kernel again", gpgpu_name(s));
        s->launch_state = LAUNCH_IDLE;
        start(s);
    }
}

static bool parse_engine(const char *name, enum simt_engine *engine, Error **errp)
{
    static const char *const names[] = {
        [SIMT_ENGINE_AUTO] = "auto",
        [SIMT_ENGINE_INTERP] = "interp",
        [SIMT_ENGINE_JIT] = "jit",
        [SIMT_ENGINE_CHECK] = "check",
    };

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        if (!name || !strcmp(name, names[i])) {
            *engine = i;
            return true;
        }
    }
    error_setg(errp, "engine=%s: choose auto, interp, jit or check", name);
    return false;
}

static void engine_log(void *opaque, const char *message)
{
    warn_report("%s: %s", gpgpu_name(opaque), message);
}

/* The clock that the machine's own timers follow: software's time CSR is this in other units. */
static uint64_t virtual_clock(void *opaque)
{
    return (uint64_t)qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

bool gpgpu_launch_init(GPGPUState *s, Error **errp)
{
    struct simt_config config = {
        .num_cus = s->num_cus,
        .warps_per_cu = s->warps_per_cu,
        .warp_size = s->warp_size,
        .max_insns = s->max_insns,
        .timeout_ms = s->timeout_ms,
        .trace_path = s->trace,
        .trace_block = s->trace_block,
        .trace_warp = s->trace_warp,
        .timeline_path = s->timeline,
        .name = object_get_canonical_path_component(OBJECT(s)),
        .clock = virtual_clock,
        .log = engine_log,
        .log_opaque = s,
    };
    int error;

    if (!parse_engine(s->engine, &config.engine, errp)) {
        return false;
    }
    error = simt_create(&s->simt, &config, memory_region_get_ram_ptr(&s->vram), s->vram_size);
    if (error) {
        error_setg_errno(errp, -error, "cannot create the engine");
        return false;
    }
    s->launch_synchronous = s->sync == ON_OFF_AUTO_ON || (s->sync == ON_OFF_AUTO_AUTO && qtest_enabled());
    s->launch_bh = qemu_bh_new(launch_done_bh, s);
    return true;
}

void gpgpu_launch_exit(GPGPUState *s)
{
    simt_destroy(s->simt);
    if (s->launch_bh) {
        qemu_bh_delete(s->launch_bh);
    }
}
