/* SPDX-License-Identifier: MIT */
/* The divergence corpus: each kernel at several shapes, with warps of 32 and of 7, against the same kernel
 * run one thread at a time (warps of one lane never diverge). */
#include <string.h>

#include "fixture.h"
#include "kernels.h"
#include "suites.h"

struct shape {
    uint32_t grid[3], block[3];
};

static const struct shape shapes[] = {
    {{1, 1, 1}, {1, 1, 1}},  {{1, 1, 1}, {31, 1, 1}},   {{3, 1, 1}, {32, 1, 1}},   {{2, 1, 1}, {33, 1, 1}},
    {{1, 1, 1}, {64, 1, 1}}, {{5, 1, 1}, {97, 1, 1}},   {{2, 2, 1}, {8, 8, 4}},    {{1, 2, 3}, {5, 3, 7}},
    {{7, 1, 1}, {96, 1, 1}}, {{1, 1, 1}, {1024, 1, 1}}, {{1, 1, 2}, {1, 1, 1000}},
};

#define SHAPES        (sizeof(shapes) / sizeof(shapes[0]))
#define COMPILED_STEP 3 /* where kernels are compiled for each kind of shape: that takes a while */

struct corpus {
    struct fixture warps, small_warps, oracle;
};

static struct corpus corpus;

static int open_corpus(void **state)
{
    (void)state;
    fixture_open(&corpus.warps, (struct simt_config){.num_cus = 2});
    fixture_open(&corpus.small_warps,
                 (struct simt_config){.num_cus = 1, .warp_size = 7, .engine = SIMT_ENGINE_INTERP});
    fixture_open(&corpus.oracle,
                 (struct simt_config){.deterministic = true, .warp_size = 1, .engine = SIMT_ENGINE_INTERP});
    uint32_t *in = fixture_words(&corpus.oracle, IN);
    for (uint32_t i = 0; i < IN_WORDS; i++) {
        in[i] = random_u32();
    }
    memcpy(fixture_words(&corpus.warps, IN), in, 4 * IN_WORDS);
    memcpy(fixture_words(&corpus.small_warps, IN), in, 4 * IN_WORDS);
    return 0;
}

static int close_corpus(void **state)
{
    (void)state;
    fixture_close(&corpus.warps);
    fixture_close(&corpus.small_warps);
    fixture_close(&corpus.oracle);
    return 0;
}

static void run_shape(struct fixture *f, uint32_t kernel, uint32_t arg2, const struct shape *shape)
{
    struct simt_launch launch = fixture_launch(f, kernel, arg2, 1, 1);
    memcpy(launch.grid, shape->grid, sizeof(launch.grid));
    memcpy(launch.block, shape->block, sizeof(launch.block));
    memset(f->vram + OUT, 0xa5, OUT_BYTES);
    fixture_run(f, &launch);
}

static void check_kernel(uint32_t kernel, uint32_t arg2)
{
    for (unsigned i = 0; i < SHAPES; i += fixture_engine == SIMT_ENGINE_CHECK ? COMPILED_STEP : 1) {
        run_shape(&corpus.oracle, kernel, arg2, &shapes[i]);
        run_shape(&corpus.warps, kernel, arg2, &shapes[i]);
        run_shape(&corpus.small_warps, kernel, arg2, &shapes[i]);
        assert_memory_equal(corpus.warps.vram + OUT, corpus.oracle.vram + OUT, OUT_BYTES);
        assert_memory_equal(corpus.small_warps.vram + OUT, corpus.oracle.vram + OUT, OUT_BYTES);
    }
}

#define KERNEL_TEST(name, pc, arg2)                                                                          \
    static void name(void **state)                                                                           \
    {                                                                                                        \
        (void)state;                                                                                         \
        check_kernel(pc, arg2);                                                                              \
    }

KERNEL_TEST(thread_ids, K_IDS, 0)
KERNEL_TEST(if_else, K_IF_ELSE, 0)
KERNEL_TEST(nested_10_deep, K_NESTED10, 0)
KERNEL_TEST(trip_counts, K_TRIP_COUNTS, 0)
KERNEL_TEST(break_continue, K_BREAK_CONTINUE, 0)
KERNEL_TEST(multi_exit, K_MULTI_EXIT, 0)
KERNEL_TEST(early_exit, K_EARLY_EXIT, 60)
KERNEL_TEST(jump_table, K_JUMP_TABLE, 0)
KERNEL_TEST(recursion, K_RECURSION, 0)
KERNEL_TEST(function_pointers, K_FUNCTION_POINTERS, 0)
KERNEL_TEST(irreducible, K_IRREDUCIBLE, 0)
KERNEL_TEST(never_rejoin, K_NEVER_REJOIN, 0)
KERNEL_TEST(short_circuit, K_SHORT_CIRCUIT, 0)
KERNEL_TEST(divergent_stores, K_DIVERGENT_STORES, 0)
KERNEL_TEST(float_loop, K_MANDELBROT, 0)
KERNEL_TEST(private_memory, K_PRIVATE, 0)
KERNEL_TEST(memory_is_zeroed, K_IS_ZEROED, 0)
KERNEL_TEST(instret_per_lane, K_INSTRET, 0)
KERNEL_TEST(reduce_with_barriers, K_REDUCE, 0)
KERNEL_TEST(barrier_in_each_arm, K_DIVERGENT_BARRIER, 0)

