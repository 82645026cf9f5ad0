/* SPDX-License-Identifier: MIT */
/*
 * Speed of the engine on one compute unit, in executed instructions times active lanes a second: a naive
 * matrix product (full warps, one thread an output) and the Collatz iteration (lanes diverge at every step).
 * Results are checked; the best of several runs counts, as the machine may be shared. Time is the clock's:
 * the kernel's account of processor time lags behind by some milliseconds for a thread that runs on another
 * core.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simt/simt.h"

#define VRAM_SIZE (16u << 20)
#define ARGS      0x1000u
#define A         0x100000u
#define B         0x200000u
#define C         0x300000u
#define N         256u
#define BLOCK     256u
#define RUNS      7

/* c[i] = sum over k of a[i / n][k] * b[k][i % n]; arguments a, b, c, n; blocks of 256 threads. */
static const uint32_t matmul_code[] = {
    0xf14022f3, /* csrrs t0,mhartid,zero */
    0x00d2d313, /* srli t1,t0,0xd */
    0x00831313, /* slli t1,t1,0x8 */
    0x800003b7, /* lui t2,0x80000 */
    0x0003a383, /* lw t2,0(t2) */
    0x00730333, /* add t1,t1,t2 */
    0x02d353b3, /* divu t2,t1,a3 */
    0x02d37e33, /* remu t3,t1,a3 */
    0x00269e93, /* slli t4,a3,0x2 */
    0x03d383b3, /* mul t2,t2,t4 */
    0x007503b3, /* add t2,a0,t2 */
    0x01d38f33, /* add t5,t2,t4 */
    0x002e1e13, /* slli t3,t3,0x2 */
    0x01c58e33, /* add t3,a1,t3 */
    0xf0000553, /* fmv.w.x fa0,zero */
    0x0003a587, /* flw fa1,0(t2) */
    0x000e2607, /* flw fa2,0(t3) */
    0x50c5f543, /* fmadd.s fa0,fa1,fa2,fa0 */
    0x00438393, /* addi t2,t2,4 */
    0x01de0e33, /* add t3,t3,t4 */
    0xffe396e3, /* bne t2,t5,3c */
    0x00231313, /* slli t1,t1,0x2 */
    0x00660633, /* add a2,a2,t1 */
    0x00a62027, /* fsw fa0,0(a2) */
    0x00008067, /* jalr zero,0(ra) */
};

/* out[i] = steps from i + 1 to 1; argument out; blocks of 256 threads. */
static const uint32_t collatz_code[] = {
    0xf14022f3, /* csrrs t0,mhartid,zero */
    0x00d2d313, /* srli t1,t0,0xd */
    0x00831313, /* slli t1,t1,0x8 */
    0x800003b7, /* lui t2,0x80000 */
    0x0003a383, /* lw t2,0(t2) */
    0x00730333, /* add t1,t1,t2 */
    0x00130393, /* addi t2,t1,1 */
    0x00000e13, /* addi t3,zero,0 */
    0x00100e93, /* addi t4,zero,1 */
    0x03d38463, /* beq t2,t4,b0 */
    0x0013ff13, /* andi t5,t2,1 */
    0x000f0a63, /* beq t5,zero,a4 */
    0x00139f93, /* slli t6,t2,0x1 */
    0x01f383b3, /* add t2,t2,t6 */
    0x00138393, /* addi t2,t2,1 */
    0x0080006f, /* jal zero,a8 */
    0x0013d393, /* srli t2,t2,0x1 */
    0x001e0e13, /* addi t3,t3,1 */
    0xfddff06f, /* jal zero,88 */
    0x00231313, /* slli t1,t1,0x2 */
    0x00650533, /* add a0,a0,t1 */
    0x01c52023, /* sw t3,0(a0) */
    0x00008067, /* jalr zero,0(ra) */
};

struct bench {
    uint8_t *vram;
    struct simt *dev;
};

