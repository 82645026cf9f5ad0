/* SPDX-License-Identifier: MIT */
/* Three operators on the GPU, each compared with its CPU reference. */
#include "core/test.h"
#include "gpgpu/check.h"
#include "gpgpu/cpu.h"
#include "gpgpu/ops.h"

#define N     1000
#define COUNT (N / 16) /* 4x4 matrices */

static int32_t a[N], b[N], gpu[N], cpu[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i - N / 2;
        b[i] = 7 * i % 31 - 15;
    }
}

static void demo_vec_add(struct gpgpu_context *ctx)
{
    cpu_vec_add(a, b, cpu, N);
    if (gpgpu_check_ok(ctx, "vec_add", gpgpu_vec_add(ctx, a, b, gpu, N)) &&
        gpgpu_check_i32("vec_add", gpu, cpu, N))
        ok("vec_add: %d values match CPU reference", N);
}

static void demo_relu(struct gpgpu_context *ctx)
{
    cpu_relu(a, cpu, N);
    if (gpgpu_check_ok(ctx, "relu", gpgpu_relu(ctx, a, gpu, N)) && gpgpu_check_i32("relu", gpu, cpu, N))
        ok("relu: %d values match CPU reference", N);
}

static void demo_matmul_4x4(struct gpgpu_context *ctx)
{
    cpu_matmul_4x4(a, b, cpu, COUNT);
    if (gpgpu_check_ok(ctx, "matmul_4x4", gpgpu_matmul_4x4(ctx, a, b, gpu, COUNT)) &&
        gpgpu_check_i32("matmul_4x4", gpu, cpu, COUNT * 16))
        ok("matmul_4x4: %d matrices match CPU reference", COUNT);
}

int main(void)
{
    GPGPU_CONTEXT(ctx);
    if (!gpgpu_check_ok(&ctx, "GPU 0", gpgpu_context_open(&ctx, 0)))
        return test_exit_code();
    fill();
    demo_vec_add(&ctx);
    demo_relu(&ctx);
    demo_matmul_4x4(&ctx);
    return test_exit_code();
}
