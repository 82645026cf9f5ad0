/* SPDX-License-Identifier: MIT */
/* Narrow formats against their definition: widening by value, narrowing by searching the nearest value. */
#include <math.h>
#include <string.h>

#include "fixture.h"
#include "fp.h"
#include "narrow.h"
#include "suites.h"

struct format {
    int bits, man_bits, bias;
    uint32_t max, inf, nan; /* magnitudes; inf 0: none */
    uint32_t (*widen)(uint32_t), (*narrow)(uint32_t);
};

static const struct format formats[] = {
    {8, 3, 7, 0x7e, 0, 0x7f, simt_e4m3_to_f32, simt_f32_to_e4m3},
    {8, 2, 15, 0x7b, 0x7c, 0x7f, simt_e5m2_to_f32, simt_f32_to_e5m2},
    {4, 1, 1, 7, 0, 7, simt_e2m1_to_f32, simt_f32_to_e2m1},
};

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t as_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

/* Value of a finite magnitude code. */
static double value_of(const struct format *f, uint32_t code)
{
    int field = (int)(code >> f->man_bits);
    double man = (double)(code & ((1u << f->man_bits) - 1)) / (1 << f->man_bits);
    return field ? ldexp(1 + man, field - f->bias) : ldexp(man, 1 - f->bias);
}

static void widening_is_exact(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const struct format *f = &formats[i];
        uint32_t sign_bit = 1u << (f->bits - 1);
        for (uint32_t code = 0; code < 2 * sign_bit; code++) {
            uint32_t magnitude = code & ~sign_bit, wide = f->widen(code | 0xabcd00u << 4);
            uint32_t sign = code & sign_bit ? SIMT_F32_SIGN : 0;
            if (magnitude <= f->max) {
                assert_int_equal(wide, as_bits((float)value_of(f, magnitude)) | sign);
            } else {
                assert_int_equal(wide, magnitude == f->inf ? SIMT_F32_INF | sign : SIMT_F32_NAN);
            }
        }
    }
    for (uint32_t code = 0; code < 0x10000; code++) {
        uint32_t wide = code << 16;
        assert_int_equal(simt_bf16_to_f32(code), isnan(as_float(wide)) ? SIMT_F32_NAN : wide);
    }
}

static void check_narrow(const struct format *f, uint32_t bits)
{
    double x = fabs((double)as_float(bits));
    uint32_t sign = bits >> 31 << (f->bits - 1), best = 0;

    if (isnan(x)) {
        assert_int_equal(f->narrow(bits), f->nan);
        return;
    }
    for (uint32_t code = 1; code <= f->max; code++) {
        double here = fabs(value_of(f, code) - x), there = fabs(value_of(f, best) - x);
        if (here < there || (here == there && (code & 1) == 0) || x >= value_of(f, f->max)) {
            best = code;
        }
    }
    if (f->narrow(bits) != (best | sign)) {
        fail_msg("%a narrows to %x, not %x", x, f->narrow(bits), best | sign);
    }
}

static void narrowing_finds_the_nearest(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const struct format *f = &formats[i];
        for (uint32_t code = 0; code <= f->max; code++) {
            float here = (float)value_of(f, code), next = (float)value_of(f, code + 1);
            const float points[] = {here, here / 2 + next / 2, here / 4 * 3 + next / 4};
            for (unsigned k = 0; k < 3; k++) {
                uint32_t bits = as_bits(points[k]);
                for (int near = -1; near <= 1; near++) {
                    check_narrow(f, (bits + (uint32_t)near) & 0x7fffffff);
                    check_narrow(f, (bits + (uint32_t)near) | 0x80000000);
                }
            }
        }
        for (int k = 0; k < 20000; k++) {
            check_narrow(f, random_float_bits());
        }
    }
}

static void bf16_narrowing(void **state)
{
    (void)state;
    for (int k = 0; k < 100000; k++) {
        uint32_t bits = random_float_bits(), got = simt_f32_to_bf16(bits);
        if (k & 1) {
            bits = (bits & 0xffff0000u) | (0x7fffu + random_u32() % 3);
            got = simt_f32_to_bf16(bits);
        }
        double x = as_float(bits);
        if (isnan(x)) {
            assert_int_equal(got, 0x7fc0);
            continue;
        }
        if (isinf(x)) {
            assert_int_equal(got, bits >> 16);
            continue;
        }
        uint32_t down = bits >> 16, up = down + 1;
        double to_down = fabs(x - as_float(down << 16));
        double top = (up & 0x7fff) == 0x7f80 ? 0x1p128 : fabs((double)as_float(up << 16));
        double to_up = top - fabs(x);
        assert_int_equal(got, to_down < to_up || (to_down == to_up && !(down & 1)) ? down : up);
    }
}

int narrow_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widening_is_exact),
        cmocka_unit_test(narrowing_finds_the_nearest),
        cmocka_unit_test(bf16_narrowing),
    };
    return cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
}