static void fail(const char *what)
{
    fprintf(stderr, "simt_bench: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Lane-instructions a second of the fastest run. */
static double measure(struct bench *b, const uint32_t *code, size_t size, uint32_t blocks)
{
    const struct simt_launch launch = {
        .kernel = 0, .args = ARGS, .grid = {blocks, 1, 1}, .block = {BLOCK, 1, 1}};
    struct simt_fault fault;
    struct simt_counters c;
    char text[256];
    double best = 0;

    memcpy(b->vram, code, size);
    for (int i = 0; i < RUNS; i++) {
        simt_counters_clear(b->dev);
        double start = now();
        if (simt_run(b->dev, &launch, &fault) != 0) {
            simt_fault_describe(&fault, text, sizeof(text));
            fail(text);
        }
        double seconds = now() - start;
        simt_counters_read(b->dev, &c);
        best = fmax(best, (double)c.lane_insns / seconds);
    }
    return best;
}

static void set_args(struct bench *b, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3)
{
    const uint32_t args[8] = {a0, a1, a2, a3};
    memcpy(b->vram + ARGS, args, sizeof(args));
}

static double bench_matmul(struct bench *b)
{
    float *x = (float *)(void *)(b->vram + A), *y = (float *)(void *)(b->vram + B),
          *z = (float *)(void *)(b->vram + C);

    for (uint32_t i = 0; i < N * N; i++) {
        x[i] = (float)(i * 7919 % 23) - 11;
        y[i] = (float)(i * 104729 % 19) / 8 - 1;
    }
    memset(z, 0, sizeof(float) * N * N);
    set_args(b, A, B, C, N);
    double speed = measure(b, matmul_code, sizeof(matmul_code), N * N / BLOCK);
    for (uint32_t i = 0; i < N * N; i++) {
        float sum = 0;
        for (uint32_t k = 0; k < N; k++) {
            sum = fmaf(x[i / N * N + k], y[k * N + i % N], sum);
        }
        if (sum != z[i]) {
            fail("wrong matrix product");
        }
    }
    return speed;
}

static double bench_collatz(struct bench *b)
{
    const uint32_t blocks = 256, *out = (const uint32_t *)(const void *)(b->vram + C);

    memset(b->vram + C, 0, blocks * BLOCK * sizeof(*out));
    set_args(b, C, 0, 0, 0);
    double speed = measure(b, collatz_code, sizeof(collatz_code), blocks);
    for (uint32_t i = 0; i < blocks * BLOCK; i++) {
        uint32_t n = i + 1, steps = 0;
        for (; n != 1; steps++) {
            n = n & 1 ? 3 * n + 1 : n / 2;
        }
        if (steps != out[i]) {
            fail("wrong number of Collatz steps");
        }
    }
    return speed;
}

static void open_device(struct bench *b, enum simt_engine engine)
{
    const struct simt_config config = {.num_cus = 1, .engine = engine};

    if (simt_create(&b->dev, &config, b->vram, VRAM_SIZE) != 0) {
        fail("no device");
    }
}

int main(void)
{
    struct bench b = {.vram = aligned_alloc(4096, VRAM_SIZE)};

    if (!b.vram) {
        fail("no memory");
    }
    memset(b.vram, 0, VRAM_SIZE);
    open_device(&b, SIMT_ENGINE_INTERP);
    double naive = bench_matmul(&b), collatz = bench_collatz(&b);
    simt_destroy(b.dev);
    printf("BENCH engine.interp.sgemm_naive %.4g lane-insn/s\n", naive);
    printf("BENCH engine.interp.collatz %.4g lane-insn/s\n", collatz);
    open_device(&b, SIMT_ENGINE_JIT);
    printf("BENCH engine.jit.sgemm_naive %.4g lane-insn/s\n", bench_matmul(&b));
    printf("BENCH engine.jit.collatz_vs_interp %.4g x\n", bench_collatz(&b) / collatz);
    simt_destroy(b.dev);
    free(b.vram);
    return 0;
}
