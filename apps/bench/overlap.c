/* SPDX-License-Identifier: MIT */
/* A stream's copies beside another stream's kernels: how much of the shorter one's time does the other hide?
 */
#include "bench.h"
#include "core/errno.h"
#include "core/test.h"
#include "core/util.h"
#include "gpgpu/operators.h"
#include "hal/time.h"

#include <stdlib.h>

#define ELEMENTS  (1u << 20)             /* of a kernel's tensor */
#define KERNELS   16u                    /* in a row: some milliseconds, once compiled */
#define COPY      (4u << 20)             /* elements of a copy: 16 MiB */
#define WARM_UP   ((uint64_t)2000000000) /* ns: the device interprets a new kernel until it has compiled it */
#define ROUNDS    9
#define MAX_COUNT 100u

struct side {
    struct tensor_context tc;
    struct tensor t;
    void *host; /* what is copied; NULL: the side computes */
    unsigned count;
};

static int queue(struct side *s)
{
    int err = 0;
    for (unsigned i = 0; i < s->count && !err; i++)
        err = s->host ? tensor_write_async(&s->t, s->host) : tensor_gelu(&s->t, &s->t);
    return err;
}

/* Both at once, or one of them and NULL. */
static int time_sides(struct side *a, struct side *b, uint64_t *ns)
{
    uint64_t start = time_now_ns();
    int err = queue(a);
    if (!err && b)
        err = queue(b);
    if (!err)
        err = tensor_sync(&a->tc);
    if (!err && b)
        err = tensor_sync(&b->tc);
    *ns = time_now_ns() - start;
    return err;
}

/* As many copies as take about as long as the kernel. */
static int balance(struct side *kernel, struct side *copy)
{
    uint64_t kernel_ns = 0, copy_ns = 0, start = time_now_ns();
    int err = 0;
    while (!err && time_now_ns() - start < WARM_UP)
        err = time_sides(kernel, NULL, &kernel_ns);
    if (!err)
        err = time_sides(copy, NULL, &copy_ns);
    uint64_t count = kernel_ns / MAX(copy_ns, (uint64_t)1);
    copy->count = (unsigned)MIN(count, (uint64_t)MAX_COUNT);
    copy->count = MAX(copy->count, 1u);
    return err;
}

static int measure(struct side *kernel, struct side *copy)
{
    uint64_t thousandths[ROUNDS], kernel_ns, copy_ns, both_ns;
    kernel->count = KERNELS;
    int err = balance(kernel, copy);
    for (int i = 0; i < ROUNDS && !err; i++) {
        err = time_sides(kernel, NULL, &kernel_ns);
        if (!err)
            err = time_sides(copy, NULL, &copy_ns);
        if (!err)
            err = time_sides(kernel, copy, &both_ns);
        uint64_t apart = kernel_ns + copy_ns, shorter = MIN(kernel_ns, copy_ns);
        thousandths[i] = both_ns < apart ? 1000 * (apart - both_ns) / shorter : 0;
    }
    if (!err)
        report("guest.copy_beside_kernel", median_of_thousandths(thousandths, ROUNDS), "1");
    return err;
}

static int open_side(struct side *s, struct gpgpu_device *device, uint32_t elements, bool copies)
{
    int err = tensor_context_open(&s->tc, device);
    if (!err)
        err = tensor_create(&s->tc, &s->t, TENSOR_F32, 1, &elements);
    if (!err)
        err = tensor_fill(&s->t, 0.5f);
    if (!err && copies) {
        s->host = calloc(elements, sizeof(float));
        err = s->host ? 0 : -ENOMEM;
    }
    s->count = 1;
    return err ? err : tensor_sync(&s->tc);
}

static void close_side(struct side *s)
{
    tensor_destroy(&s->t);
    tensor_context_close(&s->tc);
    free(s->host);
}

void bench_overlap(struct gpgpu_device *device)
{
    static struct side kernel, copy;
    int err = open_side(&kernel, device, ELEMENTS, false);
    if (!err)
        err = open_side(&copy, device, COPY, true);
    if (!err)
        err = measure(&kernel, &copy);
    check(err == 0, "copies beside a kernel: %s", error_name(err));
    close_side(&copy);
    close_side(&kernel);
}
