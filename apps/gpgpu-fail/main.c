/* SPDX-License-Identifier: MIT */
/* The GPU is right and the expectation wrong in one place: the [FAIL] line and the exit code must say so. */
#include "core/test.h"
#include "gpgpu/check.h"
#include "gpgpu/cpu.h"
#include "gpgpu/ops.h"

int main(void)
{
    static const int32_t a[5] = {1, 2, 3, 4, 5}, b[5] = {10, 20, 30, 40, 50};
    int32_t gpu[5], expected[5];
    GPGPU_CONTEXT(ctx);
    if (!gpgpu_check_ok(&ctx, "GPU 0", gpgpu_context_open(&ctx, 0)))
        return test_exit_code();
    cpu_vec_add(a, b, expected, 5);
    expected[3]++;
    if (gpgpu_check_ok(&ctx, "vec_add", gpgpu_vec_add(&ctx, a, b, gpu, 5)) &&
        gpgpu_check_i32("vec_add", gpu, expected, 5))
        ok("vec_add: 5 values match");
    return test_exit_code();
}
