/* SPDX-License-Identifier: MIT */
/* The device's engine inside this process: a port of rv32.h over the simt library, and a thread that copies.
 */
#include "bus/driver.h"
#include "drivers/gpgpu.h"

#include "../hosted.h"
#include "../rv32.h"
#include "sim.h"

#define LOG_MODULE "gpgpu-sim"
#include "core/log.h"
#include "core/util.h"
#include "hal/machine.h"
#include "simt/simt.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREAD_BYTES ((size_t)64 * 1024) /* shorter copies are done before a thread would begin */

/* A launch in the queue, and what became of it. */
struct sim_launch {
    struct simt_launch launch;
    bool chained;
    int result; /* -EINPROGRESS, 0, -EFAULT, -ECANCELED, -EIO */
    struct simt_fault fault;
};

/* Launches as the PCI device's queue has them: started one after the other by the engine's own threads.
 * Counts go on for ever; launch n has place n mod RV32_DEPTH. */
struct sim_queue {
    struct sim_launch launches[RV32_DEPTH];
    unsigned queued, ended, reported;
    bool running;  /* the engine has the one at `ended` */
    bool failed;   /* the last one that ended did not succeed */
    bool stopping; /* what ends now is forgotten */
};

struct sim_copier {
    pthread_t thread;
    void *to;
    const void *from;
    size_t size;
    enum simt_direction direction;
    enum { COPIER_IDLE, COPIER_BUSY, COPIER_DONE, COPIER_QUIT } state;
};

struct sim {
    struct rv32_device rv32;
    struct simt *engine;
    char *vram;
    unsigned timeout_ms;
    pthread_mutex_t lock;  /* of queue and copier */
    pthread_cond_t change; /* of their state */
    struct sim_queue queue;
    struct sim_copier copier;
};

static struct sim *to_sim(struct rv32_device *dev)
{
    return container_of(dev, struct sim, rv32);
}

/* ---- copies ---------------------------------------------------------------------------------------------
 */

static void sim_write(struct rv32_device *dev, uint64_t dst, const void *src, size_t size)
{
    memcpy(to_sim(dev)->vram + dst, src, size);
}

static void *copier(void *arg)
{
    struct sim *sim = arg;
    struct sim_copier *c = &sim->copier;
    pthread_mutex_lock(&sim->lock);
    while (c->state != COPIER_QUIT) {
        if (c->state != COPIER_BUSY) {
            pthread_cond_wait(&sim->change, &sim->lock);
            continue;
        }
        pthread_mutex_unlock(&sim->lock);
        uint64_t begin = simt_timeline_now(sim->engine);
        memcpy(c->to, c->from, c->size);
        simt_timeline_transfer(sim->engine, c->direction, begin, c->size);
        pthread_mutex_lock(&sim->lock);
        c->state = COPIER_DONE;
        pthread_cond_broadcast(&sim->change);
    }
    pthread_mutex_unlock(&sim->lock);
    return NULL;
}

static void resolve(struct sim *sim, const struct rv32_copy *copy, void **to, const void **from)
{
    char *device = sim->vram + copy->device;
    *to = copy->direction == RV32_FROM_DEVICE ? copy->destination : device;
    *from = copy->direction == RV32_TO_DEVICE ? copy->source
            : copy->direction == RV32_INSIDE  ? sim->vram + copy->from
                                              : device;
}

static int sim_copy(struct rv32_device *dev, const struct rv32_copy *copy)
{
    struct sim *sim = to_sim(dev);
    struct sim_copier *c = &sim->copier;
    static const enum simt_direction directions[] = {
        [RV32_TO_DEVICE] = SIMT_TO_DEVICE,
        [RV32_FROM_DEVICE] = SIMT_FROM_DEVICE,
        [RV32_INSIDE] = SIMT_WITHIN_DEVICE,
    };
    void *to;
    const void *from;
    resolve(sim, copy, &to, &from);
    if (copy->size < THREAD_BYTES) {
        memcpy(to, from, copy->size);
        return 0;
    }
    pthread_mutex_lock(&sim->lock);
    bool idle = c->state == COPIER_IDLE;
    if (idle) {
        c->to = to;
        c->from = from;
        c->size = copy->size;
        c->direction = directions[copy->direction];
        c->state = COPIER_BUSY;
        pthread_cond_broadcast(&sim->change);
    }
    pthread_mutex_unlock(&sim->lock);
    return idle ? -EINPROGRESS : -EBUSY;
}

