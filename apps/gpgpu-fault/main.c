/* SPDX-License-Identifier: MIT */
/* One thread of a kernel stores outside every window: the report names it, and the device goes on working. */
#include "core/test.h"
#include "gpgpu/check.h"
#include "gpgpu/images.h"
#include "gpgpu/ops.h"

#define BAD_ADDRESS 0x70000000u /* beyond any VRAM, below the control window */
#define BAD_THREAD  70u         /* thread 6 of block 1 */
#define BLOCK       64u

static int fault(struct gpgpu_context *ctx)
{
    struct gpgpu_kernel kernel;
    int err = gpgpu_upload_kernel(ctx, &gpgpu_image_wild_store, "wild_store", &kernel);
    if (!err)
        err = gpgpu_launch_kernel(ctx, &kernel, gpgpu_dim(2, 1, 1), gpgpu_dim(BLOCK, 1, 1), BAD_ADDRESS,
                                  BAD_THREAD);
    return err ? err : gpgpu_wait(ctx);
}

int main(void)
{
    static const int32_t a[3] = {1, 2, 3}, b[3] = {4, 5, 6}, expected[3] = {5, 7, 9};
    int32_t gpu[3];
    GPGPU_CONTEXT(ctx);
    if (!gpgpu_check_ok(&ctx, "GPU 0", gpgpu_context_open(&ctx, 0)))
        return test_exit_code();
    if (gpgpu_check_ok(&ctx, "wild_store", fault(&ctx)))
        ok("wild_store ended: its fault went unnoticed");
    if (gpgpu_check_ok(&ctx, "vec_add", gpgpu_vec_add(&ctx, a, b, gpu, 3)) &&
        gpgpu_check_i32("vec_add", gpu, expected, 3))
        ok("vec_add after the fault: 3 values match");
    return test_exit_code();
}
