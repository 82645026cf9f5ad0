/* SPDX-License-Identifier: MIT */
/*
 * Control flow against the scalar oracle: the corpus of kernels at several shapes, then random programs. What
 * must agree: all of memory, the instructions retired by all threads together, the barriers completed.
 *
 * usage: divergence [--count RANDOM_PROGRAMS] [--seed N] [--kernels FOLDER] [--dir FOLDER] [--jit|--check]
 * [--vector-bits N] [--program SEED]
 *
 * --program runs one random program again, by the seed that a message named.
 * --jit compares the JIT, which leaves some kernels to the interpreter (irreducible ones): the last line says
 * how many; --check the same with engine=check, which also compares registers. --vector-bits: as struct
 * simt_config has it. Exit status 77 when the engine was built without it.
 */
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <string.h>
#include "progen.h"
#include "scalar.h"

#define KERNEL_ADDR  0x1000u
#define ARGS_ADDR    0x100u
#define SCRATCH_ADDR 0x200000u
#define OUT_ADDR     0x202000u
#define OUT_STRIDE   256u
#define VRAM_SIZE    (4u << 20)
#define SHARED_SIZE  4096u
#define MAX_INSNS    200000000u
#define SPIN_THREADS                                                                                         \
    100u /* of a block that spins: each hand-over of a lock costs up to a turn of every warp */

struct shape {
    uint32_t grid[3], block[3];
};

struct totals {
    enum simt_engine engine;
    uint32_t vector_bits;
    uint64_t programs, launches, insns, mismatches, interpreted;
};

static const struct shape corpus_shapes[] = {
    {{1, 1, 1}, {1, 1, 1}},  {{1, 1, 1}, {7, 1, 1}},  {{3, 1, 1}, {31, 1, 1}},  {{2, 1, 1}, {32, 1, 1}},
    {{1, 1, 1}, {33, 1, 1}}, {{5, 1, 1}, {64, 1, 1}}, {{1, 1, 1}, {100, 1, 1}}, {{2, 3, 2}, {5, 3, 2}},
    {{1, 2, 1}, {8, 4, 1}},  {{2, 1, 1}, {16, 4, 4}}, {{1, 1, 3}, {1, 1, 17}},  {{2, 1, 1}, {1024, 1, 1}},
};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(*(array))))

static void *checked(void *p)
{
    if (!p) {
        fprintf(stderr, "divergence: no memory\n");
        exit(2);
    }
    return p;
}

static void print_launch(const char *name, const struct simt_launch *l, const struct simt_config *c)
{
    fprintf(stderr, "divergence: %s, grid %ux%ux%u, block %ux%ux%u, warps of %u, %u compute units%s: ", name,
            l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], c->warp_size,
            c->num_cus, c->deterministic ? " in order" : "");
}

/* Messages of the engine: with --jit, kernels that it leaves to the interpreter. */
static void note(void *opaque, const char *msg)
{
    if (strstr(msg, "all kernels are interpreted")) {
        printf("divergence: %s\n", msg);
        exit(77);
    }
    ++*(uint64_t *)opaque;
}

/* An engine over its own memory. */
struct device {
    struct simt_config config;
    uint8_t *vram;
    struct simt *s;
};

static void device_open(struct device *d, const struct simt_config *config, struct totals *t)
{
    int err;

    *d = (struct device){.config = *config, .vram = checked(malloc(VRAM_SIZE))};
    d->config.engine = t->engine;
    d->config.vector_bits = t->vector_bits;
    d->config.log = note;
    d->config.log_opaque = &t->interpreted;
    err = simt_create(&d->s, &d->config, d->vram, VRAM_SIZE);
    if (err) {
        fprintf(stderr, "divergence: no device: %s\n", strerror(-err));
        exit(2);
    }
}

static void device_close(struct device *d)
{
    simt_destroy(d->s);
    free(d->vram);
}

/* Launch; false with a line about the fault. */
static bool device_run(struct device *d, const char *name, const struct simt_launch *launch)
{
    struct simt_fault fault = {0};
    char text[512];
    int err;

    simt_counters_clear(d->s);
    err = simt_run(d->s, launch, &fault);
    if (!err)
        return true;
    print_launch(name, launch, &d->config);
    if (err == -EFAULT)
        simt_fault_describe(&fault, text, sizeof(text));
    fprintf(stderr, "%s\n", err == -EFAULT ? text : strerror(-err));
    return false;
}

