/* SPDX-License-Identifier: MIT */
/* The device's engine inside this process: a port of rv32.h over the simt library. */
#include "bus/driver.h"
#include "drivers/gpgpu.h"

#include "../hosted.h"
#include "../rv32.h"
#include "sim.h"

#define LOG_MODULE "gpgpu-sim"
#include "core/log.h"
#include "core/util.h"
#include "simt/simt.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sim {
    struct rv32_device rv32;
    struct simt *engine;
    char *vram;
    unsigned timeout_ms;
    pthread_mutex_t lock;
    pthread_cond_t done_signal;
    bool done;               /* the launch in flight has ended */
    struct simt_fault fault; /* of it; cause SIMT_OK: none */
};

static struct sim *to_sim(struct rv32_device *dev)
{
    return container_of(dev, struct sim, rv32);
}

static int sim_write(struct rv32_device *dev, uint64_t dst, const void *src, size_t size)
{
    memcpy(to_sim(dev)->vram + dst, src, size);
    return 0;
}

static int sim_read(struct rv32_device *dev, void *dst, uint64_t src, size_t size)
{
    memcpy(dst, to_sim(dev)->vram + src, size);
    return 0;
}

static int sim_copy(struct rv32_device *dev, uint64_t dst, uint64_t src, size_t size)
{
    memcpy(to_sim(dev)->vram + dst, to_sim(dev)->vram + src, size);
    return 0;
}

/* On a worker of the engine. */
static void launch_done(void *opaque, const struct simt_fault *fault)
{
    struct sim *sim = opaque;
    pthread_mutex_lock(&sim->lock);
    sim->fault = fault ? *fault : (struct simt_fault){.cause = SIMT_OK};
    sim->done = true;
    pthread_cond_signal(&sim->done_signal);
    pthread_mutex_unlock(&sim->lock);
}

static int sim_start(struct rv32_device *dev, const struct rv32_start *start)
{
    struct sim *sim = to_sim(dev);
    struct simt_launch launch = {
        .kernel = start->kernel,
        .args = start->args,
        .grid = {start->grid[0], start->grid[1], start->grid[2]},
        .block = {start->block[0], start->block[1], start->block[2]},
        .shared_size = start->shared_bytes,
    };
    sim->done = false;
    int err = simt_start(sim->engine, &launch, launch_done, sim);
    if (err)
        log_error("%s: the engine refuses the launch: error %d", dev->gpgpu.name, err);
    return err;
}

static bool wait_done(struct sim *sim)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += sim->timeout_ms / 1000;
    end.tv_nsec += (long)(sim->timeout_ms % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    pthread_mutex_lock(&sim->lock);
    int err = 0;
    while (!sim->done && err == 0)
        err = pthread_cond_timedwait(&sim->done_signal, &sim->lock, &end);
    bool done = sim->done;
    pthread_mutex_unlock(&sim->lock);
    return done;
}

/* The causes of the contract have the engine's numbers. */
_Static_assert((int)SIMT_ILLEGAL_INSN == (int)GPGPU_CAUSE_ILLEGAL_INSN, "fault causes differ");
_Static_assert((int)SIMT_BAD_LAUNCH == (int)GPGPU_CAUSE_BAD_LAUNCH, "fault causes differ");

static int sim_wait(struct rv32_device *dev, const struct rv32_start *start, struct gpgpu_fault *fault)
{
    struct sim *sim = to_sim(dev);
    (void)start;
    if (!wait_done(sim)) {
        simt_cancel(sim->engine);
        simt_wait(sim->engine);
        log_error("%s: launch did not end within %u ms: cancelled", dev->gpgpu.name, sim->timeout_ms);
        return -ETIMEDOUT;
    }
    simt_wait(sim->engine); /* the callback has returned */
    const struct simt_fault *f = &sim->fault;
    if (f->cause == SIMT_OK)
        return 0;
    *fault = (struct gpgpu_fault){
        .cause = (enum gpgpu_cause)f->cause,
        .pc = f->pc,
        .addr = f->addr,
        .insn = f->insn,
        .thread = {f->thread[0], f->thread[1], f->thread[2]},
        .block = {f->block[0], f->block[1], f->block[2]},
        .count = f->count,
    };
    return -EFAULT;
}

static const struct rv32_port sim_port = {
    .write = sim_write,
    .read = sim_read,
    .copy = sim_copy,
    .start = sim_start,
    .wait = sim_wait,
};

static void log_engine(void *opaque, const char *msg)
{
    (void)opaque;
    log_warn("%s", msg);
}

static void init_signal(struct sim *sim)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&sim->done_signal, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&sim->lock, NULL);
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
                    GPGPU_FEATURE_EXECUTES | GPGPU_FEATURE_ASYNC,
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
    struct simt_config engine = {.log = log_engine};
    err = simt_create(&sim->engine, &engine, sim->vram, config->vram_bytes);
    if (err)
        goto free_vram;
    init_signal(sim);
    struct gpgpu_caps caps;
    sim_caps(sim, config->vram_bytes, &caps);
    err = rv32_init(&sim->rv32, &sim_port, &caps);
    if (err)
        goto destroy_engine;
    sim->rv32.gpgpu.name = "sim";
    *out = &sim->rv32.gpgpu;
    return 0;

destroy_engine:
    simt_destroy(sim->engine);
free_vram:
    free(sim->vram);
free_sim:
    free(sim);
    return err;
}

void gpgpu_sim_destroy(struct gpgpu_device *dev)
{
    struct sim *sim = to_sim(container_of(dev, struct rv32_device, gpgpu));
    rv32_destroy(&sim->rv32);
    simt_destroy(sim->engine);
    pthread_cond_destroy(&sim->done_signal);
    pthread_mutex_destroy(&sim->lock);
    free(sim->vram);
    free(sim);
}

static int sim_probe(struct device *dev)
{
    if (dev->number >= CONFIG_GPGPU_SIM_DEVICES || !hosted_gpu_wanted("sim"))
        return -ENODEV;
    struct gpgpu_sim_config config = {
        .vram_bytes = (uint64_t)CONFIG_GPGPU_SIM_VRAM_MIB << 20,
        .timeout_ms = CONFIG_GPGPU_TIMEOUT_MS,
    };
    struct gpgpu_device *gpgpu;
    int err = gpgpu_sim_create(&config, &gpgpu);
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
