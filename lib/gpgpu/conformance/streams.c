/* SPDX-License-Identifier: MIT */
/* Streams: order within each, errors that stay in theirs, work side by side. */
#include "conformance.h"

#include <stdlib.h>

#define WORDS   20000u /* enough that a copy is the device's work, not the processor's */
#define BYTES   (WORDS * sizeof(uint32_t))
#define THREADS 256u
#define STREAMS 2u
#define STEPS   60u /* more than a device may hold at a time */

/* Two arrays on the device that a stream works on, what the first one's words must be, and room to read it.
 */
struct lane {
    gpgpu_stream_t stream;
    gpgpu_addr_t x, y;
    uint32_t x_is, y_is;
    uint32_t host[WORDS];
};

struct lanes {
    gpgpu_kernel_t add;
    struct lane lane[STREAMS];
};

/* out = a + b, words of a lane. */
static int add(struct conformance *c, gpgpu_stream_t stream, gpgpu_kernel_t kernel, gpgpu_addr_t a,
               gpgpu_addr_t b, gpgpu_addr_t out)
{
    struct gpgpu_arg args[] = {arg_addr(a), arg_addr(b), arg_addr(out), arg_u32(WORDS)};
    return conformance_launch_on(c, stream, kernel, (WORDS - 1) / THREADS + 1, THREADS, args, 4);
}

static int copy_in(struct conformance *c, struct lane *l, gpgpu_addr_t to, uint32_t value)
{
    for (size_t i = 0; i < WORDS; i++)
        l->host[i] = value;
    int err = gpgpu_device_copy_h2d(c->dev, l->stream, to, l->host, BYTES);
    return err ? err : gpgpu_device_sync(c->dev, l->stream);
}

static int make_lane(struct conformance *c, struct lane *l, uint32_t x, uint32_t y)
{
    l->x_is = x;
    l->y_is = y;
    int err = conformance_stream(c, &l->stream);
    if (!err)
        err = conformance_alloc(c, BYTES, &l->x);
    if (!err)
        err = conformance_alloc(c, BYTES, &l->y);
    if (!err)
        err = copy_in(c, l, l->x, x);
    return err ? err : copy_in(c, l, l->y, y);
}

static int make_lanes(struct conformance *c, struct lanes *lanes)
{
    int err = conformance_kernel(c, &gpgpu_image_vec_add, &lanes->add);
    for (uint32_t i = 0; i < STREAMS && !err; i++)
        err = make_lane(c, &lanes->lane[i], 3 + i, 5 + 2 * i);
    return err;
}

static bool holds(const struct lane *l)
{
    for (size_t i = 0; i < WORDS; i++)
        if (l->host[i] != l->x_is)
            return false;
    return true;
}

/* One of three steps, none of which commutes with another. */
static int step(struct conformance *c, const struct lanes *lanes, struct lane *l, uint32_t which)
{
    switch (which) {
    case 0:
        l->x_is += l->y_is;
        return add(c, l->stream, lanes->add, l->x, l->y, l->x);
    case 1:
        l->y_is += l->y_is;
        return add(c, l->stream, lanes->add, l->y, l->y, l->y);
    default:
        l->y_is = l->x_is;
        return gpgpu_device_copy_d2d(c->dev, l->stream, l->y, l->x, BYTES);
    }
}

/* Steps of both streams mixed, all queued before anybody waits; each stream must have done its own in order.
 */
static void keep_order(struct conformance *c, struct lanes *lanes)
{
    uint32_t random = 1;
    EXPECT_OK(c, make_lanes(c, lanes));
    for (uint32_t i = 0; i < STEPS; i++) {
        random = random * 1664525u + 1013904223u;
        EXPECT_OK(c, step(c, lanes, &lanes->lane[random >> 31], (random >> 16) % 3));
    }
    for (uint32_t i = 0; i < STREAMS; i++)
        EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, lanes->lane[i].stream, lanes->lane[i].host,
                                           lanes->lane[i].x, BYTES));
    for (uint32_t i = STREAMS; i-- > 0;) {
        EXPECT_OK(c, gpgpu_device_sync(c->dev, lanes->lane[i].stream));
        EXPECT(c, holds(&lanes->lane[i]));
    }
}

/* Launches of one stream and nothing else: however many fit in the device's queue. */
static void queue_many(struct conformance *c, struct lanes *lanes)
{
    struct lane *l = &lanes->lane[0];
    EXPECT_OK(c, make_lanes(c, lanes));
    for (uint32_t i = 0; i < 2 * STEPS; i++)
        EXPECT_OK(c, step(c, lanes, l, 0));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, l->stream, l->host, l->x, BYTES));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, l->stream));
    EXPECT(c, holds(l));
}

/* The first stream's launch faults: what is behind it is dropped, be it queued before or after the device got
 * there, until a sync has told. The other stream does not notice. */
