// SPDX-License-Identifier: MIT
// While a thread waits for the GPU, another computes.
#include "core/test.h"
#include "gpgpu/check.h"
#include "gpgpu/ops.h"
#include "threads.h"

#define N            (1 << 16)
#define MAX_LAUNCHES 1000 // one may be over before anybody waits for it

static int32_t a[N], b[N], sum[N];
static volatile bool stop;

// Counts how often it had its turn.
static int compute(void *arg)
{
    volatile unsigned *turns = arg;
    while (!stop) {
        ++*turns;
        thread_yield();
    }
    return 0;
}

static bool add_on_gpu(struct gpgpu_context *ctx)
{
    return gpgpu_check_ok(ctx, "vec_add", gpgpu_vec_add(ctx, a, b, sum, N)) && sum[N - 1] == 3 * (N - 1);
}

void test_gpu_overlap(void)
{
    GPGPU_CONTEXT(ctx);
    volatile unsigned turns = 0;
    if (!gpgpu_check_ok(&ctx, "GPU 0", gpgpu_context_open(&ctx, 0)))
        return;
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    struct thread *other = start("compute", compute, (void *)&turns);
    bool right = true;
    for (int i = 0; i < MAX_LAUNCHES && right && turns == 0; i++)
        right = add_on_gpu(&ctx);
    unsigned during = turns;
    stop = true;
    thread_join(other);
    check(right && during > 0, "the GPU added %d numbers while another thread had %s", N,
          during ? "the processor" : "no turn");
}
