/* SPDX-License-Identifier: MIT */
/* The kernels' elementary functions against the host's libm: every 997th float, and the special values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernel_activation.h"

struct kernel_thread kernel_thread; /* what gpgpu_kernel.h wants on the host; not used here */

void kernel_host_barrier(void)
{
    abort();
}

#define EVERY 997u

/* Distance of the float next to |v|: 2^-23 of its binade, at least the denormal spacing. */
static double ulp(double v)
{
    return fmax(ldexp(1, ilogb(fabs(v)) - 23), 0x1p-149);
}

typedef float (*function)(float);
typedef double (*oracle)(double);

/* |f(x) - g(x)| <= ulps ulp(g(x)) + absolute for every 997th float x in low .. high. */
static void check_range(const char *name, function f, oracle g, float low, float high, double ulps,
                        double absolute)
{
    double worst = 0, worst_at = 0;
    for (uint32_t bits = 0; bits < 0xff800000u; bits += EVERY) {
        float x = float_of_bits(bits);
        if (!(x >= low && x <= high))
            continue;
        double want = g(x), error = fabs((double)f(x) - want);
        double allowed = ulps * ulp(want == 0 ? 0x1p-149 : want) + absolute;
        if (error / allowed > worst) {
            worst = error / allowed;
            worst_at = x;
        }
    }
    print_message("%s: %.2f of what is allowed, at %.9g\n", name, worst, worst_at);
    assert_true(worst <= 1);
}

static double sigmoid_double(double x)
{
    return 1 / (1 + exp(-x));
}

static double gelu_double(double x)
{
    return x / 2 * (1 + erf(x / sqrt(2)));
}

static void test_exp(void **state)
{
    (void)state;
    check_range("exp", exp_f32, exp, -103.9f, 88.72f, 2, 0);
    assert_true(exp_f32(0) == 1.0f);
    assert_true(exp_f32(-0.0f) == 1.0f);
    assert_true(isinf(exp_f32(89)) && isinf(exp_f32(1e30f)) && isinf(exp_f32(INFINITY)));
    assert_true(exp_f32(-105) == 0 && exp_f32(-1e30f) == 0 && exp_f32(-INFINITY) == 0);
    assert_true(isnan(exp_f32(NAN)));
}

static void test_exp_below_one(void **state)
{
    (void)state;
    check_range("exp_below_one", exp_below_one, exp, -87.3f, 0, 2, 0);
    assert_true(exp_below_one(0) == 1.0f && exp_below_one(-0.0f) == 1.0f);
    assert_true(exp_below_one(-88) == 0 && exp_below_one(-1e30f) == 0 && exp_below_one(-INFINITY) == 0);
    assert_true(isnan(exp_below_one(NAN)));
}

static void test_log(void **state)
{
    (void)state;
    check_range("log", log_f32, log, 0x1p-126f, 0x1.fffffep127f, 2, 1e-7);
    assert_true(log_f32(1) == 0);
}

static void test_tanh(void **state)
{
    (void)state;
    check_range("tanh", tanh_f32, tanh, -100, 100, 4, 0);
    assert_true(tanh_f32(INFINITY) == 1 && tanh_f32(-INFINITY) == -1 && isnan(tanh_f32(NAN)));
    assert_true(signbit(tanh_f32(-0.0f)));
}

static void test_sigmoid(void **state)
{
    (void)state;
    check_range("sigmoid", sigmoid_f32, sigmoid_double, -87, 200, 3, 0);
    assert_true(sigmoid_f32(INFINITY) == 1 && sigmoid_f32(-INFINITY) == 0 && isnan(sigmoid_f32(NAN)));
}

static void test_erf(void **state)
{
    (void)state;
    check_range("erf", erf_f32, erf, -1e30f, 1e30f, 0, 6e-7);
    assert_true(erf_f32(INFINITY) == 1 && erf_f32(-INFINITY) == -1 && isnan(erf_f32(NAN)));
}

static void test_gelu(void **state)
{
    (void)state;
    check_range("gelu", gelu_f32, gelu_double, -5, 5, 4, 3e-7 * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),  cmocka_unit_test(test_exp_below_one), cmocka_unit_test(test_log),
        cmocka_unit_test(test_tanh), cmocka_unit_test(test_sigmoid),       cmocka_unit_test(test_erf),
        cmocka_unit_test(test_gelu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
