/* SPDX-License-Identifier: MIT */
/*
 * Compiled kernels against the host: a tiled matrix product against OpenBLAS on one core (if libopenblas is
 * installed), vec_add against memcpy of the same bytes, two compute units against one, and a launch
 * of a kernel never seen against the interpreter. Times are the clock's, the best of several runs: the
 * kernel's account of processor time lags behind for a thread that runs on another core. Results are checked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jit_kernels.h"
#include "simt/simt.h"

#define VRAM_SIZE (256u << 20)
#define ARGS      0x8000u
#define A         0x1000000u
#define B         0x6000000u
#define C         0xb000000u
#define N         1152u /* a multiple of the tile's 96 rows, 64 columns and depth 128 */
#define ELEMENTS  (16u << 20)
#define RUNS      5

static uint8_t *vram;

static void fail(const char *what)
{
    fprintf(stderr, "jit_bench: %s\n", what);
    exit(1);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static float *floats(uint32_t at)
{
    return (float *)(void *)(vram + at);
}

static struct simt *device(enum simt_engine engine, uint32_t units)
{
    const char *bits = getenv("WEFT_VECTOR_BITS");
    const struct simt_config config = {
        .num_cus = units, .engine = engine, .vector_bits = bits ? (uint32_t)strtoul(bits, NULL, 0) : 0};
    struct simt *s = NULL;
    if (simt_create(&s, &config, vram, VRAM_SIZE) != 0) {
        fail("no device");
    }
    return s;
}

/* Seconds of the fastest of some runs. */
static double measure(struct simt *s, const struct simt_launch *l, int runs)
{
    double best = INFINITY;
    for (int i = 0; i < runs; i++) {
        struct simt_fault fault;
        char text[256];
        double start = seconds();
        if (simt_run(s, l, &fault) != 0) {
            simt_fault_describe(&fault, text, sizeof(text));
            fail(text);
        }
        best = fmin(best, seconds() - start);
    }
    return best;
}

static void set_args(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3)
{
    const uint32_t args[8] = {a0, a1, a2, a3};
    memcpy(vram + ARGS, args, sizeof(args));
}

typedef void sgemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);

/* Seconds of OpenBLAS's sgemm; 0 where it is not installed. */
static double blas_seconds(const float *a, const float *b, float *c)
{
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_L2_SIZE");
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    sgemm_fn *sgemm = library ? (sgemm_fn *)dlsym(library, "cblas_sgemm") : NULL;
    double best = INFINITY;

    for (int i = 0; sgemm && i < RUNS; i++) {
        double start = seconds();
        sgemm(101, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);
        best = fmin(best, seconds() - start);
    }
    return sgemm ? best : 0;
}

static void bench_sgemm(struct simt *one, struct simt *two)
{
    const struct simt_launch l = {.kernel = SGEMM_TILED,
                                  .args = ARGS,
                                  .grid = {N / 96, N / 64, 1},
                                  .block = {32, 16, 1},
                                  .shared_size = 4 * 128 * 64};
    float *want = malloc(sizeof(float) * N * N);

    for (uint32_t i = 0; i < N * N; i++) { /* small integers: any order of summation is exact */
        floats(A)[i] = (float)(i * 7919 % 23) - 11;
        floats(B)[i] = (float)(i * 104729 % 19) - 9;
    }
    set_args(A, B, C, N);
    measure(two, &l, 1);
    double units1 = measure(one, &l, RUNS), units2 = measure(two, &l, RUNS);
    double jit = fmin(units1, measure(one, &l, RUNS));
    double blas = want ? blas_seconds(floats(A), floats(B), want) : 0;
    printf("BENCH engine.jit.sgemm_tiled %.4g GFLOP/s\n", 2e-9 * N * N * N / jit);
    printf("BENCH engine.jit.two_cus_vs_one %.3g x\n", units1 / units2);
    if (blas > 0) {
        if (memcmp(want, floats(C), sizeof(float) * N * N) != 0) {
            fail("wrong matrix product");
        }
        printf("BENCH engine.jit.sgemm_tiled_vs_openblas %.3g x\n", blas / jit);
    }
    free(want);
}

/* Seconds that memcpy takes to read ELEMENTS floats and to write them. */
static double copy_once(void)
{
    double start = seconds();
    memcpy(vram + C, vram + A, sizeof(float) * ELEMENTS);
    return seconds() - start;
}

/* Measured in turns, as what else the machine does changes the speed of its memory. memcpy moves two thirds
 * of vec_add's bytes. */
static void bench_vec_add(struct simt *one)
{
    const struct simt_launch l = {
        .kernel = VEC_ADD, .args = ARGS, .grid = {ELEMENTS / 256, 1, 1}, .block = {256, 1, 1}};
    double copy = INFINITY, add = INFINITY;

    for (uint32_t i = 0; i < ELEMENTS; i++) {
        floats(A)[i] = (float)i - 1000;
        floats(B)[i] = (float)(i % 1024);
    }
    set_args(A, B, C, ELEMENTS);
    for (int i = 0; i < 2 * RUNS; i++) {
        copy = fmin(copy, copy_once());
        add = fmin(add, measure(one, &l, 1));
    }
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        if (floats(C)[i] != floats(A)[i] + floats(B)[i]) {
            fail("wrong sum");
        }
    }
    printf("BENCH engine.jit.vec_add_vs_memcpy %.3g x\n", 1.5 * copy / add);
}

/* A kernel's first launch, LLVM's start included, beside the same launch interpreted. */
static void bench_first_launch(void)
{
    const struct simt_launch l = {
        .kernel = VEC_ADD, .args = ARGS, .grid = {ELEMENTS / 256, 1, 1}, .block = {256, 1, 1}};
    struct simt *interp = device(SIMT_ENGINE_INTERP, 1), *fresh = device(SIMT_ENGINE_AUTO, 1);

    set_args(A, B, C, ELEMENTS);
    measure(interp, &l, 1);
    double interpreted = measure(interp, &l, 3), first = measure(fresh, &l, 1);
    printf("BENCH engine.jit.first_launch_vs_interp %.3g x\n", first / interpreted);
    simt_destroy(interp);
    simt_destroy(fresh);
}

int main(void)
{
    vram = aligned_alloc(4096, VRAM_SIZE);
    if (!vram) {
        fail("no memory");
    }
    memset(vram, 0, VRAM_SIZE);
    memcpy(vram, kernel_image, sizeof(kernel_image));
    struct simt *one = device(SIMT_ENGINE_JIT, 1), *two = device(SIMT_ENGINE_JIT, 2);
    bench_sgemm(one, two);
    bench_vec_add(one);
    simt_destroy(one);
    simt_destroy(two);
    bench_first_launch();
    free(vram);
    return 0;
}
