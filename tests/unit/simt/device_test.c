/* SPDX-License-Identifier: MIT */
/* Configuration, launches and their life, counters, trace. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "kernels.h"
#include "suites.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void create_checks_its_arguments(void **state)
{
    (void)state;
    static _Alignas(64) uint8_t vram[4096];
    struct simt *dev = NULL;
    const struct simt_config bad[] = {{.num_cus = 65},
                                      {.warps_per_cu = 33},
                                      {.warp_size = 33},
                                      {.private_size = 24},
                                      {.private_size = 1u << 30},
                                      {.shared_max = 0x10000001},
                                      {.engine = SIMT_ENGINE_CHECK + 1},
                                      {.vector_bits = 64}};

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(simt_create(&dev, &bad[i], vram, sizeof(vram)), -EINVAL);
    }
    assert_int_equal(simt_create(&dev, NULL, NULL, 4096), -EINVAL);
    assert_int_equal(simt_create(&dev, NULL, vram, 0), -EINVAL);
    assert_int_equal(simt_create(&dev, NULL, vram, 100), -EINVAL);
    assert_int_equal(simt_create(&dev, NULL, vram, 1ull << 31), -EINVAL);
    assert_int_equal(simt_create(&dev, NULL, vram, sizeof(vram)), 0);
    const struct simt_config *c = simt_get_config(dev);
    assert_int_equal(c->num_cus, 4);
    assert_int_equal(c->warps_per_cu, 4);
    assert_int_equal(c->warp_size, 32);
    assert_int_equal(c->shared_max, 65536);
    assert_int_equal(c->private_size, 16384);
    simt_destroy(dev);
    simt_destroy(NULL);
}

static void bad_launches_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, (struct simt_config){0});
    const struct simt_launch good = fixture_launch(&f, K_IDS, 0, 1, 1);
    struct simt_launch bad[9];
    char why[128];

    for (unsigned i = 0; i < 9; i++) {
        bad[i] = good;
    }
    bad[0].kernel = 2;
    bad[1].kernel = VRAM_SIZE;
    bad[2].args = VRAM_SIZE + 4;
    bad[3].grid[1] = 0;
    bad[4].block[2] = 0;
    bad[5].block[0] = 1025;
    bad[6].block[0] = bad[6].block[1] = 0x10000;
    bad[7].shared_size = 65537;
    memset(bad[8].grid, 0xff, sizeof(bad[8].grid));
    for (unsigned i = 0; i < 9; i++) {
        why[0] = 0;
        assert_int_equal(simt_check_launch(f.dev, &bad[i], why, sizeof(why)), -EINVAL);
        assert_true(strlen(why) > 10);
        assert_int_equal(simt_start(f.dev, &bad[i], NULL, NULL), -EINVAL);
        assert_non_null(strstr(f.log, why));
    }
    assert_int_equal(simt_check_launch(f.dev, &good, why, sizeof(why)), 0);
    fixture_run(&f, &good);
    fixture_close(&f);
}

static void cancel_ends_an_endless_kernel(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, (struct simt_config){.num_cus = 2});
    struct simt_launch launch = fixture_launch(&f, K_ENDLESS, 0, 5, 100);

    for (int i = 0; i < 3; i++) {
        assert_int_equal(simt_start(f.dev, &launch, NULL, NULL), 0);
        assert_true(simt_busy(f.dev));
        assert_int_equal(simt_start(f.dev, &launch, NULL, NULL), -EBUSY);
        usleep(2000);
        double start = now_ms();
        simt_cancel(f.dev);
        simt_wait(f.dev);
        assert_true(now_ms() - start < 200); /* a millisecond on an idle machine without sanitizers */
        assert_false(simt_busy(f.dev));
    }
    simt_cancel(f.dev); /* idle: no effect on what follows */
    launch = fixture_launch(&f, K_IDS, 0, 2, 33);
    fixture_run(&f, &launch);
    launch = fixture_launch(&f, K_ENDLESS, 0, 1, 1);
    assert_int_equal(simt_start(f.dev, &launch, NULL, NULL), 0);
    fixture_close(&f); /* destroy cancels */
}