static int sim_copy_ended(struct rv32_device *dev)
{
    struct sim *sim = to_sim(dev);
    pthread_mutex_lock(&sim->lock);
    bool done = sim->copier.state == COPIER_DONE;
    if (done)
        sim->copier.state = COPIER_IDLE;
    pthread_mutex_unlock(&sim->lock);
    return done ? 0 : -EINPROGRESS;
}

/* ---- launches -------------------------------------------------------------------------------------------
 */

static void launch_done(void *opaque, const struct simt_fault *fault);

/* The launch at `ended` has ended. The lock is held, as in the next function. */
static void end_launch(struct sim_queue *q, int result)
{
    q->launches[q->ended++ % RV32_DEPTH].result = result;
    q->failed = result != 0;
}

static void start_next(struct sim *sim)
{
    struct sim_queue *q = &sim->queue;
    while (!q->running && q->ended != q->queued) {
        struct sim_launch *next = &q->launches[q->ended % RV32_DEPTH];
        if (next->chained && q->failed) {
            end_launch(q, -ECANCELED);
            continue;
        }
        q->running = true;
        int err = simt_start(sim->engine, &next->launch, launch_done, sim);
        if (err) {
            log_error("%s: the engine refuses the launch: error %d", sim->rv32.gpgpu.name, err);
            q->running = false;
            end_launch(q, -EIO);
        }
    }
}

/* On a worker of the engine. */
static void launch_done(void *opaque, const struct simt_fault *fault)
{
    struct sim *sim = opaque;
    struct sim_queue *q = &sim->queue;
    pthread_mutex_lock(&sim->lock);
    q->running = false;
    if (!q->stopping) {
        if (fault)
            q->launches[q->ended % RV32_DEPTH].fault = *fault;
        end_launch(q, fault ? -EFAULT : 0);
        start_next(sim);
    }
    pthread_cond_broadcast(&sim->change);
    pthread_mutex_unlock(&sim->lock);
}

static int sim_start(struct rv32_device *dev, const struct rv32_start *start, bool chained)
{
    struct sim *sim = to_sim(dev);
    struct sim_launch launch = {
        .launch = {.kernel = start->kernel,
                   .args = start->args,
                   .grid = {start->grid[0], start->grid[1], start->grid[2]},
                   .block = {start->block[0], start->block[1], start->block[2]},
                   .shared_size = start->shared_bytes},
        .chained = chained,
        .result = -EINPROGRESS,
    };
    pthread_mutex_lock(&sim->lock);
    sim->queue.launches[sim->queue.queued++ % RV32_DEPTH] = launch;
    start_next(sim);
    pthread_mutex_unlock(&sim->lock);
    return 0;
}

/* The causes of the contract have the engine's numbers. */
_Static_assert((int)SIMT_ILLEGAL_INSN == (int)GPGPU_CAUSE_ILLEGAL_INSN, "fault causes differ");
_Static_assert((int)SIMT_BAD_LAUNCH == (int)GPGPU_CAUSE_BAD_LAUNCH, "fault causes differ");

static void tell_fault(const struct simt_fault *f, struct gpgpu_fault *fault)
{
    *fault = (struct gpgpu_fault){
        .cause = (enum gpgpu_cause)f->cause,
        .pc = f->pc,
        .addr = f->addr,
        .insn = f->insn,
        .thread = {f->thread[0], f->thread[1], f->thread[2]},
        .block = {f->block[0], f->block[1], f->block[2]},
        .count = f->count,
    };
}

static int sim_launch_ended(struct rv32_device *dev, const struct rv32_start *start,
                            struct gpgpu_fault *fault)
{
    struct sim *sim = to_sim(dev);
    struct sim_queue *q = &sim->queue;
    (void)start;
    pthread_mutex_lock(&sim->lock);
    const struct sim_launch *oldest = &q->launches[q->reported % RV32_DEPTH];
    int result = oldest->result;
    if (result == -EFAULT)
        tell_fault(&oldest->fault, fault);
    if (result != -EINPROGRESS)
        q->reported++;
    pthread_mutex_unlock(&sim->lock);
    return result;
}

/* ---- waiting --------------------------------------------------------------------------------------------
 */