static bool compare(const char *name, const struct device *d, const struct simt_launch *launch,
                    const uint8_t *want, const struct scalar_result *oracle, bool exact_count)
{
    const uint8_t *got = d->vram;
    struct simt_counters counters;
    uint32_t at = 0;

    simt_counters_read(d->s, &counters);
    if (memcmp(want, got, VRAM_SIZE)) {
        while (want[at] == got[at])
            at++;
        at &= ~3u;
        print_launch(name, launch, &d->config);
        fprintf(stderr, "memory differs first at %#x: %08x, the oracle has %08x\n", at,
                *(const uint32_t *)(got + at), *(const uint32_t *)(want + at));
        return false;
    }
    if (exact_count && counters.lane_insns != oracle->insns) {
        print_launch(name, launch, &d->config);
        fprintf(stderr, "%" PRIu64 " lane-instructions, the oracle has %" PRIu64 "\n", counters.lane_insns,
                oracle->insns);
        return false;
    }
    if (counters.barriers != oracle->barriers) {
        print_launch(name, launch, &d->config);
        fprintf(stderr, "%" PRIu64 " barriers, the oracle has %" PRIu64 "\n", counters.barriers,
                oracle->barriers);
        return false;
    }
    return true;
}

/* One launch of what image holds, both ways. */
static bool check(const char *name, struct device *d, const struct simt_launch *launch, const uint8_t *image,
                  bool exact_count, struct totals *t)
{
    uint8_t *want = checked(malloc(VRAM_SIZE));
    struct scalar_result oracle;
    bool ok;

    memcpy(want, image, VRAM_SIZE);
    memcpy(d->vram, image, VRAM_SIZE);
    oracle = scalar_run(want, VRAM_SIZE, launch, d->config.warp_size, MAX_INSNS);
    if (oracle.cause) {
        print_launch(name, launch, &d->config);
        fprintf(stderr, "the oracle stopped: %s at pc %#x, insn %08x\n", simt_cause_name(oracle.cause),
                oracle.pc, oracle.insn);
        exit(2); /* a mistake of the test */
    }
    ok = device_run(d, name, launch) && compare(name, d, launch, want, &oracle, exact_count);
    t->launches++;
    t->insns += oracle.insns;
    t->mismatches += !ok;
    free(want);
    return ok;
}

static void set_args(uint8_t *image)
{
    uint32_t args[SIMT_ARG_REGS] = {OUT_ADDR, SCRATCH_ADDR};

    memcpy(image + ARGS_ADDR, args, sizeof(args));
}

