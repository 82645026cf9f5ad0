/* SPDX-License-Identifier: MIT */
/* What is promised of compiled code: which kernels become such, what they compute, how it is kept. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "kernels.h"
#include "suites.h"

#define BLOCKS  3u
#define THREADS 96u

static struct simt_statistics statistics(const struct fixture *f)
{
    struct simt_statistics s;
    simt_statistics_read(f->dev, &s);
    return s;
}

static uint64_t insns(const struct fixture *f)
{
    struct simt_counters c;
    simt_counters_read(f->dev, &c);
    return c.insns;
}

static void open_jit(struct fixture *f)
{
    fixture_open(f, (struct simt_config){.engine = SIMT_ENGINE_JIT, .num_cus = 1});
}

static void run(struct fixture *f, uint32_t kernel)
{
    struct simt_launch launch = fixture_launch(f, kernel, 0, BLOCKS, THREADS);
    fixture_run(f, &launch);
}

/* Run the kernel compiled and interpreted on the same words; at least `percent` of the instructions must be
 * the compiled code's. */
static void compare_engines(uint32_t kernel, uint64_t percent)
{
    struct fixture jit, interp;

    open_jit(&jit);
    fixture_open(&interp, (struct simt_config){.engine = SIMT_ENGINE_INTERP, .num_cus = 1});
    for (uint32_t i = 0; i < IN_WORDS; i++) {
        fixture_words(&jit, IN)[i] = fixture_words(&interp, IN)[i] = random_float_bits();
    }
    run(&jit, kernel);
    run(&interp, kernel);
    struct simt_statistics s = statistics(&jit);
    if (s.refused != 0 || s.compiled_insns * 100 < insns(&jit) * percent) {
        fail_msg("kernel 0x%x: %llu of %llu instructions were compiled code's, %s", kernel,
                 (unsigned long long)s.compiled_insns, (unsigned long long)insns(&jit),
                 s.refusal ? s.refusal : "none refused");
    }
    assert_memory_equal(jit.vram + OUT, interp.vram + OUT, OUT_BYTES);
    fixture_close(&jit);
    fixture_close(&interp);
}

/* The other suites run these kernels with engine=jit, which would be no test if it were not compiled code. */
static void structured_kernels_are_compiled(void **state)
{
    (void)state;
    const uint32_t kernels[] = {K_IF_ELSE, K_NESTED10, K_TRIP_COUNTS, K_MULTI_EXIT, K_MANDELBROT, K_REDUCE};

    for (unsigned i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        compare_engines(kernels[i], 90);
    }
}

/* Each lane's own count. Compiled code does without masks then, so it hands over where lanes part. */
static void counters_are_read_in_compiled_code(void **state)
{
    (void)state;
    compare_engines(K_INSTRET, 0);
    compare_engines(K_INSTRET_UNIFORM, 100);
}

static void static_rounding_is_compiled(void **state)
{
    (void)state;
    compare_engines(K_ROUND_STATIC, 100);
}

/* A function reached only by pointer sets frm; code compiled for rounding to nearest must not go on behind
 * it. */
static void frm_set_elsewhere_is_seen(void **state)
{
    (void)state;
    compare_engines(K_FRM_BY_POINTER, 0);
}

/* Pointers of lanes side by side, compared: all lanes go on or none. Code with masks for some would run, too,
 * so what counts is that the counters agree. */
static void pointers_are_compared_for_all_lanes(void **state)
{
    (void)state;
    compare_engines(K_POINTER_LOOP, 100);
}

/* Launches of a kernel with argument arg2, compiled and interpreted: the same words and the same counters.
 * The last one is compiled code's alone when `settles`: what it expected in vain at first it does no longer.
 */
static void compare_launches(uint32_t kernel, uint32_t arg2, uint32_t threads, bool settles)
{
    struct fixture jit, interp;
    struct simt_counters a, b;
    uint64_t before = 0, compiled = 0;

    open_jit(&jit);
    fixture_open(&interp, (struct simt_config){.engine = SIMT_ENGINE_INTERP, .num_cus = 1});
    for (uint32_t w = 0; w < IN_WORDS; w++) {
        fixture_words(&jit, IN)[w] = fixture_words(&interp, IN)[w] = random_u32();
    }
    struct simt_launch launch = fixture_launch(&jit, kernel, arg2, BLOCKS, threads);
    launch = fixture_launch(&interp, kernel, arg2, BLOCKS, threads);
    for (unsigned n = 0; n < 20; n++) {
        before = insns(&jit), compiled = statistics(&jit).compiled_insns;
        fixture_run(&jit, &launch);
        fixture_run(&interp, &launch);
    }
    assert_memory_equal(jit.vram + OUT, interp.vram + OUT, OUT_BYTES);
    simt_counters_read(jit.dev, &a);
    simt_counters_read(interp.dev, &b);
    assert_int_equal(a.lane_insns, b.lane_insns);
    assert_int_equal(a.bytes, b.bytes);
    if (settles) {
        assert_int_equal(a.transactions, b.transactions);
        assert_int_equal(statistics(&jit).compiled_insns - compiled, insns(&jit) - before);
    }
    fixture_close(&jit);
    fixture_close(&interp);
}

