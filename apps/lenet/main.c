/* SPDX-License-Identifier: MIT */
/*
 * A small network of LeNet's shape on the GPU, compared with the CPU layer by layer:
 * 6x6 input, Conv2D (2 channels), ReLU, MaxPool, fully connected (4 outputs), argmax.
 */
#include "core/test.h"
#include "gpgpu/check.h"
#include "gpgpu/cpu.h"
#include "gpgpu/ops.h"
#include "hal/machine.h"
#include "hal/time.h"

#include <inttypes.h>
#include <stdlib.h>

#define IN       6
#define CHANNELS 2
#define CONV     (IN - 2)
#define POOL     (CONV / 2)
#define N_CONV   (CHANNELS * CONV * CONV)
#define N_POOL   (CHANNELS * POOL * POOL)
#define CLASSES  4
#define NETWORKS 100

struct network {
    int32_t input[IN * IN];
    int32_t conv_weight[CHANNELS * 9];
    int32_t conv_bias[CHANNELS];
    int32_t fc_weight[CLASSES * N_POOL];
    int32_t fc_bias[CLASSES];
};

struct layers {
    int32_t conv[N_CONV];
    int32_t relu[N_CONV];
    int32_t pool[N_POOL];
    int32_t fc[CLASSES];
    size_t class;
};

/* A three in a 6x6 picture; an edge filter a direction. */
static const struct network demo = {
    .input = {0, 1, 1, 1, 1, 0, //
              0, 0, 0, 0, 1, 0, //
              0, 0, 1, 1, 1, 0, //
              0, 0, 0, 0, 1, 0, //
              0, 0, 0, 0, 1, 0, //
              1, 1, 1, 1, 1, 0},
    .conv_weight = {-1, -1, -1, 1, 2, 1, 0, 0, 0, //
                    -1, 0, 1, -2, 0, 2, -1, 0, 1},
    .conv_bias = {0, 1},
    .fc_weight = {1, 2,  -1, 5,  3, 2, 1, 2, //
                  4, -1, 7,  0,  2, 5, 1, 3, //
                  0, 3,  2,  -2, 4, 1, 6, 3, //
                  5, 4,  1,  3,  5, 6, 2, 2},
    .fc_bias = {1, -4, -6, 5},
};

static void run_cpu(const struct network *net, struct layers *out)
{
    cpu_conv2d_3x3(net->input, net->conv_weight, net->conv_bias, out->conv, IN, IN, CHANNELS);
    cpu_relu(out->conv, out->relu, N_CONV);
    cpu_max_pool_2x2(out->relu, out->pool, CONV, CONV, CHANNELS);
    cpu_fc_layer(out->pool, net->fc_weight, net->fc_bias, out->fc, N_POOL, CLASSES);
    out->class = cpu_argmax(out->fc, CLASSES);
}

static int run_gpu(struct gpgpu_context *ctx, const struct network *net, struct layers *out)
{
    int err =
        gpgpu_conv2d_3x3(ctx, net->input, net->conv_weight, net->conv_bias, out->conv, IN, IN, CHANNELS);
    if (!err)
        err = gpgpu_relu(ctx, out->conv, out->relu, N_CONV);
    if (!err)
        err = gpgpu_max_pool_2x2(ctx, out->relu, out->pool, CONV, CONV, CHANNELS);
    if (!err)
        err = gpgpu_fc_layer(ctx, out->pool, net->fc_weight, net->fc_bias, out->fc, N_POOL, CLASSES);
    if (!err)
        out->class = cpu_argmax(out->fc, CLASSES);
    return err;
}

static void run_demo(struct gpgpu_context *ctx)
{
    struct layers cpu, gpu = {0};
    run_cpu(&demo, &cpu);
    if (!gpgpu_check_ok(ctx, "LeNet", run_gpu(ctx, &demo, &gpu)))
        return;
    if (gpgpu_check_i32("Conv2D", gpu.conv, cpu.conv, N_CONV))
        ok("Conv2D: %d values match CPU reference", N_CONV);
    if (gpgpu_check_i32("ReLU", gpu.relu, cpu.relu, N_CONV))
        ok("ReLU: %d values match", N_CONV);
    if (gpgpu_check_i32("MaxPool", gpu.pool, cpu.pool, N_POOL))
        ok("MaxPool: %d values match", N_POOL);
    if (gpgpu_check_i32("FC", gpu.fc, cpu.fc, CLASSES))
        ok("FC: output [%" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 "]", gpu.fc[0], gpu.fc[1], gpu.fc[2],
           gpu.fc[3]);
    check(gpu.class == cpu.class, "Classification: class %zu (GPU) %s class %zu (CPU)", gpu.class,
          gpu.class == cpu.class ? "==" : "!=", cpu.class);
}

/* ---- random networks ----------------------------------------------------------------------------------- */

/* xorshift64 (Marsaglia 2003); state is not 0. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The whole structure is numbers from -1000 to 1000. */
static void random_network(struct network *net, uint64_t *state)
{
    int32_t *values = (int32_t *)net;
    for (size_t i = 0; i < sizeof(*net) / sizeof(*values); i++)
        values[i] = (int32_t)(next(state) % 2001) - 1000;
}

static bool same_layers(const struct layers *gpu, const struct layers *cpu)
{
    return gpgpu_check_i32("Conv2D", gpu->conv, cpu->conv, N_CONV) &&
           gpgpu_check_i32("ReLU", gpu->relu, cpu->relu, N_CONV) &&
           gpgpu_check_i32("MaxPool", gpu->pool, cpu->pool, N_POOL) &&
           gpgpu_check_i32("FC", gpu->fc, cpu->fc, CLASSES);
}

static void run_random(struct gpgpu_context *ctx, uint64_t seed)
{
    uint64_t state = seed;
    for (int i = 0; i < NETWORKS; i++) {
        struct network net;
        struct layers cpu, gpu = {0};
        random_network(&net, &state);
        run_cpu(&net, &cpu);
        if (!gpgpu_check_ok(ctx, "random network", run_gpu(ctx, &net, &gpu)) || !same_layers(&gpu, &cpu)) {
            fail("random network %d of seed %" PRIu64, i, seed);
            return;
        }
    }
    ok("%d random networks match CPU reference (seed %" PRIu64 ")", NETWORKS, seed);
}

/* `seed=N` on the command line repeats a run. */
static uint64_t choose_seed(void)
{
    char given[24];
    if (machine_bootarg("seed", given, sizeof(given)))
        return strtoull(given, NULL, 0) | !strtoull(given, NULL, 0);
    return time_now_ns() | 1;
}

int main(void)
{
    GPGPU_CONTEXT(ctx);
    if (!gpgpu_check_ok(&ctx, "GPU 0", gpgpu_context_open(&ctx, 0)))
        return test_exit_code();
    run_demo(&ctx);
    run_random(&ctx, choose_seed());
    return test_exit_code();
}
