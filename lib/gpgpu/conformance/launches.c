/* SPDX-License-Identifier: MIT */
/* What a launch does, on devices that execute. */
#include "conformance.h"

#include <stdlib.h>

#define STREAM GPGPU_STREAM_DEFAULT

struct vectors {
    gpgpu_addr_t a, b, out;
    uint32_t n;
};

/* a[i] = i, b[i] = 3 i. */
static int make_vectors(struct conformance *c, struct vectors *v, int32_t *host)
{
    size_t size = v->n * sizeof(*host);
    int err = conformance_alloc(c, size, &v->a);
    if (!err)
        err = conformance_alloc(c, size, &v->b);
    if (!err)
        err = conformance_alloc(c, size, &v->out);
    for (uint32_t i = 0; i < v->n; i++)
        host[i] = (int32_t)i;
    if (!err)
        err = gpgpu_device_copy_h2d(c->dev, STREAM, v->a, host, size);
    if (!err)
        err = gpgpu_device_sync(c->dev, STREAM);
    for (uint32_t i = 0; i < v->n; i++)
        host[i] = (int32_t)(3 * i);
    if (!err)
        err = gpgpu_device_copy_h2d(c->dev, STREAM, v->b, host, size);
    return err ? err : gpgpu_device_sync(c->dev, STREAM);
}

static int add(struct conformance *c, gpgpu_kernel_t kernel, const struct vectors *v, gpgpu_addr_t a,
               gpgpu_addr_t b, gpgpu_addr_t out, uint32_t threads)
{
    struct gpgpu_arg args[] = {arg_addr(a), arg_addr(b), arg_addr(out), arg_u32(v->n)};
    return conformance_launch(c, kernel, (v->n - 1) / threads + 1, threads, args, 4);
}

#define SHAPES_N 1000

static void every_shape_gives_the_same_result(struct conformance *c)
{
    static const uint32_t threads[] = {1, 31, 32, 33, 100, 256, 1024};
    int32_t host[SHAPES_N];
    struct vectors v = {.n = SHAPES_N};
    gpgpu_kernel_t kernel;
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_vec_add, &kernel));
    EXPECT_OK(c, make_vectors(c, &v, host));
    for (size_t k = 0; k < ARRAY_SIZE(threads) && threads[k] <= c->caps.max_block; k++) {
        for (uint32_t i = 0; i < v.n; i++)
            host[i] = -1;
        EXPECT_OK(c, gpgpu_device_copy_h2d(c->dev, STREAM, v.out, host, sizeof(host)));
        EXPECT_OK(c, add(c, kernel, &v, v.a, v.b, v.out, threads[k]));
        EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, STREAM, host, v.out, sizeof(host)));
        EXPECT_OK(c, gpgpu_device_sync(c->dev, STREAM));
        for (uint32_t i = 0; i < v.n; i++)
            EXPECT(c, host[i] == (int32_t)(4 * i));
    }
}

/* out = a + b; out = out + a; copy out: no wait in between, the stream keeps the order. */
static void work_keeps_its_order(struct conformance *c)
{
    int32_t host[SHAPES_N];
    struct vectors v = {.n = SHAPES_N};
    gpgpu_kernel_t kernel;
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_vec_add, &kernel));
    EXPECT_OK(c, make_vectors(c, &v, host));
    EXPECT_OK(c, add(c, kernel, &v, v.a, v.b, v.out, 64));
    EXPECT_OK(c, add(c, kernel, &v, v.out, v.a, v.out, 64));
    EXPECT_OK(c, gpgpu_device_copy_d2d(c->dev, STREAM, v.b, v.out, sizeof(host)));
    EXPECT_OK(c, add(c, kernel, &v, v.b, v.out, v.a, 64));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, STREAM, host, v.a, sizeof(host)));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, STREAM));
    for (uint32_t i = 0; i < v.n; i++)
        EXPECT(c, host[i] == (int32_t)(10 * i));
}