/* The code expects such words to be aligned. Where they are not, the interpreter does it, then other code. */
static void uniform_words_may_be_misaligned(void **state)
{
    (void)state;
    const uint32_t shifts[] = {0, 1, 2, 63};

    for (unsigned i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        compare_launches(K_UNIFORM_WORDS, shifts[i], THREADS, true);
    }
}

/* What is known of words of the stack, in full warps, in one that is not, and with the interpreter in
 * between. */
static void the_stack_is_followed(void **state)
{
    (void)state;
    for (uint32_t shift = 0; shift < 2; shift++) {
        compare_launches(K_STACK_SLOTS, shift, THREADS, false);
        compare_launches(K_STACK_SLOTS, shift, THREADS - 14, false);
    }
}

static void constants_of_lanes_are_compared_as_such(void **state)
{
    (void)state;
    compare_engines(K_CONSTANT_LANES, 100);
}

/* What code guesses of an address that comes back from the stack is what the analysis knows of it. */
static void hidden_slots_are_followed(void **state)
{
    (void)state;
    compare_engines(K_HIDDEN_SLOT, 0);
}

static void refusals_are_told(void **state)
{
    (void)state;
    struct fixture f;

    open_jit(&f);
    run(&f, K_FRM);
    struct simt_statistics s = statistics(&f);
    assert_int_equal(s.compiled, 0);
    assert_int_equal(s.refused, 1);
    assert_string_equal(s.refusal, "it uses floating-point CSRs");
    assert_non_null(strstr(f.log, s.refusal));
    assert_int_equal(s.compiled_insns, 0);
    assert_true(s.compile_ns > 0 && s.wait_ns > 0 && s.interpret_ns > 0);
    assert_int_equal(s.execute_ns, 0);
    fixture_close(&f);
}

/* ---- barriers and warps that do not come back ------------------------------------------------------------
 */

/* Blocks of a grid that is no multiple of anything, with more instructions than a look at the clock allows.
 * Only those without shared memory follow one another in compiled code. */
static struct simt_launch wide_launch(struct fixture *f, uint32_t kernel, uint32_t arg2, uint32_t threads)
{
    struct simt_launch launch = fixture_launch(f, kernel, arg2, 97, threads);
    launch.grid[1] = 3;
    launch.grid[2] = 2;
    launch.shared_size = kernel == K_REDUCE ? launch.shared_size : 0;
    return launch;
}

static struct simt_counters counters(const struct fixture *f)
{
    struct simt_counters c;
    simt_counters_read(f->dev, &c);
    c.busy_ns = 0;
    return c;
}

/* Run the kernel on a wide grid compiled and interpreted: memory and counters are the same, and at least
 * `percent` of the instructions the compiled code's. */
static void compare_wide(uint32_t kernel, uint32_t threads, uint64_t percent)
{
    struct fixture jit, interp;

    open_jit(&jit);
    fixture_open(&interp, (struct simt_config){.engine = SIMT_ENGINE_INTERP, .num_cus = 1});
    struct simt_launch l = wide_launch(&jit, kernel, 0, threads),
                       k = wide_launch(&interp, kernel, 0, threads);
    memcpy(interp.vram + IN, jit.vram + IN, 4 * IN_WORDS);
    fixture_run(&jit, &l);
    fixture_run(&interp, &k);
    struct simt_counters a = counters(&jit), b = counters(&interp);
    assert_memory_equal(jit.vram + OUT, interp.vram + OUT, OUT_BYTES);
    assert_memory_equal(&a, &b, sizeof(a));
    assert_true(statistics(&jit).compiled_insns * 100 >= a.insns * percent);
    fixture_close(&jit);
    fixture_close(&interp);
}

/* Warps begin one after the other, over blocks, until a look at the clock is due. */
static void warps_of_many_blocks_follow_one_another(void **state)
{
    (void)state;
    compare_wide(K_PLACES, 32, 100);
    compare_wide(K_PLACES, 96, 100);
    compare_wide(K_IF_ELSE, 64, 100);
}

/* A barrier holds up no warp that is its block's only one; it counts all the same. */
static void barriers_of_one_warp_are_passed(void **state)
{
    (void)state;
    compare_wide(K_REDUCE, 32, 80);
    compare_wide(K_REDUCE, 64, 80);
}

/* The launch ends with this fault of the thread asked for. A launch before it, whose end does not matter, has
 * the compiler's time. */
