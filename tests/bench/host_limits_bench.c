/* SPDX-License-Identifier: MIT */
/* What the host could do at most: what operators are measured against. All its CPUs at once would do as many
 * times the first number; memory is shared. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COPY_BYTES (64u << 20)
#define COPIES     8
#define ROUNDS     2000000u
#define REPEATS    30 /* the best counts: what else the machine does only takes away */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#if defined(__x86_64__)
#include <immintrin.h>

/* Independent chains enough to hide the latency of the units: 8 = 2 units of 4 cycles on the cores of today,
 * 10 on older ones. NAME runs ROUNDS of CHAINS multiply-adds of LANES each. */
#define CHAINS 12
#define DEFINE_MULTIPLY_ADD(name, isa, vec, set, fma)                                                        \
    __attribute__((target(isa))) static float name(void)                                                     \
    {                                                                                                        \
        vec sum[CHAINS], x = set(0.999f), y = set(0.001f);                                                   \
        for (int i = 0; i < CHAINS; i++)                                                                     \
            sum[i] = set((float)i);                                                                          \
        for (uint32_t n = 0; n < ROUNDS; n++)                                                                \
            for (int i = 0; i < CHAINS; i++)                                                                 \
                sum[i] = fma(sum[i], x, y);                                                                  \
        for (int i = 1; i < CHAINS; i++)                                                                     \
            sum[0] += sum[i];                                                                                \
        return sum[0][0];                                                                                    \
    }
DEFINE_MULTIPLY_ADD(multiply_add_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps)
DEFINE_MULTIPLY_ADD(multiply_add_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps)

static double gflops(float multiply_add(void), unsigned lanes)
{
    double best = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        double start = seconds();
        volatile float keep = multiply_add();
        (void)keep;
        best = fmin(best, seconds() - start);
    }
    return (double)ROUNDS * CHAINS * lanes * 2 / best / 1e9;
}

/* The core's peak is that of its widest vectors, unless those are no faster. */
static void measure_flops(void)
{
    double best = 0;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        best = fmax(best, gflops(multiply_add_avx2, 8));
    if (__builtin_cpu_supports("avx512f"))
        best = fmax(best, gflops(multiply_add_avx512, 16));
    if (best > 0)
        printf("BENCH host.core_gflops %.4g GFLOP/s\n", best);
}
#else
static void measure_flops(void)
{
}
#endif

int main(void)
{
    char *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
    if (!from || !to)
        return 1;
    memset(from, 1, COPY_BYTES);
    memset(to, 2, COPY_BYTES);
    measure_flops();
    double best = 1e9;
    for (int i = 0; i < COPIES; i++) {
        double start = seconds();
        from[i] = (char)i;
        memcpy(to, from, COPY_BYTES);
        __asm__ volatile("" : : "r"(to) : "memory");
        best = fmin(best, seconds() - start);
    }
    printf("BENCH host.copy_gbps %.4g GB/s\n", 2.0 * COPY_BYTES / best / 1e9);
    free(from);
    free(to);
    return 0;
}