static void twenty_arguments_arrive(struct conformance *c)
{
    struct gpgpu_arg args[20];
    gpgpu_kernel_t kernel;
    gpgpu_addr_t out;
    int32_t sum, expected = 0;
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_sum_args, &kernel));
    EXPECT_OK(c, conformance_alloc(c, sizeof(sum), &out));
    args[0] = arg_addr(out);
    for (int i = 1; i < 20; i++) {
        args[i] = arg_i32(i * i * i - 500);
        expected += args[i].i32;
    }
    EXPECT_OK(c, conformance_launch(c, kernel, 1, 32, args, ARRAY_SIZE(args)));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, STREAM, &sum, out, sizeof(sum)));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, STREAM));
    EXPECT(c, sum == expected);
}

static const uint32_t where_grid[3] = {3, 2, 2}, where_block[3] = {5, 3, 4};
#define WHERE_THREADS (5 * 3 * 4)
#define WHERE_BLOCKS  (3 * 2 * 2)

static uint32_t where_expected(uint32_t i)
{
    uint32_t block = i / WHERE_THREADS, t = i % WHERE_THREADS;
    uint32_t x = t % where_block[0], y = t / where_block[0] % where_block[1],
             z = t / where_block[0] / where_block[1];
    return z << 24 | y << 16 | x << 8 | block;
}

static void threads_know_where_they_are(struct conformance *c)
{
    uint32_t host[WHERE_BLOCKS * WHERE_THREADS];
    gpgpu_kernel_t kernel;
    gpgpu_addr_t out;
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_where, &kernel));
    EXPECT_OK(c, conformance_alloc(c, sizeof(host), &out));
    struct gpgpu_arg args[] = {arg_addr(out)};
    struct gpgpu_launch launch = {.args = args, .nargs = 1};
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = where_grid[i];
        launch.block[i] = where_block[i];
    }
    EXPECT_OK(c, gpgpu_device_launch(c->dev, STREAM, kernel, &launch));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, STREAM, host, out, sizeof(host)));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, STREAM));
    for (uint32_t i = 0; i < ARRAY_SIZE(host); i++)
        EXPECT(c, host[i] == where_expected(i));
}

#define REVERSE_BLOCK 200u /* not a multiple of the warp */
#define REVERSE_N     (REVERSE_BLOCK * 5)

static void shared_memory_and_barrier_work(struct conformance *c)
{
    uint32_t host[REVERSE_N];
    gpgpu_kernel_t kernel;
    gpgpu_addr_t data;
    for (uint32_t i = 0; i < REVERSE_N; i++)
        host[i] = i;
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_block_reverse, &kernel));
    EXPECT_OK(c, conformance_alloc(c, sizeof(host), &data));
    EXPECT_OK(c, gpgpu_device_copy_h2d(c->dev, STREAM, data, host, sizeof(host)));
    struct gpgpu_arg args[] = {arg_addr(data)};
    struct gpgpu_launch launch = {.grid = {REVERSE_N / REVERSE_BLOCK, 1, 1},
                                  .block = {REVERSE_BLOCK, 1, 1},
                                  .shared_bytes = REVERSE_BLOCK * 4,
                                  .args = args,
                                  .nargs = 1};
    EXPECT_OK(c, gpgpu_device_launch(c->dev, STREAM, kernel, &launch));
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, STREAM, host, data, sizeof(host)));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, STREAM));
    for (uint32_t i = 0; i < REVERSE_N; i++)
        EXPECT(c, host[i] == i / REVERSE_BLOCK * REVERSE_BLOCK + REVERSE_BLOCK - 1 - i % REVERSE_BLOCK);
}

const struct conformance_case conformance_launches[] = {
    {"every shape gives the same result", GPGPU_FEATURE_EXECUTES, every_shape_gives_the_same_result},
    {"work keeps its order", GPGPU_FEATURE_EXECUTES, work_keeps_its_order},
    {"twenty arguments arrive", GPGPU_FEATURE_EXECUTES, twenty_arguments_arrive},
    {"threads know where they are", GPGPU_FEATURE_EXECUTES, threads_know_where_they_are},
    {"shared memory and barrier work", GPGPU_FEATURE_EXECUTES | GPGPU_FEATURE_SHARED,
     shared_memory_and_barrier_work},
    {0},
};