static void check_kernel(const char *path, struct totals *t)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    bool spins = strncmp(name, "spin_", 5) == 0; /* how long depends on the schedule */
    const struct simt_config in_order = {.num_cus = 1, .warp_size = 32, .deterministic = true};
    const struct simt_config parallel = {.num_cus = 4, .warp_size = 32};
    uint8_t *image = checked(calloc(1, VRAM_SIZE));
    struct device devices[2];
    FILE *f = fopen(path, "rb");

    if (!f || fread(image + KERNEL_ADDR, 1, SCRATCH_ADDR - KERNEL_ADDR, f) == 0) {
        fprintf(stderr, "divergence: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    fclose(f);
    set_args(image);
    device_open(&devices[0], &in_order, t);
    device_open(&devices[1], &parallel, t);
    for (uint32_t i = 0; i < COUNT(corpus_shapes); i++) {
        struct simt_launch launch = {.kernel = KERNEL_ADDR, .args = ARGS_ADDR, .shared_size = SHARED_SIZE};

        memcpy(launch.grid, corpus_shapes[i].grid, sizeof(launch.grid));
        memcpy(launch.block, corpus_shapes[i].block, sizeof(launch.block));
        if (!spins || launch.block[0] * launch.block[1] * launch.block[2] <= SPIN_THREADS)
            check(name, &devices[i % 2], &launch, image, !spins, t);
    }
    device_close(&devices[0]);
    device_close(&devices[1]);
    t->programs++;
    free(image);
}

static void check_corpus(const char *folder, struct totals *t)
{
    char pattern[512];
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/*.bin", folder);
    if (glob(pattern, 0, NULL, &found) || !found.gl_pathc) {
        fprintf(stderr, "divergence: no kernels in %s\n", folder);
        exit(2);
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_kernel(found.gl_pathv[i], t);
    globfree(&found);
}

static void random_shape(struct rng *r, struct simt_launch *l)
{
    static const uint8_t sizes[] = {1, 2, 5, 31, 32, 33, 40, 64, 70, 96};

    for (int d = 0; d < 3; d++)
        l->grid[d] = rng_one_in(r, 4) ? 2 : 1;
    if (rng_one_in(r, 4)) {
        for (int d = 0; d < 3; d++)
            l->block[d] = 1 + rng_below(r, 5);
    } else {
        l->block[0] = sizes[rng_below(r, COUNT(sizes))];
        l->block[1] = l->block[2] = 1;
    }
}

static void check_random(uint64_t seed, const char *dir, struct totals *t)
{
    struct rng r = {seed};
    struct code code = {.base = KERNEL_ADDR};
    struct simt_config config = {.num_cus = 1 + rng_below(&r, 4), .deterministic = rng_below(&r, 2)};
    struct simt_launch launch = {.kernel = KERNEL_ADDR, .args = ARGS_ADDR, .shared_size = SHARED_SIZE};
    uint8_t *image = checked(calloc(1, VRAM_SIZE));
    struct device d;
    char name[600];
    bool ok;

    config.warp_size = rng_one_in(&r, 6) ? 1 + rng_below(&r, 32) : 32;
    random_shape(&r, &launch);
    /* Compiled code does without masks in programs that read counters. */
    progen_generate(&code, &r, t->engine == SIMT_ENGINE_INTERP || seed % 4 == 0);
    if (code_here(&code) > SCRATCH_ADDR) {
        fprintf(stderr, "divergence: program %#" PRIx64 " is too large: %u words\n", seed, code.count);
        exit(2);
    }
    memcpy(image + KERNEL_ADDR, code.words, 4 * (size_t)code.count);
    set_args(image);
    snprintf(name, sizeof(name), "random program seed %#" PRIx64, seed);
    device_open(&d, &config, t);
    ok = check(name, &d, &launch, image, true, t);
    device_close(&d);
    if (!ok) {
        FILE *f;

        snprintf(name, sizeof(name), "%s/program-%" PRIx64 ".bin", dir, seed);
        f = fopen(name, "wb");
        if (f) {
            fwrite(code.words, 4, code.count, f);
            fclose(f);
        }
        fprintf(stderr, "divergence: its code is in %s, at address %#x\n", name, KERNEL_ADDR);
    }
    t->programs++;
    code_free(&code);
    free(image);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"count", 1, NULL, 'n'},   {"seed", 1, NULL, 's'},        {"kernels", 1, NULL, 'k'},
        {"dir", 1, NULL, 'd'},     {"jit", 0, NULL, 'j'},         {"check", 0, NULL, 'c'},
        {"program", 1, NULL, 'p'}, {"vector-bits", 1, NULL, 'v'}, {NULL, 0, NULL, 0}};
    uint64_t count = 300, seed = 1, program = 0;
    const char *kernels = NULL, *dir = "/tmp";
    struct totals t = {.engine = SIMT_ENGINE_INTERP};
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'n')
            count = strtoull(optarg, NULL, 0);
        else if (c == 's')
            seed = strtoull(optarg, NULL, 0);
        else if (c == 'k')
            kernels = optarg;
        else if (c == 'd')
            dir = optarg;
        else if (c == 'j')
            t.engine = SIMT_ENGINE_JIT;
        else if (c == 'c')
            t.engine = SIMT_ENGINE_CHECK;
        else if (c == 'v')
            t.vector_bits = (uint32_t)strtoul(optarg, NULL, 0);
        else if (c == 'p')
            program = strtoull(optarg, NULL, 0);
        else
            return 2;
    }
    printf("divergence: seed %" PRIu64 ", %" PRIu64 " random programs\n", seed, count);
    if (kernels)
        check_corpus(kernels, &t);
    if (program)
        check_random(program, dir, &t);
    for (uint64_t i = 0; !program && i < count; i++)
        check_random(seed << 32 | i, dir, &t);
    if (t.engine != SIMT_ENGINE_INTERP)
        printf("divergence: %" PRIu64 " programs were left to the interpreter\n", t.interpreted);
    printf("compared %" PRIu64 " programs, %" PRIu64 " launches of %" PRIu64
           " instructions, mismatches %" PRIu64 "\n",
           t.programs, t.launches, t.insns, t.mismatches);
    return t.mismatches ? 1 : 0;
}