static void *cancel_soon(void *dev)
{
    usleep(20000);
    simt_cancel(dev);
    return NULL;
}

static void two_to_the_31_blocks_can_be_stopped(void **state)
{
    (void)state;
    struct fixture f;
    pthread_t thread;
    fixture_open(&f, (struct simt_config){.num_cus = 2});

    for (uint32_t threads = 1; threads <= 32; threads += 31) {
        struct simt_launch launch = fixture_launch(&f, K_RETURN, 0, 1u << 31, threads);
        struct simt_fault fault;
        launch.shared_size = 0;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, f.dev), 0);
        double start = now_ms();
        assert_int_equal(simt_run(f.dev, &launch, &fault), -ECANCELED);
        assert_true(now_ms() - start < 2000);
        assert_int_equal(fault.cause, SIMT_CANCELLED);
        pthread_join(thread, NULL);
    }
    fixture_close(&f);
}

static void blocks_of_1_to_1024_threads(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, (struct simt_config){.num_cus = 2});
    uint32_t *out = fixture_words(&f, OUT);

    for (uint32_t size = 1; size <= SIMT_MAX_BLOCK; size++) {
        struct simt_launch launch = fixture_launch(&f, K_IDS, 0, 1, size);
        memset(out, 0xff, 4 * (size + 1));
        fixture_run(&f, &launch);
        for (uint32_t t = 0; t < size; t++) {
            assert_int_equal(out[t], t);
        }
        assert_int_equal(out[size], UINT32_MAX);
    }
    fixture_close(&f);
}

static void timeout_ends_an_endless_kernel(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, (struct simt_config){.timeout_ms = 20});
    double start = now_ms();
    struct simt_fault fault = fixture_fault(&f, K_ENDLESS, 1024);
    assert_int_equal(fault.cause, SIMT_LIMIT);
    assert_in_range((uint64_t)(now_ms() - start), 19, 1000);
    fixture_close(&f);
}

/* The budget counts what a thread retires, to the block. */
static void budget_is_exact(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, (struct simt_config){.max_insns = 6});
    uint32_t *code = fixture_words(&f, CODE);
    for (unsigned i = 0; i < 6; i++) { /* six blocks of one instruction: jumps to the next */
        code[i] = 0x0040006f;
    }
    code[6] = ENC_EBREAK;
    struct simt_fault fault = fixture_fault(&f, CODE, 1);
    assert_int_equal(fault.cause, SIMT_LIMIT);
    assert_int_equal(fault.pc, CODE + 24);
    struct simt_launch launch = fixture_launch(&f, CODE + 4, 0, 1, 33);
    fixture_run(&f, &launch);
    fixture_close(&f);
}

struct chain {
    struct fixture *f;
    struct simt_launch launch;
    int left;
    atomic_int errors; /* the next callback may overlap the end of this one */
};

static void start_next(void *opaque, const struct simt_fault *fault)
{
    struct chain *c = opaque;
    c->errors += fault != NULL || simt_busy(c->f->dev);
    if (c->left-- > 0) {
        c->errors += simt_start(c->f->dev, &c->launch, start_next, c) != 0;
    }
}

static void callbacks_may_start_the_next_launch(void **state)
{
    (void)state;
    for (uint32_t cus = 1; cus <= 4; cus += 3) {
        struct fixture f;
        fixture_open(&f, (struct simt_config){.num_cus = cus});
        struct chain c = {.f = &f, .launch = fixture_launch(&f, K_IDS, 0, 6, 70), .left = 200};
        assert_int_equal(simt_start(f.dev, &c.launch, start_next, &c), 0);
        simt_wait(f.dev);
        assert_int_equal(c.errors, 0);
        assert_int_equal(c.left, -1);
        struct simt_counters counters;
        simt_counters_read(f.dev, &counters);
        assert_int_equal(counters.launches, 201);
        fixture_close(&f);
    }
}