/* Compiled, it alone takes as long as all the others: conformance/divergence.c does that. */
static void nested_40_deep(void **state)
{
    (void)state;
    if (fixture_engine == SIMT_ENGINE_CHECK) {
        skip();
    }
    check_kernel(K_NESTED40, 0);
}

/* The join points must be found, not only the values: structured code may not cost more than each arm once.
 */
static void lanes_meet_again(void **state)
{
    (void)state;
    const struct shape shape = {{1, 1, 1}, {32, 1, 1}};
    const struct {
        uint32_t kernel;
        uint64_t most; /* warp instructions */
    } bounds[] = {{K_IF_ELSE, 60}, {K_SHORT_CIRCUIT, 130}, {K_NESTED10, 500}, {K_NESTED40, 1000}};

    for (unsigned i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        struct simt_counters c;
        simt_counters_clear(corpus.warps.dev);
        run_shape(&corpus.warps, bounds[i].kernel, 0, &shape);
        simt_counters_read(corpus.warps.dev, &c);
        assert_in_range(c.insns, 10, bounds[i].most);
        assert_true(c.divergences > 0);
    }
}

/* Turns of other paths must not set lanes apart for good. */
static void long_kernels_stay_converged(void **state)
{
    (void)state;
    const struct shape shape = {{1, 1, 1}, {32, 1, 1}};
    struct simt_counters c;
    struct fixture f;

    fixture_open(&f, (struct simt_config){.num_cus = 1, .engine = SIMT_ENGINE_INTERP});
    memcpy(fixture_words(&f, IN), fixture_words(&corpus.oracle, IN), 4 * IN_WORDS);
    run_shape(&f, K_LONG_LOOP, 0, &shape);
    simt_counters_read(f.dev, &c);
    assert_true(c.insns > 1000000);
    assert_true(c.lane_insns >= 10 * c.insns);
    fixture_close(&f);
}

/* Switch targets are learned, so lanes meet behind the switch; one that is known costs no more. */
static void switches_meet_again(void **state)
{
    (void)state;
    const struct shape shape = {{64, 1, 1}, {32, 1, 1}};
    struct simt_counters first, second;

    simt_counters_clear(corpus.warps.dev);
    run_shape(&corpus.warps, K_JUMP_TABLE, 0, &shape);
    simt_counters_read(corpus.warps.dev, &first);
    assert_true(first.lane_insns / first.insns >= 4);
    simt_counters_clear(corpus.warps.dev);
    run_shape(&corpus.warps, K_JUMP_TABLE, 0, &shape);
    simt_counters_read(corpus.warps.dev, &second);
    assert_true(second.insns <= first.insns + first.insns / 8);
}

int divergence_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_ids),          cmocka_unit_test(if_else),
        cmocka_unit_test(nested_10_deep),      cmocka_unit_test(nested_40_deep),
        cmocka_unit_test(trip_counts),         cmocka_unit_test(break_continue),
        cmocka_unit_test(multi_exit),          cmocka_unit_test(early_exit),
        cmocka_unit_test(jump_table),          cmocka_unit_test(recursion),
        cmocka_unit_test(function_pointers),   cmocka_unit_test(irreducible),
        cmocka_unit_test(never_rejoin),        cmocka_unit_test(short_circuit),
        cmocka_unit_test(divergent_stores),    cmocka_unit_test(float_loop),
        cmocka_unit_test(private_memory),      cmocka_unit_test(memory_is_zeroed),
        cmocka_unit_test(instret_per_lane),    cmocka_unit_test(reduce_with_barriers),
        cmocka_unit_test(barrier_in_each_arm), cmocka_unit_test(lanes_meet_again),
        cmocka_unit_test(switches_meet_again), cmocka_unit_test(long_kernels_stay_converged),
    };
    return cmocka_run_group_tests_name("divergence", tests, open_corpus, close_corpus);
}
