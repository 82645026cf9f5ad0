/* SPDX-License-Identifier: MIT */
/* A port of rv32.h to nowhere: copies from the device give zeros, launches end at once. */
#include "null.h"

#include "bus/driver.h"

#include "../hosted.h"
#include "../rv32.h"

#define LOG_MODULE "gpgpu-null"
#include "core/log.h"
#include "core/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NULL_VRAM_BYTES ((uint64_t)1 << 30)

struct null {
    struct rv32_device rv32;
    struct gpgpu_null_counts counts;
};

static struct null *to_null(struct rv32_device *dev)
{
    return container_of(dev, struct null, rv32);
}

static void null_write(struct rv32_device *dev, uint64_t dst, const void *src, size_t size)
{
    (void)dst;
    (void)src;
    to_null(dev)->counts.writes++;
    to_null(dev)->counts.written_bytes += size;
}

static int null_copy(struct rv32_device *dev, const struct rv32_copy *copy)
{
    if (copy->direction == RV32_FROM_DEVICE) {
        memset(copy->destination, 0, copy->size);
        to_null(dev)->counts.reads++;
        to_null(dev)->counts.read_bytes += copy->size;
    } else {
        null_write(dev, copy->device, copy->source, copy->size);
    }
    return 0;
}

static int null_copy_ended(struct rv32_device *dev)
{
    (void)dev;
    return 0;
}

static int null_start(struct rv32_device *dev, const struct rv32_start *start, bool chained)
{
    (void)start;
    (void)chained;
    to_null(dev)->counts.launches++;
    return 0;
}

static int null_launch_ended(struct rv32_device *dev, const struct rv32_start *start,
                             struct gpgpu_fault *fault)
{
    (void)dev;
    (void)start;
    (void)fault;
    return 0;
}

static int null_wait(struct rv32_device *dev, unsigned launches)
{
    (void)dev;
    (void)launches;
    return 0;
}

static void null_give_up(struct rv32_device *dev)
{
    (void)dev;
}

static const struct rv32_port null_port = {
    .depth = RV32_DEPTH,
    .write = null_write,
    .start = null_start,
    .launch_ended = null_launch_ended,
    .copy = null_copy,
    .copy_ended = null_copy_ended,
    .wait = null_wait,
    .give_up = null_give_up,
};

int gpgpu_null_create(uint64_t vram_bytes, struct gpgpu_device **out)
{
    struct null *null = calloc(1, sizeof(*null));
    if (!null)
        return -ENOMEM;
    struct gpgpu_caps caps = {
        .size = sizeof(caps),
        .name = "null",
        .isa = GPGPU_ISA_RV32,
        .compute_units = 1,
        .warp_size = 32,
        .max_block = 1024,
        .vram_bytes = vram_bytes,
        .shared_max = 65536,
        .features = GPGPU_FEATURE_SHARED | GPGPU_FEATURE_WARP | GPGPU_FEATURE_ATOMICS | GPGPU_FEATURE_NARROW,
    };
    int err = rv32_init(&null->rv32, &null_port, &caps);
    if (err) {
        free(null);
        return err;
    }
    null->rv32.gpgpu.name = "null";
    *out = &null->rv32.gpgpu;
    return 0;
}

void gpgpu_null_destroy(struct gpgpu_device *dev)
{
    struct null *null = to_null(container_of(dev, struct rv32_device, gpgpu));
    rv32_destroy(&null->rv32);
    free(null);
}

const struct gpgpu_null_counts *gpgpu_null_counts(const struct gpgpu_device *dev)
{
    return &container_of((struct gpgpu_device *)dev, struct null, rv32.gpgpu)->counts;
}

static int null_probe(struct device *dev)
{
    if (dev->number > 0 || !hosted_gpu_wanted("null"))
        return -ENODEV;
    struct gpgpu_device *gpgpu;
    int err = gpgpu_null_create(NULL_VRAM_BYTES, &gpgpu);
    if (err)
        return err;
    gpgpu->name = dev->name;
    dev->ops = gpgpu->ops;
    dev->priv = gpgpu;
    return 0;
}

static void null_remove(struct device *dev)
{
    const struct gpgpu_null_counts *c = gpgpu_null_counts(dev->priv);
    log_info("%" PRIu64 " writes of %" PRIu64 " bytes, %" PRIu64 " reads of %" PRIu64 " bytes, %" PRIu64
             " launches",
             c->writes, c->written_bytes, c->reads, c->read_bytes, c->launches);
    gpgpu_null_destroy(dev->priv);
}

PLATFORM_DRIVER(gpgpu_null) = {
    .name = "gpgpu_null",
    .class = DEVICE_GPGPU,
    .probe = null_probe,
    .remove = null_remove,
};
