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
#define REPEATS    10 /* the best counts: what else the machine does only takes away */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#if defined(__x86_64__)
#include <immintrin.h>

/* Twelve chains hide the latency of two units of four cycles. */
__attribute__((target("avx2,fma"))) static float multiply_add(void)
{
    __m256 sum[12], x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
    for (int i = 0; i < 12; i++)
        sum[i] = _mm256_set1_ps((float)i);
    for (uint32_t n = 0; n < ROUNDS; n++)
        for (int i = 0; i < 12; i++)
            sum[i] = _mm256_fmadd_ps(sum[i], x, y);
    for (int i = 1; i < 12; i++)
        sum[0] = _mm256_add_ps(sum[0], sum[i]);
    return sum[0][0];
}

static void measure_flops(void)
{
    double best = 1e9;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return;
    for (int i = 0; i < REPEATS; i++) {
        double start = seconds();
        volatile float keep = multiply_add();
        (void)keep;
        best = fmin(best, seconds() - start);
    }
    printf("BENCH host.core_gflops %.4g GFLOP/s\n", ROUNDS * 12.0 * 8 * 2 / best / 1e9);
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