static void contain_an_error(struct conformance *c, struct lanes *lanes)
{
    struct lane *bad = &lanes->lane[0], *good = &lanes->lane[1];
    struct gpgpu_arg args[] = {arg_u32(0x70000000u), arg_u32(0)};
    gpgpu_kernel_t wild;
    EXPECT_OK(c, make_lanes(c, lanes));
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_wild_store, &wild));
    EXPECT_OK(c, conformance_launch_on(c, bad->stream, wild, 1, 1, args, 2));
    EXPECT_OK(c, add(c, bad->stream, lanes->add, bad->x, bad->y, bad->x));
    EXPECT_OK(c, gpgpu_device_copy_d2d(c->dev, bad->stream, bad->x, bad->y, BYTES));
    EXPECT_OK(c, step(c, lanes, good, 0));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, good->stream, good->host, good->x, BYTES));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, good->stream));
    EXPECT(c, holds(good));
    EXPECT_OK(c, add(c, bad->stream, lanes->add, bad->x, bad->y, bad->x));
    EXPECT_ERROR(c, gpgpu_device_sync(c->dev, bad->stream), -EFAULT);
    EXPECT_OK(c, gpgpu_device_sync(c->dev, bad->stream));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, bad->stream, bad->host, bad->x, BYTES));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, bad->stream));
    EXPECT(c, holds(bad));
    EXPECT_OK(c, step(c, lanes, bad, 0));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, bad->stream, bad->host, bad->x, BYTES));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, bad->stream));
    EXPECT(c, holds(bad));
}

/* A kernel that never ends keeps the device busy: the other stream's copies and its event are done all the
 * same, and its launch once the first stream has been given up. */
static void copy_beside_a_kernel(struct conformance *c, struct lanes *lanes)
{
    struct lane *stuck = &lanes->lane[0], *free = &lanes->lane[1];
    gpgpu_kernel_t spin;
    gpgpu_event_t event;
    EXPECT_OK(c, make_lanes(c, lanes));
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_spin, &spin));
    EXPECT_OK(c, gpgpu_device_event_create(c->dev, &event));
    EXPECT_OK(c, conformance_launch_on(c, stuck->stream, spin, 1, 1, NULL, 0));
    EXPECT_OK(c, add(c, stuck->stream, lanes->add, stuck->x, stuck->y, stuck->x));
    free->x_is = 99;
    EXPECT_OK(c, copy_in(c, free, free->x, free->x_is));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, free->stream, free->host, free->x, BYTES));
    EXPECT_OK(c, gpgpu_device_event_record(c->dev, free->stream, event));
    EXPECT_OK(c, gpgpu_device_event_sync(c->dev, event));
    EXPECT(c, holds(free));
    EXPECT_OK(c, step(c, lanes, free, 0));
    EXPECT_ERROR(c, gpgpu_device_sync(c->dev, stuck->stream), -ETIMEDOUT);
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, free->stream, free->host, free->x, BYTES));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, stuck->stream, stuck->host, stuck->x, BYTES));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, free->stream));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, stuck->stream));
    EXPECT(c, holds(free) && holds(stuck));
    EXPECT_OK(c, gpgpu_device_event_destroy(c->dev, event));
}

/* A destroyed stream is none any more. */
static void stale_stream_is_refused(struct conformance *c)
{
    gpgpu_stream_t stream;
    EXPECT_OK(c, gpgpu_device_stream_create(c->dev, &stream));
    EXPECT(c, stream != GPGPU_STREAM_DEFAULT);
    EXPECT_OK(c, gpgpu_device_stream_destroy(c->dev, stream));
    EXPECT_ERROR(c, gpgpu_device_sync(c->dev, stream), -EINVAL);
    EXPECT_ERROR(c, gpgpu_device_stream_destroy(c->dev, stream), -EINVAL);
}

static void with_lanes(struct conformance *c, void (*run)(struct conformance *, struct lanes *))
{
    struct lanes *lanes = calloc(1, sizeof(*lanes));
    EXPECT(c, lanes != NULL);
    run(c, lanes);
    conformance_end_streams(c); /* nothing may be copied to the lanes any more */
    free(lanes);
}

static void streams_keep_their_order(struct conformance *c)
{
    with_lanes(c, keep_order);
}

static void more_launches_than_fit_are_queued(struct conformance *c)
{
    with_lanes(c, queue_many);
}

static void error_stays_in_its_stream(struct conformance *c)
{
    with_lanes(c, contain_an_error);
}

static void copies_run_beside_a_kernel(struct conformance *c)
{
    if (!conformance_limit_is_long(c))
        with_lanes(c, copy_beside_a_kernel);
}

const struct conformance_case conformance_streams[] = {
    {"streams keep their order", GPGPU_FEATURE_EXECUTES, streams_keep_their_order},
    {"more launches than fit are queued", GPGPU_FEATURE_EXECUTES, more_launches_than_fit_are_queued},
    {"an error stays in its stream", GPGPU_FEATURE_EXECUTES | GPGPU_FEATURE_STREAMS,
     error_stays_in_its_stream},
    {"copies run beside a kernel", GPGPU_FEATURE_EXECUTES | GPGPU_FEATURE_STREAMS,
     copies_run_beside_a_kernel},
    {"a stale stream is refused", GPGPU_FEATURE_STREAMS, stale_stream_is_refused},
    {0},
};
