/* SPDX-License-Identifier: MIT */
/*
 * What kernels count is the same on every machine: instructions, divergences, transactions, bytes and
 * barriers of the unit tests' kernels, of LeNet's operators and of every float operator, beside the values of
 * counts.txt; interpreted and compiled, on one compute unit and on three.
 *
 * usage: build/unit/counts [--update]
 *
 * --update writes counts.txt anew, from the interpreter on one unit. A line NAME@jit is written where
 * compiled code groups lanes otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gpgpu/catalogue.h"
#include "gpgpu/ops.h"
#include "kernels.h"
#include "sim/sim.h"
#include "simt/simt.h"

#define STORED    "tests/unit/counts/counts.txt"
#define MAX_NAMES 160u
#define COUNTS    6u

static const char *const count_name[COUNTS] = {"insns",        "lane_insns", "divergences",
                                               "transactions", "bytes",      "barriers"};

struct counts {
    char name[48];
    uint64_t of[COUNTS];
};

struct table {
    struct counts row[MAX_NAMES];
    unsigned n;
};

static void add(struct table *t, const char *name, struct simt *engine)
{
    struct simt_counters c;
    struct counts *row = &t->row[t->n++];

    assert_true(t->n <= MAX_NAMES);
    simt_counters_read(engine, &c);
    simt_counters_clear(engine);
    snprintf(row->name, sizeof(row->name), "%s", name);
    memcpy(row->of, (uint64_t[]){c.insns, c.lane_insns, c.divergences, c.transactions, c.bytes, c.barriers},
           sizeof(row->of));
}

static const struct counts *find(const struct table *t, const char *name)
{
    for (unsigned i = 0; i < t->n; i++) {
        if (strcmp(t->row[i].name, name) == 0) {
            return &t->row[i];
        }
    }
    return NULL;
}

/* ---- what is counted ------------------------------------------------------------------------------------
 */

#define VRAM_SIZE (4u << 20)
#define ARGS      0x0f0000u
#define IN        0x100000u
#define OUT       0x200000u

/* Kernels without indirect jumps, whose targets the units learn from each other, and without spinning. */
static void count_kernels(struct table *t, const struct simt_config *config)
{
    static const struct {
        const char *name;
        uint32_t pc;
        bool compiled; /* the others take the compiler too long for a test */
    } kernels[] = {{"if_else", K_IF_ELSE, true},
                   {"nested10", K_NESTED10, false},
                   {"trip_counts", K_TRIP_COUNTS, true},
                   {"break_continue", K_BREAK_CONTINUE, true},
                   {"multi_exit", K_MULTI_EXIT, true},
                   {"short_circuit", K_SHORT_CIRCUIT, false},
                   {"divergent_stores", K_DIVERGENT_STORES, false},
                   {"mandelbrot", K_MANDELBROT, false},
                   {"reduce", K_REDUCE, true},
                   {"divergent_barrier", K_DIVERGENT_BARRIER, false}};
    uint8_t *vram = aligned_alloc(4096, VRAM_SIZE);
    struct simt *s;

    assert_non_null(vram);
    memset(vram, 0, VRAM_SIZE);
    memcpy(vram, kernel_image, sizeof(kernel_image));
    memcpy(vram + ARGS, (uint32_t[]){OUT, IN}, 8);
    for (uint32_t i = 0; i < 0x10000; i++) {
        uint32_t value = i * 2654435761u;
        memcpy(vram + IN + 4 * i, &value, 4);
    }
    assert_int_equal(simt_create(&s, config, vram, VRAM_SIZE), 0);
    for (unsigned i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        const struct simt_launch launch = {.kernel = kernels[i].pc,
                                           .args = ARGS,
                                           .grid = {5, 1, 1},
                                           .block = {96, 1, 1},
                                           .shared_size = 4 * SIMT_MAX_BLOCK};
        char name[48];
        if (config->engine == SIMT_ENGINE_JIT && !kernels[i].compiled) {
            continue;
        }
        assert_int_equal(simt_run(s, &launch, NULL), 0);
        snprintf(name, sizeof(name), "kernel.%s", kernels[i].name);
        add(t, name, s);
    }
    simt_destroy(s);
    free(vram);
}

