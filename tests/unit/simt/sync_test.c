/* SPDX-License-Identifier: MIT */
/* Barriers, locks, atomics, ballot and exchange: what threads do together. */
#include <string.h>

#include "fixture.h"
#include "kernels.h"
#include "suites.h"

static struct fixture f;

static int open_device(void **state)
{
    (void)state;
    fixture_open(&f, (struct simt_config){.num_cus = 3, .timeout_ms = 60000});
    for (uint32_t i = 0; i < IN_WORDS; i++) {
        fixture_words(&f, IN)[i] = random_u32();
    }
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static uint32_t *run(uint32_t kernel, uint32_t grid, uint32_t block)
{
    struct simt_launch launch = fixture_launch(&f, kernel, 0, grid, block);
    memset(f.vram + OUT, 0, OUT_BYTES);
    fixture_run(&f, &launch);
    return fixture_words(&f, OUT);
}

static void spin_lock_within_a_warp(void **state)
{
    (void)state;
    assert_int_equal(run(K_SPIN_LOCK, 1, 32)[1], 32);
}

static void spin_lock_across_warps(void **state)
{
    (void)state;
    assert_int_equal(run(K_SPIN_LOCK, 1, 150)[1], 150);
}

static void spin_lock_across_blocks(void **state)
{
    (void)state;
    assert_int_equal(run(K_SPIN_LOCK, 9, 40)[1], 360);
}

static void waiting_for_a_lane_and_a_warp(void **state)
{
    (void)state;
    assert_int_equal(run(K_WAIT_FOR_FLAG, 1, 2)[0], 1);
    assert_int_equal(run(K_WAIT_FOR_FLAG, 1, 32)[0], 1);
    assert_int_equal(run(K_WAIT_FOR_FLAG, 1, 1000)[0], 1);
}

static uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static void atomics_across_compute_units(void **state)
{
    (void)state;
    struct simt_launch launch = fixture_launch(&f, K_ATOMICS, 0, 40, 250);
    uint32_t *out = fixture_words(&f, OUT), n = 40 * 250, all_or = 0, all_xor = 0, all_and = UINT32_MAX;

    memset(out, 0, 64);
    out[6] = UINT32_MAX;
    fixture_run(&f, &launch);
    for (uint32_t t = 0; t < n; t++) {
        all_or |= t;
        all_xor ^= hash(t);
        all_and &= ~t;
    }
    assert_int_equal(out[0], n);
    assert_int_equal(out[1], n);
    assert_int_equal(out[2], n - 1);
    assert_int_equal((int32_t)out[3], -(int32_t)(n - 1));
    assert_int_equal(out[4], all_or);
    assert_int_equal(out[5], all_xor);
    assert_int_equal(out[6], all_and);
}

static void ballot_and_shuffle(void **state)
{
    (void)state;
    const uint32_t threads = 77, *in = fixture_words(&f, IN), *out = run(K_BALLOT_SHUFFLE, 1, threads);

    for (uint32_t t = 0; t < threads; t++) {
        uint32_t first = t & ~31u, ballot = 0;
        for (uint32_t l = 0; l < 32 && first + l < threads; l++) {
            ballot |= (in[first + l] & 1) << l;
        }
        assert_int_equal(out[2 * t], ballot);
        assert_int_equal(out[2 * t + 1], (t ^ 1) < threads ? in[t ^ 1] : 0);
    }
}

static void barriers_are_counted(void **state)
{
    (void)state;
    struct simt_counters c;
    simt_counters_clear(f.dev);
    run(K_REDUCE, 5, 200);
    simt_counters_read(f.dev, &c);
    assert_int_equal(c.barriers, 5 * 12);
}

int sync_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spin_lock_within_a_warp),      cmocka_unit_test(spin_lock_across_warps),
        cmocka_unit_test(spin_lock_across_blocks),      cmocka_unit_test(waiting_for_a_lane_and_a_warp),
        cmocka_unit_test(atomics_across_compute_units), cmocka_unit_test(ballot_and_shuffle),
        cmocka_unit_test(barriers_are_counted),
    };
    return cmocka_run_group_tests_name("sync", tests, open_device, close_device);
}
