/* SPDX-License-Identifier: MIT */
/* Capabilities, allocation, copies, events. */
#include "conformance.h"

#include "gpgpu/pool.h"

#include <stdlib.h>
#include <string.h>

#define STREAM GPGPU_STREAM_DEFAULT

static void caps_are_sane(struct conformance *c)
{
    EXPECT(c, c->caps.size == sizeof(c->caps));
    EXPECT(c, c->caps.name && c->caps.name[0]);
    EXPECT(c, c->caps.compute_units >= 1);
    EXPECT(c, c->caps.warp_size >= 1 && c->caps.warp_size <= 64);
    EXPECT(c, c->caps.max_block >= 256);
    EXPECT(c, c->caps.vram_bytes >= 1 << 20);
}

/* A caller built against a shorter struct gets no byte more than it has. */
static void caps_respect_the_callers_size(struct conformance *c)
{
    struct gpgpu_caps caps;
    memset(&caps, 0xa5, sizeof(caps));
    caps.size = offsetof(struct gpgpu_caps, vram_bytes);
    c->dev->ops->caps(c->dev, &caps);
    EXPECT(c, caps.size == offsetof(struct gpgpu_caps, vram_bytes));
    EXPECT(c, caps.compute_units == c->caps.compute_units);
    EXPECT(c, caps.vram_bytes == 0xa5a5a5a5a5a5a5a5u);
}

static void allocations_are_aligned_and_disjoint(struct conformance *c)
{
    static const size_t sizes[] = {1, 63, 64, 65, 4096, 100000};
    gpgpu_addr_t addrs[ARRAY_SIZE(sizes)];
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        EXPECT_OK(c, conformance_alloc(c, sizes[i], &addrs[i]));
        EXPECT(c, addrs[i] != 0 && addrs[i] % GPGPU_ALIGNMENT == 0);
        for (size_t j = 0; j < i; j++)
            EXPECT(c, addrs[i] + sizes[i] <= addrs[j] || addrs[j] + sizes[j] <= addrs[i]);
    }
}

static void allocation_of_nothing_is_an_error(struct conformance *c)
{
    gpgpu_addr_t addr;
    EXPECT_ERROR(c, gpgpu_device_mem_alloc(c->dev, 0, &addr), -EINVAL);
}

static void out_of_memory_is_recognised_and_survived(struct conformance *c)
{
    gpgpu_addr_t addr;
    EXPECT(c, gpgpu_is_oom(gpgpu_device_mem_alloc(c->dev, c->caps.vram_bytes + 1, &addr)));
    EXPECT(c, gpgpu_is_oom(gpgpu_device_mem_alloc(c->dev, SIZE_MAX, &addr)));
    EXPECT(c, !gpgpu_is_oom(gpgpu_device_mem_free(c->dev, 0)));
    EXPECT_OK(c, conformance_alloc(c, 64, &addr));
}

static void freed_memory_is_used_again(struct conformance *c)
{
    size_t half = c->caps.vram_bytes / 2 + 1; /* two of them do not fit */
    for (int i = 0; i < 3; i++) {
        gpgpu_addr_t addr, second;
        EXPECT_OK(c, gpgpu_device_mem_alloc(c->dev, half, &addr));
        EXPECT_ERROR(c, gpgpu_device_mem_alloc(c->dev, half, &second), -ENOMEM);
        EXPECT_OK(c, gpgpu_device_mem_free(c->dev, addr));
    }
}

static void wrong_free_is_an_error(struct conformance *c)
{
    gpgpu_addr_t addr;
    EXPECT_OK(c, gpgpu_device_mem_alloc(c->dev, 256, &addr));
    EXPECT_ERROR(c, gpgpu_device_mem_free(c->dev, addr + 64), -EINVAL);
    EXPECT_ERROR(c, gpgpu_device_mem_free(c->dev, 0), -EINVAL);
    EXPECT_OK(c, gpgpu_device_mem_free(c->dev, addr));
    EXPECT_ERROR(c, gpgpu_device_mem_free(c->dev, addr), -EINVAL);
}

static void copy_outside_an_allocation_is_an_error(struct conformance *c)
{
    char host[129] = {0};
    gpgpu_addr_t addr;
    EXPECT_OK(c, gpgpu_device_mem_alloc(c->dev, 128, &addr));
    EXPECT_ERROR(c, gpgpu_device_copy_h2d(c->dev, STREAM, addr, host, 129), -EINVAL);
    EXPECT_ERROR(c, gpgpu_device_copy_d2h(c->dev, STREAM, host, addr + 127, 2), -EINVAL);
    EXPECT_ERROR(c, gpgpu_device_copy_d2h(c->dev, STREAM, host, UINT64_MAX, 2), -EINVAL);
    EXPECT_ERROR(c, gpgpu_device_copy_h2d(c->dev, STREAM, 0, host, 1), -EINVAL);
    EXPECT_OK(c, gpgpu_device_copy_h2d(c->dev, STREAM, addr, NULL, 0));
    EXPECT_OK(c, gpgpu_device_mem_free(c->dev, addr));
    EXPECT_ERROR(c, gpgpu_device_copy_h2d(c->dev, STREAM, addr, host, 1), -EINVAL);
}

