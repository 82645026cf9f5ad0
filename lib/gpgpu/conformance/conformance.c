/* SPDX-License-Identifier: MIT */
#include "gpgpu/conformance.h"

#include "conformance.h"

#include "core/errno.h"
#include "core/test.h"

#include <stdio.h>

void conformance_fail(struct conformance *c, const char *file, int line, const char *condition)
{
    c->failed = true;
    fail("%s: %s: %s (%s:%d)", c->dev->name, c->name, condition, file, line);
}

void conformance_fail_error(struct conformance *c, const char *file, int line, const char *call, int got,
                            int wanted)
{
    c->failed = true;
    fail("%s: %s: %s returned %s, expected %s (%s:%d)", c->dev->name, c->name, call,
         got ? error_name(got) : "0", wanted ? error_name(wanted) : "0", file, line);
}

void conformance_skip(struct conformance *c, const char *why)
{
    c->skipped = true;
    printf("[SKIP] %s: %s: %s\n", c->dev->name, c->name, why);
}

bool conformance_limit_is_long(struct conformance *c)
{
    bool is_long = c->timeout_ms > 10000;
    if (is_long)
        conformance_skip(c, "its time limit is long");
    return is_long;
}

/* Remember a handle in the first place that is free. */
static int keep(uint64_t *places, size_t n, uint64_t handle)
{
    for (size_t i = 0; i < n; i++) {
        if (places[i] == 0) {
            places[i] = handle;
            return 0;
        }
    }
    return -ENOSPC;
}

int conformance_alloc(struct conformance *c, size_t size, gpgpu_addr_t *out)
{
    int err = gpgpu_device_mem_alloc(c->dev, size, out);
    if (err)
        return err;
    err = keep(c->allocs, ARRAY_SIZE(c->allocs), *out);
    if (err)
        gpgpu_device_mem_free(c->dev, *out);
    return err;
}

int conformance_module(struct conformance *c, const struct gpgpu_kernel_image *image, gpgpu_module_t *out)
{
    int err = gpgpu_device_module_load(c->dev, image, out);
    if (err)
        return err;
    err = keep(c->modules, ARRAY_SIZE(c->modules), *out);
    if (err)
        gpgpu_device_module_unload(c->dev, *out);
    return err;
}

int conformance_kernel(struct conformance *c, const struct gpgpu_kernel_image *image, gpgpu_kernel_t *out)
{
    gpgpu_module_t module;
    int err = conformance_module(c, image, &module);
    return err ? err : gpgpu_device_kernel_get(c->dev, module, image->entries[0].name, out);
}

int conformance_stream(struct conformance *c, gpgpu_stream_t *out)
{
    int err = gpgpu_device_stream_create(c->dev, out);
    if (err || *out == GPGPU_STREAM_DEFAULT)
        return err;
    err = keep(c->streams, ARRAY_SIZE(c->streams), *out);
    if (err)
        gpgpu_device_stream_destroy(c->dev, *out);
    return err;
}

int conformance_launch_on(struct conformance *c, gpgpu_stream_t stream, gpgpu_kernel_t kernel,
                          uint32_t blocks, uint32_t threads, const struct gpgpu_arg *args, size_t nargs)
{
    struct gpgpu_launch launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .args = args, .nargs = nargs};
    return gpgpu_device_launch(c->dev, stream, kernel, &launch);
}

int conformance_launch(struct conformance *c, gpgpu_kernel_t kernel, uint32_t blocks, uint32_t threads,
                       const struct gpgpu_arg *args, size_t nargs)
{
    return conformance_launch_on(c, GPGPU_STREAM_DEFAULT, kernel, blocks, threads, args, nargs);
}

/* Give back what the case got; an error of that is one of the case, if it had none so far. */
static void give_back(struct conformance *c, uint64_t *places, size_t n,
                      int (*give)(struct gpgpu_device *dev, uint64_t handle))
{
    int err = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t handle = places[i];
        places[i] = 0;
        if (handle && !err)
            err = give(c->dev, handle);
        else if (handle)
            give(c->dev, handle);
    }
    if (!c->failed)
        EXPECT_OK(c, err);
}

void conformance_end_streams(struct conformance *c)
{
    give_back(c, c->streams, ARRAY_SIZE(c->streams), gpgpu_device_stream_destroy);
}

/* The device must take back what the case used, and be idle. */
static void clean_up(struct conformance *c)
{
    int err = gpgpu_device_sync(c->dev, GPGPU_STREAM_DEFAULT);
    conformance_end_streams(c);
    give_back(c, c->allocs, ARRAY_SIZE(c->allocs), gpgpu_device_mem_free);
    give_back(c, c->modules, ARRAY_SIZE(c->modules), gpgpu_device_module_unload);
    if (!c->failed)
        EXPECT_OK(c, err);
}

static void run_case(struct conformance *c, const struct conformance_case *which,
                     struct gpgpu_conformance_result *result)
{
    c->name = which->name;
    c->failed = c->skipped = false;
    if (which->needs & ~c->caps.features)
        conformance_skip(c, "the device says that it cannot");
    else
        which->run(c);
    clean_up(c);
    result->failed += c->failed;
    result->skipped += c->skipped && !c->failed;
    if (c->failed || c->skipped)
        return;
    result->passed++;
    ok("%s: %s", c->dev->name, which->name);
}

struct gpgpu_conformance_result gpgpu_conformance(struct gpgpu_device *dev, unsigned timeout_ms)
{
    static const struct conformance_case *const topics[] = {conformance_memory, conformance_modules,
                                                            conformance_launches, conformance_streams,
                                                            conformance_faults};
    struct gpgpu_conformance_result result = {0};
    struct conformance c = {.dev = dev, .timeout_ms = timeout_ms};
    gpgpu_device_caps(dev, &c.caps);
    for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
        for (const struct conformance_case *which = topics[i]; which->name; which++)
            run_case(&c, which, &result);
    return result;
}