static struct simt_fault expect_fault(uint32_t kernel, const uint32_t block[3], uint32_t thread,
                                      enum simt_cause cause, struct simt_config config)
{
    uint32_t linear = (block[2] * 3 + block[1]) * 97 + block[0], hart = linear << 13 | thread;
    struct simt_fault fault;
    struct fixture f;

    config.num_cus = 1;
    fixture_open(&f, config);
    struct simt_launch launch = wide_launch(&f, kernel, UINT32_MAX, 96);
    simt_run(f.dev, &launch, &fault);
    launch = wide_launch(&f, kernel, hart, 96);
    assert_int_equal(simt_run(f.dev, &launch, &fault), -EFAULT);
    assert_int_equal(fault.cause, cause);
    assert_int_equal(fault.mhartid, hart);
    assert_int_equal(fault.mask, 1u << thread % 32);
    assert_int_equal(fault.thread[0], thread);
    assert_memory_equal(fault.block, block, sizeof(fault.block));
    fixture_close(&f);
    return fault;
}

static void expect_same_fault(const uint32_t block[3], uint32_t thread)
{
    struct simt_config jit = {.engine = SIMT_ENGINE_JIT}, interp = {.engine = SIMT_ENGINE_INTERP};
    struct simt_fault a = expect_fault(K_ONE_FAULTS, block, thread, SIMT_ACCESS_FAULT, jit),
                      b = expect_fault(K_ONE_FAULTS, block, thread, SIMT_ACCESS_FAULT, interp);
    assert_memory_equal(&a, &b, sizeof(a));
}

static void faults_in_the_middle_name_their_thread(void **state)
{
    (void)state;
    const uint32_t first[3] = {0, 0, 0}, early[3] = {5, 0, 0}, late[3] = {93, 2, 1};
    const struct simt_config budget = {.engine = SIMT_ENGINE_JIT, .max_insns = 1000},
                             timed = {.engine = SIMT_ENGINE_JIT, .timeout_ms = 500};

    expect_same_fault(first, 95);
    expect_same_fault(early, 39);
    expect_same_fault(late, 64);
    expect_fault(K_ONE_STAYS, early, 39, SIMT_LIMIT, budget);
    expect_fault(K_ONE_STAYS, late, 0, SIMT_LIMIT, budget);
    expect_fault(K_ONE_STAYS, late, 40, SIMT_LIMIT, timed);
}

/* A launch that writes 24 MiB does so past the caches where vectors are aligned; what stays is the last
 * block's all the same. */
static void much_is_written_past_the_caches(void **state)
{
    (void)state;
    const uint32_t blocks = 1 << 16;

    for (uint32_t shift = 0; shift <= 4; shift += 4) {
        struct fixture f;
        open_jit(&f);
        struct simt_launch launch = fixture_launch(&f, K_LAST_BLOCK, 0, blocks, THREADS);
        fixture_words(&f, ARGS)[0] = OUT + shift;
        fixture_run(&f, &launch);
        for (uint32_t t = 0; t < THREADS; t++) {
            assert_int_equal(fixture_words(&f, OUT + shift)[t], blocks - 1);
        }
        assert_int_equal(fixture_words(&f, OUT + shift)[THREADS], 0);
        fixture_close(&f);
    }
}

/* ---- memory of code -------------------------------------------------------------------------------------
 */

struct mappings {
    unsigned executable; /* anonymous ones: code made by this process */
    unsigned writable_too;
};

static struct mappings read_mappings(void)
{
    struct mappings m = {0};
    char line[512], access[5];
    unsigned long inode;
    FILE *maps = fopen("/proc/self/maps", "r");

    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%*x-%*x %4s %*x %*s %lu", access, &inode) == 2 && access[2] == 'x') {
            m.executable += inode == 0 && !strchr(line, '[');
            m.writable_too += access[1] == 'w';
        }
    }
    fclose(maps);
    return m;
}

/* W^X, looked at all the time while a kernel is compiled and while its code is there. */
static void code_is_never_writable(void **state)
{
    (void)state;
    struct fixture f;
    unsigned before = read_mappings().executable;

    open_jit(&f);
    struct simt_launch launch = fixture_launch(&f, K_NESTED10, 0, 1, 64);
    assert_int_equal(simt_start(f.dev, &launch, NULL, NULL), 0);
    do {
        assert_int_equal(read_mappings().writable_too, 0);
    } while (simt_busy(f.dev));
    simt_wait(f.dev);
    assert_int_equal(statistics(&f).compiled, 1);
    assert_true(read_mappings().executable > before);
    assert_int_equal(read_mappings().writable_too, 0);
    fixture_close(&f);
    assert_int_equal(read_mappings().executable, before);
}

/* ---- the cache ------------------------------------------------------------------------------------------
 */