#define HOST_BYTES 200000

struct host {
    unsigned char out[HOST_BYTES];
    unsigned char back[HOST_BYTES];
};

static void copy_there_and_back(struct conformance *c, struct host *host)
{
    static const size_t sizes[] = {1, 3, 4, 63, 64, 4095, 4096, 4097, 70001, HOST_BYTES - 8};
    gpgpu_addr_t addr;
    EXPECT_OK(c, conformance_alloc(c, HOST_BYTES, &addr));
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        size_t n = sizes[i], at = i % 5; /* odd places on both sides */
        memset(host->back, 0, sizeof(host->back));
        EXPECT_OK(c, gpgpu_device_copy_h2d(c->dev, STREAM, addr + at, host->out + i % 3, n));
        EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, STREAM, host->back, addr + at, n));
        EXPECT_OK(c, gpgpu_device_sync(c->dev, STREAM));
        EXPECT(c, memcmp(host->back, host->out + i % 3, n) == 0);
        EXPECT(c, host->back[n] == 0);
    }
}

static void copy_inside_the_device(struct conformance *c, struct host *host)
{
    gpgpu_addr_t from, to;
    EXPECT_OK(c, conformance_alloc(c, HOST_BYTES, &from));
    EXPECT_OK(c, conformance_alloc(c, HOST_BYTES, &to));
    EXPECT_OK(c, gpgpu_device_copy_h2d(c->dev, STREAM, from, host->out, HOST_BYTES));
    EXPECT_OK(c, gpgpu_device_copy_d2d(c->dev, STREAM, to + 4, from + 8, HOST_BYTES - 8));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, STREAM, host->back, to + 4, HOST_BYTES - 8));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, STREAM));
    EXPECT(c, memcmp(host->back, host->out + 8, HOST_BYTES - 8) == 0);
    EXPECT_ERROR(c, gpgpu_device_copy_d2d(c->dev, STREAM, from, from + 63, 64), -EINVAL);
}

static void with_host(struct conformance *c, void (*run)(struct conformance *, struct host *))
{
    struct host *host = malloc(sizeof(*host));
    EXPECT(c, host != NULL);
    for (size_t i = 0; i < HOST_BYTES; i++)
        host->out[i] = (unsigned char)(i * 167 + (i >> 8) + 1);
    run(c, host);
    free(host);
}

static void copies_round_trip(struct conformance *c)
{
    with_host(c, copy_there_and_back);
}

static void copies_inside_the_device(struct conformance *c)
{
    with_host(c, copy_inside_the_device);
}

static void events_measure_time(struct conformance *c)
{
    gpgpu_event_t start, end;
    uint64_t ns = 1;
    EXPECT_OK(c, gpgpu_device_event_create(c->dev, &start));
    EXPECT_OK(c, gpgpu_device_event_create(c->dev, &end));
    EXPECT_ERROR(c, gpgpu_device_event_elapsed_ns(c->dev, start, end, &ns), -EINVAL);
    EXPECT_OK(c, gpgpu_device_event_record(c->dev, STREAM, start));
    EXPECT_OK(c, gpgpu_device_event_record(c->dev, STREAM, end));
    EXPECT_OK(c, gpgpu_device_event_sync(c->dev, end));
    EXPECT_OK(c, gpgpu_device_event_elapsed_ns(c->dev, start, end, &ns));
    EXPECT(c, ns < 10000000000u);
    EXPECT_OK(c, gpgpu_device_event_destroy(c->dev, start));
    EXPECT_OK(c, gpgpu_device_event_destroy(c->dev, end));
}

static void streams_come_and_go(struct conformance *c)
{
    gpgpu_stream_t stream;
    EXPECT_OK(c, gpgpu_device_stream_create(c->dev, &stream));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, stream));
    EXPECT_OK(c, gpgpu_device_stream_destroy(c->dev, stream));
}

const struct conformance_case conformance_memory[] = {
    {"capabilities are sane", 0, caps_are_sane},
    {"capabilities respect the caller's size", 0, caps_respect_the_callers_size},
    {"allocations are aligned and disjoint", 0, allocations_are_aligned_and_disjoint},
    {"an allocation of nothing is an error", 0, allocation_of_nothing_is_an_error},
    {"out of memory is recognised and survived", 0, out_of_memory_is_recognised_and_survived},
    {"freed memory is used again", 0, freed_memory_is_used_again},
    {"a wrong free is an error", 0, wrong_free_is_an_error},
    {"a copy outside an allocation is an error", 0, copy_outside_an_allocation_is_an_error},
    {"copies round trip", GPGPU_FEATURE_EXECUTES, copies_round_trip},
    {"copies inside the device", GPGPU_FEATURE_EXECUTES, copies_inside_the_device},
    {"events measure time", 0, events_measure_time},
    {"streams come and go", 0, streams_come_and_go},
    {0},
};