/* The operators of apps/lenet at its shapes. */
static void count_lenet(struct table *t, struct gpgpu_device *device)
{
    struct simt *engine = gpgpu_sim_engine(device);
    int32_t in[36] = {0}, weight[32] = {1, -1, 2}, bias[4] = {1, 2, 3, 4}, conv[32], relu[32], pool[8], fc[4];
    GPGPU_CONTEXT(ctx);

    for (int32_t i = 0; i < 36; i++) {
        in[i] = i % 5 - 2;
    }
    assert_int_equal(gpgpu_context_open_device(&ctx, device), 0);
    simt_counters_clear(engine);
    assert_int_equal(gpgpu_conv2d_3x3(&ctx, in, weight, bias, conv, 6, 6, 2), 0);
    add(t, "lenet.conv2d_3x3", engine);
    assert_int_equal(gpgpu_relu(&ctx, conv, relu, 32), 0);
    add(t, "lenet.relu", engine);
    assert_int_equal(gpgpu_max_pool_2x2(&ctx, relu, pool, 4, 4, 2), 0);
    add(t, "lenet.max_pool_2x2", engine);
    assert_int_equal(gpgpu_fc_layer(&ctx, pool, weight, bias, fc, 8, 4), 0);
    add(t, "lenet.fc_layer", engine);
}