static void entry_state(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, (struct simt_config){.num_cus = 1});
    uint32_t *code = fixture_words(&f, CODE), *args = fixture_words(&f, ARGS), *out = fixture_words(&f, OUT);
    unsigned n = 0;

    for (unsigned r = 1; r < 32; r++) {
        code[n++] = enc_s(0x2023, 10, r, (int32_t)(4 * r)); /* sw xr, 4r(a0) */
    }
    for (unsigned r = 0; r < 32; r++) {
        code[n++] = enc_s(0x2027, 10, r, (int32_t)(128 + 4 * r)); /* fsw fr */
    }
    code[n++] = enc_i(0x2073, 5, 0, 3); /* frcsr t0 */
    code[n++] = enc_s(0x2023, 10, 5, 256);
    code[n++] = ENC_EBREAK;
    struct simt_launch launch = fixture_launch(&f, CODE, 0, 1, 1);
    for (unsigned i = 1; i < 8; i++) {
        args[i] = 0x1000 + i;
    }
    fixture_run(&f, &launch);
    for (unsigned r = 1; r < 32; r++) {
        uint32_t want = r == 1 ? SIMT_EXIT_PC : r == 2 ? SIMT_PRIVATE_BASE + 16384 : 0;
        want = r == 10 ? OUT : r > 10 && r < 18 ? 0x1000 + r - 10 : want;
        assert_int_equal(out[r], want);
    }
    for (unsigned r = 32; r <= 64; r++) {
        assert_int_equal(out[r], 0);
    }
    /* Arguments beyond the end of VRAM read 0. */
    uint32_t *last = fixture_words(&f, VRAM_SIZE - 4);
    *last = OUT;
    launch.args = VRAM_SIZE - 4;
    fixture_run(&f, &launch);
    assert_int_equal(out[11], 0);
    assert_int_equal(out[17], 0);
    fixture_close(&f);
}

static void mhartid_packs_block_warp_lane(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, (struct simt_config){.num_cus = 2, .warp_size = 16});
    struct simt_launch launch = fixture_launch(&f, K_MHARTID, 0, 1, 40);
    launch.grid[1] = 3;
    fixture_run(&f, &launch);
    const uint32_t *out = fixture_words(&f, OUT);
    for (uint32_t b = 0; b < 3; b++) {
        for (uint32_t t = 0; t < 40; t++) {
            uint32_t hart = b << 13 | t / 16 << 5 | t % 16;
            assert_int_equal(out[hart], hart);
        }
    }
    fixture_close(&f);
}

/* Code is read once a launch, and read again by the next. */
static void changed_code_is_seen_by_the_next_launch(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, (struct simt_config){.num_cus = 1});
    uint32_t *code = fixture_words(&f, CODE), *out = fixture_words(&f, OUT);

    for (int32_t i = 1; i < 50; i++) {
        code[0] = enc_i(0x13, 5, 0, i); /* li t0, i */
        code[1] = enc_s(0x2023, 10, 5, 0);
        code[2] = ENC_EBREAK;
        struct simt_launch launch = fixture_launch(&f, CODE, 0, 1, 1);
        fixture_run(&f, &launch);
        assert_int_equal(out[0], i);
    }
    fixture_close(&f);
}

static void counters_count(void **state)
{
    (void)state;
    struct fixture f;
    struct simt_counters c;
    fixture_open(&f, (struct simt_config){.num_cus = 2});
    uint32_t *code = fixture_words(&f, CODE);
    code[0] = enc_i(0x73 | 2 << 12, 5, 0, (int32_t)0xf14); /* csrr t0, mhartid */
    code[1] = enc_i(0x13 | 1 << 12, 6, 5, 2);              /* slli t1, t0, 2 */
    code[2] = enc_r(0x33, 10, 10, 6);                      /* add a0, a0, t1 */
    code[3] = enc_s(0x2023, 10, 5, 0);                     /* sw t0, 0(a0): two segments a warp */
    code[4] = enc_i(0x2003, 7, 11, 0);                     /* lw t2, 0(a1): one */
    code[5] = ENC_EBREAK;
    struct simt_launch launch = fixture_launch(&f, CODE, 0, 1, 64);
    fixture_run(&f, &launch);
    simt_counters_read(f.dev, &c);
    assert_int_equal(c.insns, 2 * 6);
    assert_int_equal(c.lane_insns, 64 * 6);
    assert_int_equal(c.divergences, 0);
    assert_int_equal(c.bytes, 64 * 8);
    assert_int_equal(c.transactions, 2 * 3);
    assert_int_equal(c.launches, 1);
    assert_true(c.busy_ns > 0);
    simt_counters_clear(f.dev);
    simt_counters_read(f.dev, &c);
    assert_int_equal(c.insns + c.lane_insns + c.bytes + c.transactions + c.launches + c.busy_ns, 0);
    launch = fixture_launch(&f, K_IF_ELSE, 0, 1, 32);
    fixture_words(&f, IN)[0] = 1;
    fixture_run(&f, &launch);
    simt_counters_read(f.dev, &c);
    assert_int_equal(c.divergences, 1);
    fixture_close(&f);
}

