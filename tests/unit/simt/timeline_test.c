/* SPDX-License-Identifier: MIT */
/* The timeline: every block and warp of a launch is accounted for, within bounds, by the clock that was
 * given. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "suites.h"

#define CUS       3u
#define MAX_SPANS 0x40000u

static _Atomic uint64_t now;

static uint64_t count_up(void *opaque)
{
    assert_ptr_equal(opaque, &now);
    return atomic_fetch_add(&now, 1) + 1;
}

struct span {
    char kind[16];
    unsigned cu;
    unsigned long long launch, begin, end, a, b, c;
};

/* What a file says. */
struct timeline {
    unsigned parts, nspans;
    unsigned long long lost;
    struct span *spans;
};

static void read_timeline(const char *path, struct timeline *t)
{
    char line[256], name[16];
    unsigned cus;
    FILE *file = fopen(path, "r");

    *t = (struct timeline){.spans = calloc(MAX_SPANS, sizeof(struct span))};
    assert_non_null(t->spans);
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        struct span *s = &t->spans[t->nspans];
        unsigned long long lost;
        if (sscanf(line, "weft-timeline 1\t%15s\t%u", name, &cus) == 2) {
            assert_string_equal(name, "tested");
            assert_int_equal(cus, CUS);
            t->parts++;
        } else if (sscanf(line, "lost\t%llu", &lost) == 1) {
            t->lost += lost;
        } else {
            assert_int_equal(sscanf(line, "%15s %u %llu %llu %llu %llu %llu %llu", s->kind, &s->cu,
                                    &s->launch, &s->begin, &s->end, &s->a, &s->b, &s->c),
                             8);
            assert_true(s->begin > 0 && s->end > s->begin && s->cu < CUS);
            t->nspans++;
        }
    }
    fclose(file);
}

static void open_device(struct fixture *f, char *path)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    fixture_open(f, (struct simt_config){.num_cus = CUS,
                                         .timeline_path = path,
                                         .name = "tested",
                                         .clock = count_up,
                                         .clock_opaque = &now});
}

static bool is(const struct span *s, const char *kind)
{
    return strcmp(s->kind, kind) == 0;
}

/* All of launch `number`: so many blocks of two warps. */
static void check_launch(const struct timeline *t, unsigned long long number, unsigned blocks)
{
    const struct span *launch = NULL;
    unsigned ones[CUS] = {0}, turns[CUS] = {0}, merged[CUS] = {0};
    unsigned long long all = 0, warps = 0, had = 0;

    for (unsigned i = 0; i < t->nspans; i++) {
        if (is(&t->spans[i], "launch") && t->spans[i].launch == number) {
            assert_null(launch);
            launch = &t->spans[i];
        }
    }
    assert_non_null(launch);
    assert_int_equal(launch->a, blocks);
    assert_int_equal(launch->b, 2);
    assert_int_equal(launch->c, CODE);
    for (unsigned i = 0; i < t->nspans; i++) {
        const struct span *s = &t->spans[i];
        if (s == launch || s->launch != number) {
            continue;
        }
        assert_true(s->begin > launch->begin && s->end < launch->end);
        turns[s->cu] += is(s, "turn");
        ones[s->cu] += is(s, "block");
        merged[s->cu] += is(s, "merged");
        all += is(s, "block") ? 1 : is(s, "merged") ? s->a : 0;
        warps += is(s, "turn") ? 0 : s->b;
        had += is(s, "block") ? s->c : 0;
    }
    assert_int_equal(all, blocks);
    assert_int_equal(warps, 2 * blocks);
    for (unsigned cu = 0; cu < CUS; cu++) {
        assert_true(ones[cu] <= 256 && merged[cu] <= 1 && (merged[cu] == 0 || ones[cu] == 256));
        assert_int_equal(turns[cu], 2 * ones[cu]); /* none was left out: there is room for 1024 */
        had -= turns[cu];
    }
    assert_int_equal(had, 0);
}

