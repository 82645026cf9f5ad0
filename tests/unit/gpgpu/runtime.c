/* SPDX-License-Identifier: MIT */
/* lib/gpgpu: buffers, kernels, launches, and what they do when the device fails. */
#include "gpgpu.h"

#include "core/util.h"
#include "gpgpu/images.h"
#include "gpgpu/ops.h"
#include "mock/mock.h"

#include <errno.h>

static void buffer_leaves_its_scope_and_is_freed(void **state)
{
    (void)state;
    GPGPU_CONTEXT(ctx);
    assert_int_equal(gpgpu_context_open_device(&ctx, null), 0);
    for (int i = 0; i < 3; i++) {
        GPGPU_BUFFER(int32_t) most = GPGPU_BUFFER_INIT; /* no two of them fit */
        assert_int_equal(gpgpu_buffer_new(&ctx, &most, VRAM_BYTES / 2 / 4 + 1), 0);
        assert_int_equal(most.raw.addr % GPGPU_ALIGNMENT, 0);
        GPGPU_BUFFER(int32_t) second = GPGPU_BUFFER_INIT;
        assert_int_equal(gpgpu_buffer_new(&ctx, &second, VRAM_BYTES / 2 / 4 + 1), -ENOMEM);
        assert_null(second.raw.ctx);
    }
}

static void buffer_refuses_nonsense(void **state)
{
    (void)state;
    int32_t word = 0;
    GPGPU_CONTEXT(ctx);
    GPGPU_BUFFER(int32_t) b = GPGPU_BUFFER_INIT;
    assert_int_equal(gpgpu_context_open_device(&ctx, null), 0);
    assert_int_equal(gpgpu_buffer_new(&ctx, &b, 0), -EINVAL);
    assert_int_equal(gpgpu_buffer_new(&ctx, &b, SIZE_MAX / 2), -ENOMEM);
    assert_int_equal(gpgpu_buffer_readback(&b, &word), -EINVAL);
    assert_int_equal(gpgpu_buffer_new(&ctx, &b, 1), 0);
    assert_int_equal(gpgpu_buffer_new(&ctx, &b, 1), -EINVAL);
    assert_int_equal(gpgpu_buffer_free(&b.raw), 0);
    assert_int_equal(gpgpu_buffer_free(&b.raw), 0);
}

static void buffer_carries_data(void **state)
{
    (void)state;
    const float out[3] = {1.5f, -2.25f, 1e30f};
    float back[3] = {0};
    GPGPU_CONTEXT(ctx);
    GPGPU_BUFFER(float) b = GPGPU_BUFFER_INIT;
    assert_int_equal(gpgpu_context_open_device(&ctx, sim), 0);
    assert_int_equal(gpgpu_buffer_from_host(&ctx, &b, out, 3), 0);
    assert_int_equal(gpgpu_buffer_readback(&b, back), 0);
    assert_memory_equal(back, out, sizeof(out));
    const float other[3] = {4, 5, 6};
    assert_int_equal(gpgpu_buffer_write(&b, other), 0);
    assert_int_equal(gpgpu_buffer_readback(&b, back), 0);
    assert_memory_equal(back, other, sizeof(other));
}

static void context_needs_a_device(void **state)
{
    (void)state;
    GPGPU_CONTEXT(ctx);
    assert_int_equal(gpgpu_context_open(&ctx, 1000), -ENODEV);
    gpgpu_context_close(&ctx);
    assert_int_equal(gpgpu_context_open(&ctx, 0), 0);
}

static void module_is_loaded_once_a_context(void **state)
{
    (void)state;
    struct gpgpu_device *mock;
    struct gpgpu_kernel a, b;
    assert_int_equal(gpgpu_mock_create(null, &mock), 0);
    {
        GPGPU_CONTEXT(ctx);
        assert_int_equal(gpgpu_context_open_device(&ctx, mock), 0);
        assert_int_equal(gpgpu_upload_kernel(&ctx, &gpgpu_image_relu, "relu", &a), 0);
        assert_int_equal(gpgpu_upload_kernel(&ctx, &gpgpu_image_vec_add, "vec_add", &b), 0);
        assert_int_equal(gpgpu_upload_kernel(&ctx, &gpgpu_image_relu, "relu", &b), 0);
        assert_int_equal(a.handle, b.handle);
        assert_int_equal(gpgpu_upload_kernel(&ctx, &gpgpu_image_relu, "other", &b), -ENOENT);
        assert_int_equal(gpgpu_mock_calls(mock, MOCK_MODULE_LOAD), 2);
    }
    assert_int_equal(gpgpu_mock_calls(mock, MOCK_MODULE_UNLOAD), 2);
    gpgpu_mock_destroy(mock);
}

static void builder_and_macro_pass_the_same_arguments(void **state)
{
    (void)state;
    int32_t sums[2] = {0};
    struct gpgpu_kernel kernel;
    GPGPU_CONTEXT(ctx);
    GPGPU_BUFFER(int32_t) out = GPGPU_BUFFER_INIT;
    assert_int_equal(gpgpu_context_open_device(&ctx, sim), 0);
    assert_int_equal(gpgpu_buffer_new(&ctx, &out, 2), 0);
    assert_int_equal(gpgpu_upload_kernel(&ctx, &gpgpu_image_sum_args, "sum_args", &kernel), 0);
    assert_int_equal(gpgpu_launch_kernel(&ctx, &kernel, gpgpu_dim(1, 1, 1), gpgpu_dim(1, 1, 1), &out.raw, 1,
                                         2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, -19),
                     0);
    struct gpgpu_launcher l = gpgpu_launcher(&ctx, &kernel);
    gpgpu_launcher_arg(&l, gpgpu_arg_addr(out.raw.addr + 4));
    for (int32_t i = 1; i < 20; i++)
        gpgpu_launcher_arg(&l, i * 100);
    assert_int_equal(gpgpu_launcher_launch(&l), 0);
    assert_int_equal(gpgpu_buffer_readback(&out, sums), 0);
    assert_int_equal(sums[0], 171 - 19);
    assert_int_equal(sums[1], 19000);
}

