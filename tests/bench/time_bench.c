/* SPDX-License-Identifier: MIT */
/*
 * Where the time of a program goes with engine=auto: operands to VRAM, twenty launches of a kernel that the
 * device has never seen, the result back. Milliseconds: of the copies and of all by the clock; of the
 * compiler's thread; of the one compute unit while it interpreted and while it ran compiled code
 * (simt_statistics_read()). The compiler works beside the unit, so that the parts add up to more than all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jit_kernels.h"
#include "simt/simt.h"

#define VRAM_SIZE (64u << 20)
#define ARGS      0x8000u
#define A         0x1000000u
#define B         0x2000000u
#define C         0x3000000u
#define N         768u /* as sgemm_tiled wants it */
#define ELEMENTS  (4u << 20)
#define LAUNCHES  20

struct program {
    const char *name;
    struct simt_launch launch;
    uint32_t count;    /* the kernel's last argument */
    uint32_t elements; /* of each operand and of the result */
};

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void fail(const char *what)
{
    fprintf(stderr, "time_bench: %s\n", what);
    exit(1);
}

static void launch_all(struct simt *s, const struct simt_launch *launch)
{
    char text[256];
    struct simt_fault fault;
    for (int i = 0; i < LAUNCHES; i++) {
        if (simt_run(s, launch, &fault) != 0) {
            simt_fault_describe(&fault, text, sizeof(text));
            fail(text);
        }
    }
}

static void print(const char *program, const char *part, double ms)
{
    printf("BENCH time.%s.%s %.4g ms\n", program, part, ms);
}

static void measure(uint8_t *vram, const struct program *p)
{
    const struct simt_config config = {.num_cus = 1, .engine = SIMT_ENGINE_AUTO};
    const uint32_t args[8] = {A, B, C, p->count};
    size_t bytes = sizeof(float) * p->elements;
    float *host = calloc(p->elements, sizeof(float));
    struct simt *s = NULL;

    if (!host || simt_create(&s, &config, vram, VRAM_SIZE) != 0) {
        fail("no device");
    }
    memcpy(vram + ARGS, args, sizeof(args));
    double start = milliseconds();
    memcpy(vram + A, host, bytes);
    memcpy(vram + B, host, bytes);
    double to_device = milliseconds();
    launch_all(s, &p->launch);
    double launched = milliseconds();
    memcpy(host, vram + C, bytes);
    double end = milliseconds();

    struct simt_statistics spent;
    simt_statistics_read(s, &spent);
    print(p->name, "copy", to_device - start + (end - launched));
    print(p->name, "compile", (double)spent.compile_ns * 1e-6);
    print(p->name, "interpret", (double)spent.interpret_ns * 1e-6);
    print(p->name, "execute", (double)spent.execute_ns * 1e-6);
    print(p->name, "all", end - start);
    simt_destroy(s);
    free(host);
}

int main(void)
{
    static const struct program programs[] = {
        {"sgemm_tiled",
         {.kernel = SGEMM_TILED,
          .args = ARGS,
          .grid = {N / 96, N / 64, 1},
          .block = {32, 16, 1},
          .shared_size = 4 * 128 * 64},
         N,
         N * N},
        {"vec_add",
         {.kernel = VEC_ADD, .args = ARGS, .grid = {ELEMENTS / 256, 1, 1}, .block = {256, 1, 1}},
         ELEMENTS,
         ELEMENTS},
    };
    uint8_t *vram = aligned_alloc(4096, VRAM_SIZE);
    if (!vram) {
        fail("no memory");
    }
    memset(vram, 0, VRAM_SIZE);
    memcpy(vram, kernel_image, sizeof(kernel_image));
    for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        measure(vram, &programs[i]);
    }
    free(vram);
    return 0;
}