/* Compiling all of them takes too long for a test. */
static bool compiled_here(const char *name)
{
    static const char *const names[] = {"relu", "softmax", "scale_ch"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Each operator at its first test shape. Some make their launches by the number of units: interpreted on one.
 */
static void count_operators(struct table *t, struct gpgpu_device *device, bool compiled)
{
    struct simt *engine = gpgpu_sim_engine(device);
    struct tensor_context tc;

    assert_int_equal(tensor_context_open(&tc, device), 0);
    for (size_t i = 0; i < gpgpu_catalogue_size; i++) {
        const struct catalogue_entry *e = gpgpu_catalogue[i];
        char name[48], why[200];
        if (compiled && !compiled_here(e->name)) {
            continue;
        }
        simt_counters_clear(engine);
        if (gpgpu_catalogue_check(&tc, e, &e->test[0], 2024, why, sizeof(why)) != 0) {
            fail_msg("%s: %s", e->name, why);
        }
        snprintf(name, sizeof(name), "operator.%s", e->name);
        add(t, name, engine);
    }
    tensor_context_close(&tc);
}

static void count_all(struct table *t, enum simt_engine engine, uint32_t units)
{
    const struct simt_config config = {.num_cus = units, .engine = engine};
    const struct gpgpu_sim_config sim = {.vram_bytes = 64 << 20, .timeout_ms = 600000, .engine = &config};
    struct gpgpu_device *device;

    t->n = 0;
    count_kernels(t, &config);
    assert_int_equal(gpgpu_sim_create(&sim, &device), 0);
    count_lenet(t, device);
    if (units == 1 || engine == SIMT_ENGINE_JIT) {
        count_operators(t, device, engine == SIMT_ENGINE_JIT);
    }
    gpgpu_sim_destroy(device);
}

/* ---- the stored values ----------------------------------------------------------------------------------
 */

static void read_stored(struct table *t)
{
    FILE *f = fopen(STORED, "r");
    char line[256];

    t->n = 0;
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        struct counts *row = &t->row[t->n];
        unsigned long long v[COUNTS];
        if (line[0] == '#') {
            continue;
        }
        assert_true(t->n < MAX_NAMES);
        assert_int_equal(sscanf(line, "%47s %llu %llu %llu %llu %llu %llu", row->name, &v[0], &v[1], &v[2],
                                &v[3], &v[4], &v[5]),
                         1 + COUNTS);
        for (unsigned i = 0; i < COUNTS; i++) {
            row->of[i] = v[i];
        }
        t->n++;
    }
    fclose(f);
}

static const struct counts *expected(const struct table *stored, const char *name, enum simt_engine engine)
{
    char own[56];
    snprintf(own, sizeof(own), "%s@jit", name);
    const struct counts *row = engine == SIMT_ENGINE_JIT ? find(stored, own) : NULL;
    return row ? row : find(stored, name);
}

static void compare(enum simt_engine engine, uint32_t units)
{
    static struct table stored, now;
    unsigned differences = 0;

    read_stored(&stored);
    count_all(&now, engine, units);
    for (unsigned i = 0; i < now.n; i++) {
        const struct counts *row = &now.row[i], *want = expected(&stored, row->name, engine);
        for (unsigned k = 0; k < COUNTS; k++) {
            uint64_t was = want ? want->of[k] : 0;
            if (!want || row->of[k] != was) {
                print_message("%s: %llu %s, " STORED " has %llu (%+lld)\n", row->name,
                              (unsigned long long)row->of[k], count_name[k], (unsigned long long)was,
                              (long long)(row->of[k] - was));
                differences++;
            }
        }
    }
    if (differences) {
        fail_msg("%u counts differ; if they should: build/unit/counts --update", differences);
    }
}

static void interpreted_on_one_unit(void **state)
{
    (void)state;
    compare(SIMT_ENGINE_INTERP, 1);
}

static void interpreted_on_three_units(void **state)
{
    (void)state;
    compare(SIMT_ENGINE_INTERP, 3);
}

static void compiled_on_three_units(void **state)
{
    (void)state;
    compare(SIMT_ENGINE_JIT, 3);
}

static void write_row(FILE *f, const struct counts *row, const char *suffix)
{
    char name[56];
    snprintf(name, sizeof(name), "%s%s", row->name, suffix);
    fprintf(f, "%-32s", name);
    for (unsigned k = 0; k < COUNTS; k++) {
        fprintf(f, " %*llu", k < 2 ? 12 : 11, (unsigned long long)row->of[k]);
    }
    fprintf(f, "\n");
}

/* What threads do is the same in every engine; what warps do may not be. */
static bool same_work(const struct counts *a, const struct counts *b)
{
    return a->of[1] == b->of[1] && a->of[4] == b->of[4] && a->of[5] == b->of[5];
}

static int update(void)
{
    static struct table interp, jit;
    FILE *f = fopen(STORED, "w");

    if (!f) {
        perror(STORED);
        return 1;
    }
    count_all(&interp, SIMT_ENGINE_INTERP, 1);
    count_all(&jit, SIMT_ENGINE_JIT, 1);
    fprintf(f,
            "# Made by build/unit/counts --update. NAME@jit: where compiled code groups lanes otherwise.\n");
    fprintf(f, "# %-30s %12s %12s %11s %11s %11s %11s\n", "name", count_name[0], count_name[1], count_name[2],
            count_name[3], count_name[4], count_name[5]);
    for (unsigned i = 0; i < interp.n; i++) {
        const struct counts *row = &interp.row[i], *compiled = find(&jit, row->name);
        write_row(f, row, "");
        if (compiled && memcmp(compiled->of, row->of, sizeof(row->of)) != 0) {
            write_row(f, compiled, "@jit");
            if (!same_work(row, compiled)) {
                fprintf(stderr, "%s: threads do not the same in both engines\n", row->name);
            }
        }
    }
    return fclose(f) != 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpreted_on_one_unit),
        cmocka_unit_test(interpreted_on_three_units),
        cmocka_unit_test(compiled_on_three_units),
    };
    if (argc > 1 && strcmp(argv[1], "--update") == 0) {
        return update();
    }
    return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
