/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the running system, one line each: BENCH name value unit. With a second device whose launches go
 * another way (-device gpgpu -device gpgpu,queue=off) both ways are measured in turns, so that what else the
 * machine does meets both alike. APPEND='app.args=irq' DEVICES='-device edu' measures interrupts instead.
 */
#include "bench.h"
#include "core/test.h"
#include "core/util.h"
#include "gpgpu/check.h"
#include "gpgpu/images.h"
#include "gpgpu/runtime.h"
#include "hal/time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB         ((size_t)1 << 20)
#define REPEATS     7
#define LAUNCHES    2000
#define MAX_DEVICES 2u

void report(const char *name, double value, const char *unit)
{
    printf("BENCH %s %.6g %s\n", name, value, unit);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

double median_of_thousandths(uint64_t *values, size_t n)
{
    qsort(values, n, sizeof(*values), by_value);
    return (double)values[n / 2] / 1000;
}

/* ---- copies -------------------------------------------------------------------------------------------- */

struct copy {
    struct gpgpu_context *ctx;
    gpgpu_addr_t device;
    uint32_t *host;
    size_t bytes;
    const char *name; /* of the row: guest.h2d_NAME */
};

static int to_device(const struct copy *c)
{
    return gpgpu_memcpy_h2d(c->ctx, c->device, c->host, c->bytes);
}

static int from_device(const struct copy *c)
{
    return gpgpu_memcpy_d2h(c->ctx, c->host, c->device, c->bytes);
}

/* Best of some repeats. */
static int bench_copy(const struct copy *c, int (*copy)(const struct copy *), const char *direction)
{
    uint64_t best = UINT64_MAX;
    char name[32];
    for (int i = 0; i < REPEATS; i++) {
        uint64_t start = time_now_ns();
        int err = copy(c);
        uint64_t ns = time_now_ns() - start;
        if (err)
            return err;
        best = MIN(ns, best);
    }
    snprintf(name, sizeof(name), "guest.%s_%s", direction, c->name);
    report(name, (double)c->bytes / (double)(best ? best : 1), "GB/s");
    return 0;
}

static uint32_t pattern(size_t i)
{
    return (uint32_t)i * 2654435761u;
}

static int bench_round_trip(const struct copy *c)
{
    size_t words = c->bytes / sizeof(*c->host), i = 0;
    for (size_t k = 0; k < words; k++)
        c->host[k] = pattern(k);
    int err = bench_copy(c, to_device, "h2d");
    if (err)
        return err;
    memset(c->host, 0, c->bytes);
    err = bench_copy(c, from_device, "d2h");
    if (err)
        return err;
    while (i < words && c->host[i] == pattern(i))
        i++;
    if (i < words)
        fail("copy of %zu MiB: word %zu came back as 0x%x", c->bytes / MIB, i, (unsigned)c->host[i]);
    else
        ok("%zu MiB went to the device and back unchanged", c->bytes / MIB);
    return 0;
}

static int bench_copies_of(struct gpgpu_context *ctx, size_t bytes, const char *name)
{
    struct copy c = {.ctx = ctx, .bytes = bytes, .name = name};
    c.host = malloc(c.bytes);
    if (!c.host)
        return -ENOMEM;
    int err = gpgpu_malloc(ctx, c.bytes, &c.device);
    if (!err) {
        err = bench_round_trip(&c);
        gpgpu_free(ctx, c.device);
    }
    free(c.host);
    return err;
}

/* The large copies need a device with more memory than that. */
static int bench_copies(struct gpgpu_context *ctx)
{
    int err = bench_copies_of(ctx, 16 * MIB, "gbps");
    if (!err && ctx->caps.vram_bytes > 64 * MIB)
        err = bench_copies_of(ctx, 64 * MIB, "64mib");
    return err;
}

/* ---- launches ------------------------------------------------------------------------------------------ */

/* A device and what its empty launches took, from the call to the end of the wait. */
struct launches {
    struct gpgpu_context ctx;
    struct gpgpu_kernel kernel;
    uint64_t ns[LAUNCHES];
};

static int launch_once(struct launches *l, uint64_t *ns)
{
    uint64_t start = time_now_ns();
    int err = gpgpu_launch_kernel(&l->ctx, &l->kernel, gpgpu_dim(1, 1, 1), gpgpu_dim(1, 1, 1), 0u, 1u);
    if (!err)
        err = gpgpu_wait(&l->ctx);
    *ns = time_now_ns() - start;
    return err;
}

static void report_launches(struct launches *l)
{
    bool queue = l->ctx.caps.features & GPGPU_FEATURE_QUEUE;
    report(queue ? "guest.launch_doorbell_us" : "guest.launch_register_us",
           median_of_thousandths(l->ns, LAUNCHES), "us");
}

/* In groups: a launch that follows another one finds the device's threads awake, as it does in an app. */
static int bench_launches(struct launches *l, unsigned devices)
{
    enum { GROUP = 100 };
    int err = 0;
    for (unsigned d = 0; d < devices && !err; d++)
        err = gpgpu_upload_kernel(&l[d].ctx, &gpgpu_image_wild_store, "wild_store", &l[d].kernel);
    for (unsigned i = 0; i < LAUNCHES && !err; i += GROUP)
        for (unsigned d = 0; d < devices; d++)
            for (unsigned k = i; k < i + GROUP && !err; k++)
                err = launch_once(&l[d], &l[d].ns[k]);
    for (unsigned d = 0; d < devices && !err; d++)
        report_launches(&l[d]);
    return err;
}

static void bench_all(void)
{
    static struct launches launches[MAX_DEVICES];
    unsigned devices = MAX(1u, MIN(gpgpu_device_count(), MAX_DEVICES));
    for (unsigned d = 0; d < devices; d++)
        if (!gpgpu_check_ok(&launches[d].ctx, "GPU", gpgpu_context_open(&launches[d].ctx, d)))
            return;
    gpgpu_check_ok(&launches[0].ctx, "launches", bench_launches(launches, devices));
    gpgpu_check_ok(&launches[0].ctx, "copies", bench_copies(&launches[0].ctx));
    bench_overlap(launches[0].ctx.device);
    for (unsigned d = 0; d < devices; d++)
        gpgpu_context_close(&launches[d].ctx);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "irq") == 0)
        bench_interrupts();
    else
        bench_all();
    return test_exit_code();
}
