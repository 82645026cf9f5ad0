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

int conformance_alloc(struct conformance *c, size_t size, gpgpu_addr_t *out)
{
    int err = gpgpu_device_mem_alloc(c->dev, size, out);
    if (err)
        return err;
    for (size_t i = 0; i < ARRAY_SIZE(c->allocs); i++) {
        if (c->allocs[i] == 0) {
            c->allocs[i] = *out;
            return 0;
        }
    }
    gpgpu_device_mem_free(c->dev, *out);
    return -ENOSPC;
}

int conformance_kernel(struct conformance *c, const struct gpgpu_kernel_image *image, gpgpu_kernel_t *out)
{
    int err = gpgpu_device_module_load(c->dev, image, &c->module);
    return err ? err : gpgpu_device_kernel_get(c->dev, c->module, image->entries[0].name, out);
}

int conformance_launch(struct conformance *c, gpgpu_kernel_t kernel, uint32_t blocks, uint32_t threads,
                       const struct gpgpu_arg *args, size_t nargs)
{
    struct gpgpu_launch launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .args = args, .nargs = nargs};
    return gpgpu_device_launch(c->dev, GPGPU_STREAM_DEFAULT, kernel, &launch);
}

/* The device must take back what the case used, and be idle. */
static void clean_up(struct conformance *c)
{
    if (!c->failed)
        EXPECT_OK(c, gpgpu_device_sync(c->dev, GPGPU_STREAM_DEFAULT));
    for (size_t i = 0; i < ARRAY_SIZE(c->allocs); i++) {
        gpgpu_addr_t addr = c->allocs[i];
        c->allocs[i] = 0;
        if (addr)
            EXPECT_OK(c, gpgpu_device_mem_free(c->dev, addr));
    }
    gpgpu_module_t module = c->module;
    c->module = 0;
    if (module)
        EXPECT_OK(c, gpgpu_device_module_unload(c->dev, module));
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
                                                            conformance_launches, conformance_faults};
    struct gpgpu_conformance_result result = {0};
    struct conformance c = {.dev = dev, .timeout_ms = timeout_ms};
    gpgpu_device_caps(dev, &c.caps);
    for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
        for (const struct conformance_case *which = topics[i]; which->name; which++)
            run_case(&c, which, &result);
    return result;
}
