/* SPDX-License-Identifier: MIT */
/* Numbers of the running system, one line each: BENCH name value unit. */
#include "core/test.h"
#include "gpgpu/check.h"
#include "gpgpu/images.h"
#include "gpgpu/runtime.h"
#include "hal/time.h"

#include <stdio.h>
#include <stdlib.h>

#define BYTES    ((size_t)16 << 20)
#define REPEATS  5
#define LAUNCHES 200

static void report(const char *name, double value, const char *unit)
{
    printf("BENCH %s %.6g %s\n", name, value, unit);
}

enum direction { TO_DEVICE, FROM_DEVICE };

static int copy(struct gpgpu_context *ctx, enum direction direction, gpgpu_addr_t device, void *host)
{
    return direction == TO_DEVICE ? gpgpu_memcpy_h2d(ctx, device, host, BYTES)
                                  : gpgpu_memcpy_d2h(ctx, host, device, BYTES);
}

/* Best of some repeats, GB/s. */
static int bench_copy(struct gpgpu_context *ctx, enum direction direction, gpgpu_addr_t device, void *host,
                      double *gbps)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < REPEATS; i++) {
        uint64_t start = time_now_ns();
        int err = copy(ctx, direction, device, host);
        uint64_t ns = time_now_ns() - start;
        if (err)
            return err;
        best = ns < best ? ns : best;
    }
    *gbps = (double)BYTES / (double)(best ? best : 1);
    return 0;
}

static int bench_copies(struct gpgpu_context *ctx, gpgpu_addr_t device, uint32_t *host)
{
    double h2d, d2h;
    for (uint32_t i = 0; i < BYTES / 4; i++)
        host[i] = i * 2654435761u;
    int err = bench_copy(ctx, TO_DEVICE, device, host, &h2d);
    if (err)
        return err;
    for (uint32_t i = 0; i < BYTES / 4; i++)
        host[i] = 0;
    err = bench_copy(ctx, FROM_DEVICE, device, host, &d2h);
    if (err)
        return err;
    report("guest.h2d_gbps", h2d, "GB/s");
    report("guest.d2h_gbps", d2h, "GB/s");
    for (uint32_t i = 0; i < BYTES / 4; i++)
        if (host[i] != i * 2654435761u) {
            fail("copy of 16 MiB: word %u came back as 0x%x", (unsigned)i, (unsigned)host[i]);
            return 0;
        }
    ok("16 MiB went to the device and back unchanged");
    return 0;
}

/* An empty launch, from the call to the end of the wait; mean of many. */
static int bench_launch(struct gpgpu_context *ctx)
{
    struct gpgpu_kernel kernel;
    int err = gpgpu_upload_kernel(ctx, &gpgpu_image_wild_store, "wild_store", &kernel);
    uint64_t start = time_now_ns();
    for (int i = 0; i < LAUNCHES && !err; i++) {
        err = gpgpu_launch_kernel(ctx, &kernel, gpgpu_dim(1, 1, 1), gpgpu_dim(1, 1, 1), 0u, 1u);
        if (!err)
            err = gpgpu_wait(ctx);
    }
    if (!err)
        report("guest.launch_us", (double)(time_now_ns() - start) / LAUNCHES / 1000, "us");
    return err;
}

static int bench_all(struct gpgpu_context *ctx)
{
    gpgpu_addr_t device;
    uint32_t *host = malloc(BYTES);
    if (!host) {
        fail("no 16 MiB of memory");
        return 0;
    }
    int err = gpgpu_malloc(ctx, BYTES, &device);
    if (!err) {
        err = bench_copies(ctx, device, host);
        gpgpu_free(ctx, device);
    }
    free(host);
    return err ? err : bench_launch(ctx);
}

int main(void)
{
    report("boot.main_us", (double)time_now_ns() / 1000, "us");
    GPGPU_CONTEXT(ctx);
    if (gpgpu_check_ok(&ctx, "GPU 0", gpgpu_context_open(&ctx, 0)))
        gpgpu_check_ok(&ctx, "bench", bench_all(&ctx));
    return test_exit_code();
}