static void builder_refuses_too_many_arguments(void **state)
{
    (void)state;
    struct gpgpu_kernel kernel;
    GPGPU_CONTEXT(ctx);
    assert_int_equal(gpgpu_context_open_device(&ctx, null), 0);
    assert_int_equal(gpgpu_upload_kernel(&ctx, &gpgpu_image_sum_args, "sum_args", &kernel), 0);
    struct gpgpu_launcher l = gpgpu_launcher(&ctx, &kernel);
    for (int32_t i = 0; i < (int32_t)GPGPU_MAX_ARGS + 1; i++)
        gpgpu_launcher_arg(&l, i);
    assert_int_equal(gpgpu_launcher_launch(&l), -EINVAL);
}

static void every_argument_type_keeps_its_type(void **state)
{
    (void)state;
    struct gpgpu_buffer buffer = {.addr = 128};
    const struct gpgpu_arg args[] = {GPGPU_ARGS(-1, 2u, 0.5f, &buffer, gpgpu_arg_addr(64))};
    assert_int_equal(ARRAY_SIZE(args), 5);
    assert_true(args[0].type == GPGPU_ARG_I32 && args[0].i32 == -1);
    assert_true(args[1].type == GPGPU_ARG_U32 && args[1].u32 == 2);
    assert_true(args[2].type == GPGPU_ARG_F32 && args[2].f32 == 0.5f);
    assert_true(args[3].type == GPGPU_ARG_ADDR && args[3].addr == 128);
    assert_true(args[4].type == GPGPU_ARG_ADDR && args[4].addr == 64);
}

static void grid_covers_the_data(void **state)
{
    (void)state;
    assert_int_equal(gpgpu_cover(0, 256).x, 1);
    assert_int_equal(gpgpu_cover(1, 256).x, 1);
    assert_int_equal(gpgpu_cover(256, 256).x, 1);
    assert_int_equal(gpgpu_cover(257, 256).x, 2);
}

/* ---- a device that fails ---------------------------------------------------------------------------------
 */

static int run_conv(struct gpgpu_context *ctx)
{
    static const int32_t in[36], weight[18], bias[2];
    int32_t out[32];
    return gpgpu_conv2d_3x3(ctx, in, weight, bias, out, 6, 6, 2);
}

/* Run a convolution whose n-th call of op fails; whether it had that many calls. */
static bool fail_at(enum gpgpu_mock_op op, unsigned n, int error)
{
    struct gpgpu_device *mock;
    assert_int_equal(gpgpu_mock_create(null, &mock), 0);
    gpgpu_mock_fail(mock, op, n, error);
    {
        GPGPU_CONTEXT(ctx);
        assert_int_equal(gpgpu_context_open_device(&ctx, mock), 0);
        int err = run_conv(&ctx);
        bool reached = gpgpu_mock_calls(mock, op) >= n;
        /* Calls while buffers leave their scope come after the result. */
        assert_true(err == error || (err == 0 && (!reached || op == MOCK_SYNC)));
    }
    bool reached = gpgpu_mock_calls(mock, op) >= n;
    unsigned failed_allocs = op == MOCK_MEM_ALLOC && reached;
    assert_int_equal(gpgpu_mock_calls(mock, MOCK_MEM_ALLOC) - failed_allocs,
                     gpgpu_mock_calls(mock, MOCK_MEM_FREE));
    unsigned failed_loads = op == MOCK_MODULE_LOAD && reached;
    assert_int_equal(gpgpu_mock_calls(mock, MOCK_MODULE_LOAD) - failed_loads,
                     gpgpu_mock_calls(mock, MOCK_MODULE_UNLOAD));
    gpgpu_mock_destroy(mock);
    return reached;
}

static void every_failing_call_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    static const enum gpgpu_mock_op ops[] = {MOCK_MEM_ALLOC,  MOCK_COPY_H2D, MOCK_COPY_D2H, MOCK_MODULE_LOAD,
                                             MOCK_KERNEL_GET, MOCK_LAUNCH,   MOCK_SYNC};
    static const unsigned least[] = {4, 3, 1, 1, 1, 1, 4};
    for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
        unsigned n = 1;
        while (fail_at(ops[i], n, -EIO))
            n++;
        assert_true(n > least[i]);
    }
}

int run_runtime_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_leaves_its_scope_and_is_freed),
        cmocka_unit_test(buffer_refuses_nonsense),
        cmocka_unit_test(buffer_carries_data),
        cmocka_unit_test(context_needs_a_device),
        cmocka_unit_test(module_is_loaded_once_a_context),
        cmocka_unit_test(builder_and_macro_pass_the_same_arguments),
        cmocka_unit_test(builder_refuses_too_many_arguments),
        cmocka_unit_test(every_argument_type_keeps_its_type),
        cmocka_unit_test(grid_covers_the_data),
        cmocka_unit_test(every_failing_call_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
}
