/* SPDX-License-Identifier: MIT */
/* The software floats against the host's under four rounding modes, flags included; the fifth (ties away)
 * against exact products. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "fixture.h"
#include "fp.h"
#include "suites.h"

#define ROUNDS 100000

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
    return isnan(f) ? SIMT_F32_NAN : bits;
}

static const int host_modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/* Underflow is compared only where the host, like RISC-V, detects tininess after rounding. */
#ifdef __x86_64__
#define COMPARED 0x1fu
#else
#define COMPARED (0x1fu & ~(unsigned)SIMT_UF)
#endif

static uint32_t host_flags(void)
{
    int e = fetestexcept(FE_ALL_EXCEPT);
    return (e & FE_INEXACT ? SIMT_NX : 0) | (e & FE_UNDERFLOW ? SIMT_UF : 0) |
           (e & FE_OVERFLOW ? SIMT_OF : 0) | (e & FE_DIVBYZERO ? SIMT_DZ : 0) |
           (e & FE_INVALID ? SIMT_NV : 0);
}

enum operation { ADD, SUB, MUL, DIV, SQRT, FMA, OPERATIONS };

static const char *const names[] = {"add", "sub", "mul", "div", "sqrt", "fma"};

__attribute__((noinline)) static uint32_t on_host(enum operation op, uint32_t a, uint32_t b, uint32_t c)
{
    volatile float x = as_float(a), y = as_float(b), z = as_float(c), r;
    switch (op) {
    case ADD:
        r = x + y;
        break;
    case SUB:
        r = x - y;
        break;
    case MUL:
        r = x * y;
        break;
    case DIV:
        r = x / y;
        break;
    case SQRT:
        r = sqrtf(x);
        break;
    default:
        r = fmaf(x, y, z);
        break;
    }
    return as_bits(r);
}

static uint32_t in_software(enum operation op, uint32_t a, uint32_t b, uint32_t c, enum simt_rm rm,
                            uint32_t *flags)
{
    switch (op) {
    case ADD:
        return simt_f32_add(a, b, rm, flags);
    case SUB:
        return simt_f32_sub(a, b, rm, flags);
    case MUL:
        return simt_f32_mul(a, b, rm, flags);
    case DIV:
        return simt_f32_div(a, b, rm, flags);
    case SQRT:
        return simt_f32_sqrt(a, rm, flags);
    default:
        return simt_f32_fma(a, b, c, rm, flags);
    }
}

/* The library's fma need not raise invalid for a quiet NaN next to inf * 0; RISC-V does (section 11.6). */
static bool host_knows(enum operation op, uint32_t c)
{
    return op != FMA || !simt_f32_is_nan(c);
}

static void arithmetic_equals_the_host(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = random_float_bits(), b = random_float_bits(), c = random_float_bits();
        for (unsigned op = 0; op < OPERATIONS; op++) {
            for (unsigned rm = 0; rm < 4 && host_knows(op, c); rm++) {
                uint32_t flags = 0;
                fesetround(host_modes[rm]);
                feclearexcept(FE_ALL_EXCEPT);
                uint32_t want = on_host(op, a, b, c), want_flags = host_flags();
                fesetround(FE_TONEAREST);
                uint32_t got = in_software(op, a, b, c, rm, &flags);
                if (got != want || ((flags ^ want_flags) & COMPARED)) {
                    fail_msg("%s(%08x, %08x, %08x) rm %u: %08x flags %02x, host %08x %02x", names[op], a, b,
                             c, rm, got, flags, want, want_flags);
                }
            }
        }
    }
}

/* A product of two floats is exact in double. */
static void ties_go_away_from_zero(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = random_float_bits() & 0x7fffffff, b = random_float_bits() & 0x7fffffff, flags = 0;
        double exact = (double)as_float(a) * as_float(b);
        uint32_t low = simt_f32_mul(a, b, SIMT_RTZ, &flags);
        if (!isfinite(exact) || low >= 0x7f7fffff) {
            continue;
        }
        double half = ((double)as_float(low) + as_float(low + 1)) / 2;
        uint32_t want = exact >= half ? low + 1 : low;
        assert_int_equal(simt_f32_mul(a, b, SIMT_RMM, &flags), want);
        assert_int_equal(simt_f32_mul(a | SIMT_F32_SIGN, b, SIMT_RMM, &flags), want | SIMT_F32_SIGN);
    }
}

static double rounded(double x, enum simt_rm rm)
{
    double r;
    switch (rm) {
    case SIMT_RNE:
        return nearbyint(x);
    case SIMT_RTZ:
        return trunc(x);
    case SIMT_RDN:
        return floor(x);
    case SIMT_RUP:
        return ceil(x);
    default:
        r = floor(fabs(x) + 0.5); /* exact: a float with a fraction has 24 bits */
        return copysign(r, x);
    }
}