static void trace_shows_a_warp(void **state)
{
    (void)state;
    char path[] = "/tmp/simt-trace-XXXXXX", line[1024];
    int fd = mkstemp(path);
    struct fixture f;
    unsigned lines = 0, found = 0;

    assert_true(fd >= 0);
    close(fd);
    fixture_open(&f, (struct simt_config){.trace_path = path, .trace_block = 1, .trace_warp = 1});
    uint32_t *code = fixture_words(&f, CODE);
    code[0] = enc_i(0x73 | 2 << 12, 5, 0, (int32_t)0xf14);
    code[1] = enc_i(0x13, 6, 0, 7);
    code[2] = ENC_EBREAK;
    struct simt_launch launch = fixture_launch(&f, CODE, 0, 3, 34);
    fixture_run(&f, &launch);
    fixture_close(&f);

    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        lines++;
        found |= strstr(line, "000f8000 csrrs t0,mhartid,zero") && strstr(line, "00000003") &&
                         strstr(line, "t0=[0:00002020 1:00002021]")
                     ? 1
                     : 0;
        found |= strstr(line, "addi t1,zero,7") && strstr(line, "t1=00000007") ? 2 : 0;
        found |= strstr(line, "ebreak") ? 4 : 0;
    }
    fclose(file);
    unlink(path);
    assert_int_equal(lines, 3);
    assert_int_equal(found, 7);
}

static void trace_does_not_change_results(void **state)
{
    (void)state;
    char path[] = "/tmp/simt-trace-XXXXXX";
    struct fixture plain, traced;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    fixture_open(&plain, (struct simt_config){.num_cus = 1});
    fixture_open(&traced, (struct simt_config){.trace_path = path});
    for (uint32_t i = 0; i < 64; i++) {
        fixture_words(&plain, IN)[i] = fixture_words(&traced, IN)[i] = random_u32();
    }
    const uint32_t kernels[] = {K_BREAK_CONTINUE, K_RECURSION, K_JUMP_TABLE, K_INSTRET};
    for (unsigned i = 0; i < 4; i++) {
        struct simt_launch launch = fixture_launch(&plain, kernels[i], 0, 1, 64);
        fixture_run(&plain, &launch);
        launch = fixture_launch(&traced, kernels[i], 0, 1, 64);
        fixture_run(&traced, &launch);
        assert_memory_equal(plain.vram + OUT, traced.vram + OUT, 1024);
    }
    fixture_close(&plain);
    fixture_close(&traced);
    unlink(path);
}

int device_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_checks_its_arguments),
        cmocka_unit_test(bad_launches_are_refused),
        cmocka_unit_test(cancel_ends_an_endless_kernel),
        cmocka_unit_test(two_to_the_31_blocks_can_be_stopped),
        cmocka_unit_test(blocks_of_1_to_1024_threads),
        cmocka_unit_test(timeout_ends_an_endless_kernel),
        cmocka_unit_test(budget_is_exact),
        cmocka_unit_test(callbacks_may_start_the_next_launch),
        cmocka_unit_test(entry_state),
        cmocka_unit_test(mhartid_packs_block_warp_lane),
        cmocka_unit_test(changed_code_is_seen_by_the_next_launch),
        cmocka_unit_test(counters_count),
        cmocka_unit_test(trace_shows_a_warp),
        cmocka_unit_test(trace_does_not_change_results),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