/* A kernel of its own for each n: stores n. */
static void run_numbered(struct fixture *f, int32_t n)
{
    uint32_t *code = fixture_words(f, CODE);

    code[0] = enc_i(0x13, 5, 0, n); /* li t0, n */
    code[1] = enc_s(0x2023, 10, 5, 0);
    code[2] = ENC_EBREAK;
    struct simt_launch launch = fixture_launch(f, CODE, 0, 1, 32);
    fixture_run(f, &launch);
    assert_int_equal(*fixture_words(f, OUT), n);
}

/* By content: code written over makes another entry, written back finds the first one again. No more than
 * SIMT_MAX_COMPILED are kept, the longest unused one goes. */
static void cache_is_by_content_and_bounded(void **state)
{
    (void)state;
    struct fixture f;
    const int32_t many = SIMT_MAX_COMPILED;

    open_jit(&f);
    for (int32_t n = 0; n < many; n++) {
        run_numbered(&f, n);
        assert_int_equal(statistics(&f).compiled, (uint64_t)n + 1);
        assert_int_equal(statistics(&f).kept, (uint64_t)n + 1);
    }
    run_numbered(&f, 0);
    assert_int_equal(statistics(&f).compiled, many);
    run_numbered(&f, many); /* in place of 1 */
    assert_int_equal(statistics(&f).kept, many);
    run_numbered(&f, 0);
    assert_int_equal(statistics(&f).compiled, many + 1);
    run_numbered(&f, 1);
    assert_int_equal(statistics(&f).compiled, many + 2);
    assert_int_equal(statistics(&f).kept, many);
    fixture_close(&f);
}

/* ---- in the background ----------------------------------------------------------------------------------
 */

/* Each of these loads takes the compiler milliseconds, as lanes may be anywhere, and the interpreter
 * nanoseconds. */
#define LONG_INSNS  64u
#define LONG_BLOCKS 1030u /* just enough for it to be worth it */

static void write_long_kernel(struct fixture *f)
{
    uint32_t *code = fixture_words(f, CODE);

    code[0] = enc_i(0x73 | 2 << 12, 5, 0, (int32_t)0xf14); /* csrr t0, mhartid */
    code[1] = enc_i(0x13 | 7 << 12, 5, 5, 31);             /* andi t0, t0, 31 */
    code[2] = enc_r(0x33 | 1 << 25, 5, 5, 5);              /* mul t0, t0, t0 */
    code[3] = enc_r(0x33, 5, 5, 11);                       /* add t0, t0, a1 */
    for (uint32_t i = 4; i < LONG_INSNS - 1; i++) {
        code[i] = enc_i(0x2003, 6, 5, (int32_t)(4 * i)); /* lw t1, 4 * i(t0) */
    }
    code[LONG_INSNS - 1] = ENC_EBREAK;
}

/* engine=auto: launches end, and others start, while the compiler works on a kernel that was worth it. */
static void launches_do_not_wait_for_the_compiler(void **state)
{
    (void)state;
    struct fixture f;

    fixture_open(&f, (struct simt_config){.num_cus = 1});
    write_long_kernel(&f);
    struct simt_launch launch = fixture_launch(&f, CODE, 0, LONG_BLOCKS, 32);
    fixture_run(&f, &launch);
    assert_int_equal(statistics(&f).compiled, 0);
    run(&f, K_IDS);
    assert_int_equal(statistics(&f).compiled, 0);
    while (statistics(&f).compiled == 0) {
        usleep(1000);
    }
    assert_int_equal(statistics(&f).compiled_insns, 0);
    fixture_run(&f, &launch);
    assert_int_equal(statistics(&f).compiled_insns, LONG_BLOCKS * LONG_INSNS);
    assert_true(statistics(&f).execute_ns > 0);
    fixture_close(&f);
}

int jit_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structured_kernels_are_compiled),
        cmocka_unit_test(counters_are_read_in_compiled_code),
        cmocka_unit_test(static_rounding_is_compiled),
        cmocka_unit_test(frm_set_elsewhere_is_seen),
        cmocka_unit_test(pointers_are_compared_for_all_lanes),
        cmocka_unit_test(uniform_words_may_be_misaligned),
        cmocka_unit_test(the_stack_is_followed),
        cmocka_unit_test(hidden_slots_are_followed),
        cmocka_unit_test(constants_of_lanes_are_compared_as_such),
        cmocka_unit_test(refusals_are_told),
        cmocka_unit_test(warps_of_many_blocks_follow_one_another),
        cmocka_unit_test(barriers_of_one_warp_are_passed),
        cmocka_unit_test(faults_in_the_middle_name_their_thread),
        cmocka_unit_test(much_is_written_past_the_caches),
        cmocka_unit_test(code_is_never_writable),
        cmocka_unit_test(cache_is_by_content_and_bounded),
        cmocka_unit_test(launches_do_not_wait_for_the_compiler),
    };
    return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}