static void check_to_int(uint32_t a, enum simt_rm rm, double min, double max, uint32_t got, uint32_t flags)
{
    double x = as_float(a), r = rounded(x, rm);
    uint32_t want, want_flags = 0;

    if (isnan(x) || r > max) {
        want = (uint32_t)(int64_t)max;
        want_flags = SIMT_NV;
    } else if (r < min) {
        want = (uint32_t)(int64_t)min;
        want_flags = SIMT_NV;
    } else {
        want = (uint32_t)(int64_t)r;
        want_flags = r != x ? SIMT_NX : 0;
    }
    if (got != want || flags != want_flags) {
        fail_msg("%a to integer, rm %u: %08x flags %x, expected %08x %x", x, rm, got, flags, want,
                 want_flags);
    }
}

static void converts(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = random_float_bits(), n = random_u32() >> random_u32() % 32;
        n = i & 1 ? n : 0u - n;
        for (enum simt_rm rm = 0; rm <= SIMT_RMM; rm++) {
            uint32_t flags = 0, got = simt_f32_to_i32(a, rm, &flags);
            check_to_int(a, rm, -0x1p31, 0x1p31 - 1, got, flags);
            flags = 0;
            got = simt_f32_to_u32(a, rm, &flags);
            check_to_int(a, rm, 0, 0x1p32 - 1, got, flags);
        }
        for (unsigned rm = 0; rm < 4; rm++) {
            uint32_t flags = 0;
            fesetround(host_modes[rm]);
            feclearexcept(FE_ALL_EXCEPT);
            volatile int32_t s = (int32_t)n;
            volatile float from_signed = (float)s;
            uint32_t want = host_flags();
            fesetround(FE_TONEAREST);
            assert_int_equal(simt_i32_to_f32(n, rm, &flags), as_bits(from_signed));
            assert_int_equal(flags, want);
            fesetround(host_modes[rm]);
            volatile int64_t u = n;
            volatile float from_unsigned = (float)u;
            fesetround(FE_TONEAREST);
            assert_int_equal(simt_u32_to_f32(n, rm, &flags), as_bits(from_unsigned));
        }
    }
}

static void comparisons(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = random_float_bits(), b = random_u32() % 8 ? random_float_bits() : a, flags = 0;
        float x = as_float(a), y = as_float(b);
        assert_int_equal(simt_f32_eq(a, b, &flags), x == y);
        assert_int_equal(simt_f32_lt(a, b, &flags), x < y);
        assert_int_equal(simt_f32_le(a, b, &flags), x <= y);
        uint32_t least = x < y || isnan(y) ? a : b, most = x > y || isnan(y) ? a : b;
        if (x == 0 && y == 0) {
            least = a | b;
            most = a & b;
        }
        least = isnan(x) && isnan(y) ? SIMT_F32_NAN : least;
        most = isnan(x) && isnan(y) ? SIMT_F32_NAN : most;
        assert_int_equal(simt_f32_min(a, b, &flags), least);
        assert_int_equal(simt_f32_max(a, b, &flags), most);
    }
}

static void comparison_flags(void **state)
{
    (void)state;
    const uint32_t one = 0x3f800000, quiet = 0x7fc00000, signalling = 0x7f800001;
    uint32_t flags = 0;
    simt_f32_eq(one, quiet, &flags);
    simt_f32_min(one, quiet, &flags);
    assert_int_equal(flags, 0);
    simt_f32_lt(one, quiet, &flags);
    assert_int_equal(flags, SIMT_NV);
    flags = 0;
    simt_f32_le(quiet, one, &flags);
    assert_int_equal(flags, SIMT_NV);
    flags = 0;
    simt_f32_eq(signalling, one, &flags);
    assert_int_equal(flags, SIMT_NV);
    flags = 0;
    assert_int_equal(simt_f32_max(signalling, one, &flags), one);
    assert_int_equal(flags, SIMT_NV);
    flags = 0;
    simt_f32_fma(SIMT_F32_INF, 0, quiet, SIMT_RNE, &flags);
    assert_int_equal(flags, SIMT_NV);
}

static void classes(void **state)
{
    (void)state;
    const uint32_t values[10] = {0xff800000, 0xc0000000, 0x80000001, 0x80000000, 0x00000000,
                                 0x007fffff, 0x00800000, 0x7f800000, 0x7f800001, 0xffc00000};
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(simt_f32_class(values[i]), 1u << i);
    }
}

int fp_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_equals_the_host),
        cmocka_unit_test(ties_go_away_from_zero),
        cmocka_unit_test(converts),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(comparison_flags),
        cmocka_unit_test(classes),
    };
    return cmocka_run_group_tests_name("fp", tests, NULL, NULL);
}
