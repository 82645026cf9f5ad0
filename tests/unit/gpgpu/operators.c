/* SPDX-License-Identifier: MIT */
/* The integer operators on sim against their CPU references, at random shapes and with any 32-bit values. */
#include "gpgpu.h"

#include "gpgpu/check.h"
#include "gpgpu/cpu.h"
#include "gpgpu/ops.h"
#include "random.h"

#include <errno.h>

#define MOST   4096
#define ROUNDS 40

static int32_t a[MOST], b[MOST], bias[MOST], gpu[MOST], cpu[MOST];
static struct gpgpu_context ctx;

static int setup(void **state)
{
    (void)state;
    random_seed();
    return gpgpu_context_open_device(&ctx, sim);
}

static int teardown(void **state)
{
    (void)state;
    gpgpu_context_close(&ctx);
    return 0;
}

/* New values everywhere; a result that is not written stands out. */
static void shuffle(void)
{
    for (int i = 0; i < MOST; i++) {
        a[i] = (int32_t)random_u64();
        b[i] = (int32_t)random_u64();
        bias[i] = (int32_t)random_u64();
        gpu[i] = cpu[i] = 0x5a5a5a5a;
    }
}

static uint32_t between(uint32_t low, uint32_t high)
{
    return low + (uint32_t)random_below(high - low + 1);
}

/* All of the arrays are compared: what lies behind the result must be untouched. */
static void compare(const char *what, int err)
{
    assert_int_equal(err, 0);
    assert_true(gpgpu_check_i32(what, gpu, cpu, MOST));
}

static void vec_add_matches(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = i ? between(0, MOST) : MOST;
        shuffle();
        cpu_vec_add(a, b, cpu, n);
        compare("vec_add", gpgpu_vec_add(&ctx, a, b, gpu, n));
    }
}

static void relu_matches(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = between(0, MOST);
        shuffle();
        a[0] = INT32_MIN;
        a[1] = 0;
        cpu_relu(a, cpu, n);
        compare("relu", gpgpu_relu(&ctx, a, gpu, n));
    }
}

static void matmul_4x4_matches(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        size_t count = between(0, MOST / 16);
        shuffle();
        cpu_matmul_4x4(a, b, cpu, count);
        compare("matmul_4x4", gpgpu_matmul_4x4(&ctx, a, b, gpu, count));
    }
}

static void conv2d_3x3_matches(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t h = between(3, 20), w = between(3, 20), c = between(1, MOST / (18 * 18));
        shuffle();
        cpu_conv2d_3x3(a, b, bias, cpu, h, w, c);
        compare("conv2d_3x3", gpgpu_conv2d_3x3(&ctx, a, b, bias, gpu, h, w, c));
    }
}

static void max_pool_2x2_matches(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t h = between(2, 25), w = between(2, 25), c = between(1, MOST / (25 * 25));
        shuffle();
        cpu_max_pool_2x2(a, cpu, h, w, c);
        compare("max_pool_2x2", gpgpu_max_pool_2x2(&ctx, a, gpu, h, w, c));
    }
}

static void fc_layer_matches(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t in = between(1, 64), out = between(1, MOST / 64);
        shuffle();
        cpu_fc_layer(a, b, bias, cpu, in, out);
        compare("fc_layer", gpgpu_fc_layer(&ctx, a, b, bias, gpu, in, out));
    }
}

/* Worked by hand, so that reference and kernel cannot be wrong together. */
static void references_match_examples(void **state)
{
    (void)state;
    static const int32_t in[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; /* 3x4 */
    static const int32_t weight[9] = {1, 0, 0, 0, 0, 0, 0, 0, 10}, ten[1] = {-100};
    int32_t out[16];
    cpu_conv2d_3x3(in, weight, ten, out, 3, 4, 1);
    assert_int_equal(out[0], 1 + 10 * 11 - 100);
    assert_int_equal(out[1], 2 + 10 * 12 - 100);
    cpu_max_pool_2x2(in, out, 3, 4, 1);
    assert_int_equal(out[0], 6);
    assert_int_equal(out[1], 8);
    cpu_fc_layer(in, in, ten, out, 3, 1);
    assert_int_equal(out[0], 1 + 4 + 9 - 100);
    static const int32_t twice[16] = {[0] = 2, [5] = 2, [10] = 2, [15] = 2}, shift[16] = {[1] = 1, [6] = 3};
    cpu_matmul_4x4(shift, twice, out, 1);
    assert_int_equal(out[1], 2);
    assert_int_equal(out[6], 6);
    assert_int_equal(out[0], 0);
    static const int32_t signs[3] = {-1, 0, 1};
    cpu_relu(signs, out, 3);
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 1);
    assert_int_equal(cpu_argmax((const int32_t[]){1, 7, 7, 2}, 4), 1);
}

static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    assert_int_equal(gpgpu_conv2d_3x3(&ctx, a, b, bias, gpu, 2, 5, 1), -EINVAL);
    assert_int_equal(gpgpu_conv2d_3x3(&ctx, a, b, bias, gpu, 5, 5, 0), -EINVAL);
    assert_int_equal(gpgpu_conv2d_3x3(&ctx, a, b, bias, gpu, 65536, 65536, 1), -ENOMEM);
    assert_int_equal(gpgpu_max_pool_2x2(&ctx, a, gpu, 1, 5, 1), -EINVAL);
    assert_int_equal(gpgpu_max_pool_2x2(&ctx, a, gpu, 65536, 65536, 1), -ENOMEM);
    assert_int_equal(gpgpu_fc_layer(&ctx, a, b, bias, gpu, 0, 1), -EINVAL);
    assert_int_equal(gpgpu_fc_layer(&ctx, a, b, bias, gpu, UINT32_MAX, UINT32_MAX), -ENOMEM);
    assert_int_equal(gpgpu_matmul_4x4(&ctx, a, b, gpu, SIZE_MAX / 8), -ENOMEM);
    assert_int_equal(gpgpu_vec_add(&ctx, a, b, gpu, SIZE_MAX), -ENOMEM);
}

int run_operator_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vec_add_matches),           cmocka_unit_test(relu_matches),
        cmocka_unit_test(matmul_4x4_matches),        cmocka_unit_test(conv2d_3x3_matches),
        cmocka_unit_test(max_pool_2x2_matches),      cmocka_unit_test(fc_layer_matches),
        cmocka_unit_test(references_match_examples), cmocka_unit_test(impossible_shapes_are_refused),
    };
    return cmocka_run_group_tests_name("operators", tests, setup, teardown);
}