static struct timespec in_ms(unsigned ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

static bool something_ended(const struct sim *sim, unsigned launches)
{
    const struct sim_queue *q = &sim->queue;
    return (launches > 0 && q->ended - q->reported >= launches) || sim->copier.state == COPIER_DONE;
}

static int sim_wait(struct rv32_device *dev, unsigned launches)
{
    struct sim *sim = to_sim(dev);
    struct timespec end = in_ms(sim->timeout_ms);
    int err = 0;
    pthread_mutex_lock(&sim->lock);
    while (!something_ended(sim, launches) && err == 0)
        err = pthread_cond_timedwait(&sim->change, &sim->lock, &end);
    pthread_mutex_unlock(&sim->lock);
    return err ? -ETIMEDOUT : 0;
}

static void sim_give_up(struct rv32_device *dev)
{
    struct sim *sim = to_sim(dev);
    struct sim_queue *q = &sim->queue;
    log_error("%s: nothing ended within %u ms: launches are cancelled", dev->gpgpu.name, sim->timeout_ms);
    pthread_mutex_lock(&sim->lock);
    q->stopping = true;
    pthread_mutex_unlock(&sim->lock);
    simt_cancel(sim->engine);
    simt_wait(sim->engine);
    pthread_mutex_lock(&sim->lock);
    q->queued = q->ended = q->reported = 0;
    q->stopping = q->failed = false;
    while (sim->copier.state == COPIER_BUSY)
        pthread_cond_wait(&sim->change, &sim->lock);
    if (sim->copier.state == COPIER_DONE)
        sim->copier.state = COPIER_IDLE;
    pthread_mutex_unlock(&sim->lock);
}

static const struct rv32_port sim_port = {
    .depth = RV32_DEPTH,
    .write = sim_write,
    .start = sim_start,
    .launch_ended = sim_launch_ended,
    .copy = sim_copy,
    .copy_ended = sim_copy_ended,
    .wait = sim_wait,
    .give_up = sim_give_up,
};

static void log_engine(void *opaque, const char *msg)
{
    (void)opaque;
    log_warn("%s", msg);
}

static int start_copier(struct sim *sim)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&sim->change, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&sim->lock, NULL);
    return -pthread_create(&sim->copier.thread, NULL, copier, sim);
}

static void stop_copier(struct sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim->copier.state = COPIER_QUIT;
    pthread_cond_broadcast(&sim->change);
    pthread_mutex_unlock(&sim->lock);
    pthread_join(sim->copier.thread, NULL);
}

static void destroy_locks(struct sim *sim)
{
    pthread_cond_destroy(&sim->change);
    pthread_mutex_destroy(&sim->lock);
}

static void sim_caps(const struct sim *sim, uint64_t vram_size, struct gpgpu_caps *caps)
{
    const struct simt_config *config = simt_get_config(sim->engine);
    *caps = (struct gpgpu_caps){
        .size = sizeof(*caps),
        .name = "sim",
        .isa = GPGPU_ISA_RV32,
        .compute_units = config->num_cus,
        .warp_size = config->warp_size,
        .max_block = SIMT_MAX_BLOCK,
        .vram_bytes = vram_size,
        .shared_max = config->shared_max,
        .private_size = config->private_size,
        .features = GPGPU_FEATURE_FAULT_RECORD | GPGPU_FEATURE_COPY_D2D | GPGPU_FEATURE_SHARED |
                    GPGPU_FEATURE_WARP | GPGPU_FEATURE_ATOMICS | GPGPU_FEATURE_NARROW |
                    GPGPU_FEATURE_EXECUTES | GPGPU_FEATURE_ASYNC | GPGPU_FEATURE_STREAMS,
    };
}