static void launches_are_accounted_for(void **state)
{
    (void)state;
    static const unsigned blocks[] = {1, 2, 255, 3000};
    char path[] = "/tmp/simt-timeline-XXXXXX";
    struct fixture f;
    struct timeline t;

    open_device(&f, path);
    fixture_words(&f, CODE)[0] = ENC_EBREAK;
    for (unsigned i = 0; i < 4; i++) {
        struct simt_launch launch = fixture_launch(&f, CODE, 0, blocks[i], 40);
        fixture_run(&f, &launch);
        if (i == 1) {
            simt_timeline_write(f.dev);
        }
    }
    fixture_close(&f);
    read_timeline(path, &t);
    assert_int_equal(t.parts, 2);
    assert_int_equal(t.lost, 0);
    for (unsigned i = 0; i < 4; i++) {
        check_launch(&t, i, blocks[i]);
    }
    free(t.spans);
    unlink(path);
}

static void a_warp_at_a_barrier_has_several_turns(void **state)
{
    (void)state;
    char path[] = "/tmp/simt-timeline-XXXXXX";
    struct fixture f;
    struct timeline t;
    unsigned turns[2] = {0};

    open_device(&f, path);
    uint32_t *code = fixture_words(&f, CODE);
    code[0] = 0x800012b7;             /* lui t0, 0x80001 */
    code[1] = enc_s(0x2023, 5, 0, 0); /* sw zero, 0(t0): the barrier */
    code[2] = ENC_EBREAK;
    struct simt_launch launch = fixture_launch(&f, CODE, 0, 1, 40);
    fixture_run(&f, &launch);
    fixture_close(&f);
    read_timeline(path, &t);
    for (unsigned i = 0; i < t.nspans; i++) {
        if (is(&t.spans[i], "turn")) {
            turns[t.spans[i].b]++;
        }
    }
    assert_int_equal(turns[0], 2);
    assert_int_equal(turns[1], 2);
    free(t.spans);
    unlink(path);
}

static void a_fault_is_a_failed_launch(void **state)
{
    (void)state;
    char path[] = "/tmp/simt-timeline-XXXXXX";
    struct fixture f;
    struct timeline t;
    unsigned failed = 0;

    open_device(&f, path);
    fixture_words(&f, CODE)[0] = 0; /* illegal */
    fixture_fault(&f, CODE, 1);
    fixture_close(&f);
    read_timeline(path, &t);
    for (unsigned i = 0; i < t.nspans; i++) {
        failed += is(&t.spans[i], "failed");
        assert_false(is(&t.spans[i], "launch"));
    }
    assert_int_equal(failed, 1);
    free(t.spans);
    unlink(path);
}

static void what_does_not_fit_is_counted(void **state)
{
    (void)state;
    char path[] = "/tmp/simt-timeline-XXXXXX";
    struct fixture f;
    struct timeline t;

    open_device(&f, path);
    for (unsigned i = 0; i < MAX_SPANS + 5; i++) {
        simt_timeline_transfer(f.dev, SIMT_FROM_DEVICE, simt_timeline_now(f.dev), i);
    }
    fixture_close(&f);
    read_timeline(path, &t);
    assert_int_equal(t.nspans, MAX_SPANS);
    assert_int_equal(t.lost, 5);
    assert_string_equal(t.spans[7].kind, "from_device");
    assert_int_equal(t.spans[7].a, 7);
    free(t.spans);
    unlink(path);
}

static void without_a_file_there_is_no_timeline(void **state)
{
    (void)state;
    struct fixture f;
    struct simt *dev;
    struct simt_config config = {.timeline_path = "/nowhere/at/all"};
    static uint32_t vram[1024];

    fixture_open(&f, (struct simt_config){.num_cus = 1});
    assert_int_equal(simt_timeline_now(f.dev), 0);
    simt_timeline_transfer(f.dev, SIMT_TO_DEVICE, 0, 1);
    simt_timeline_write(f.dev);
    fixture_close(&f);
    assert_int_equal(simt_create(&dev, &config, vram, sizeof(vram)), -EINVAL);
}

int timeline_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_accounted_for),
        cmocka_unit_test(a_warp_at_a_barrier_has_several_turns),
        cmocka_unit_test(a_fault_is_a_failed_launch),
        cmocka_unit_test(what_does_not_fit_is_counted),
        cmocka_unit_test(without_a_file_there_is_no_timeline),
    };
    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