int gpgpu_sim_create(const struct gpgpu_sim_config *config, struct gpgpu_device **out)
{
    struct sim *sim = calloc(1, sizeof(*sim));
    if (!sim)
        return -ENOMEM;
    int err = -ENOMEM;
    sim->timeout_ms = config->timeout_ms;
    sim->vram = calloc(1, config->vram_bytes);
    if (!sim->vram)
        goto free_sim;
    struct simt_config engine = config->engine ? *config->engine : (struct simt_config){0};
    engine.log = log_engine;
    engine.name = "sim";
    engine.timeline_path = config->timeline;
    err = simt_create(&sim->engine, &engine, sim->vram, config->vram_bytes);
    if (err)
        goto free_vram;
    struct gpgpu_caps caps;
    sim_caps(sim, config->vram_bytes, &caps);
    err = rv32_init(&sim->rv32, &sim_port, &caps);
    if (err)
        goto destroy_engine;
    err = start_copier(sim);
    if (err)
        goto destroy_rv32;
    sim->rv32.gpgpu.name = "sim";
    *out = &sim->rv32.gpgpu;
    return 0;

destroy_rv32:
    destroy_locks(sim);
    rv32_destroy(&sim->rv32);
destroy_engine:
    simt_destroy(sim->engine);
free_vram:
    free(sim->vram);
free_sim:
    free(sim);
    return err;
}

/* Whether kernels ran compiled, and what that cost. */
static void log_statistics(const struct sim *sim)
{
    struct simt_statistics spent;
    struct simt_counters counted;
    simt_statistics_read(sim->engine, &spent);
    simt_counters_read(sim->engine, &counted);
    log_debug("%lu kernels compiled in %lu ms, %lu refused (%s); interpreted for %lu ms, compiled code ran "
              "for %lu ms and issued %lu of %lu instructions",
              (unsigned long)spent.compiled, (unsigned long)(spent.compile_ns / 1000000),
              (unsigned long)spent.refused, spent.refusal ? spent.refusal : "none",
              (unsigned long)(spent.interpret_ns / 1000000), (unsigned long)(spent.execute_ns / 1000000),
              (unsigned long)spent.compiled_insns, (unsigned long)counted.insns);
}

void gpgpu_sim_destroy(struct gpgpu_device *dev)
{
    struct sim *sim = to_sim(container_of(dev, struct rv32_device, gpgpu));
    rv32_destroy(&sim->rv32);
    stop_copier(sim);
    log_statistics(sim);
    simt_destroy(sim->engine);
    destroy_locks(sim);
    free(sim->vram);
    free(sim);
}

struct simt *gpgpu_sim_engine(struct gpgpu_device *dev)
{
    return to_sim(container_of(dev, struct rv32_device, gpgpu))->engine;
}

static int parse_engine(const char *name, enum simt_engine *engine)
{
    static const char *const names[] = {
        [SIMT_ENGINE_AUTO] = "auto",
        [SIMT_ENGINE_INTERP] = "interp",
        [SIMT_ENGINE_JIT] = "jit",
        [SIMT_ENGINE_CHECK] = "check",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (!name || strcmp(name, names[i]) == 0) {
            *engine = (enum simt_engine)i;
            return 0;
        }
    }
    log_error("sim: engine %s: choose auto, interp, jit or check", name);
    return -EINVAL;
}

/* Of a variable of the environment, 0 when it is not set. */
static uint32_t environment_number(const char *name)
{
    const char *text = getenv(name);
    return text ? (uint32_t)strtoul(text, NULL, 0) : 0;
}

static int sim_probe(struct device *dev)
{
    if (dev->number >= CONFIG_GPGPU_SIM_DEVICES || !hosted_gpu_wanted("sim"))
        return -ENODEV;
    char timeline[PATH_MAX];
    struct simt_config engine = {.num_cus = environment_number("WEFT_UNITS"),
                                 .vector_bits = environment_number("WEFT_VECTOR_BITS")};
    struct gpgpu_sim_config config = {
        .timeline = machine_bootarg("timeline", timeline, sizeof(timeline)) ? timeline : NULL,
        .vram_bytes = (uint64_t)CONFIG_GPGPU_SIM_VRAM_MIB << 20,
        .timeout_ms = CONFIG_GPGPU_TIMEOUT_MS,
        .engine = &engine,
    };
    struct gpgpu_device *gpgpu;
    int err = parse_engine(getenv("WEFT_ENGINE"), &engine.engine);
    if (!err)
        err = gpgpu_sim_create(&config, &gpgpu);
    if (err)
        return err;
    gpgpu->name = dev->name;
    dev->ops = gpgpu->ops;
    dev->priv = gpgpu;
    return 0;
}

static void sim_remove(struct device *dev)
{
    gpgpu_sim_destroy(dev->priv);
}

PLATFORM_DRIVER(gpgpu_sim) = {
    .name = "gpgpu_sim",
    .class = DEVICE_GPGPU,
    .probe = sim_probe,
    .remove = sim_remove,
};
