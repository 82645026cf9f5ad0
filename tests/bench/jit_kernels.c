/* SPDX-License-Identifier: MIT */
/* Kernels that jit_bench.c measures, for the SIMT device. Each has its entry in a section of its name. */
#include <stdint.h>

#define CTRL(offset) (*(const volatile uint32_t *)(0x80000000u + (offset)))
#define THREAD_X     CTRL(0x00)
#define THREAD_Y     CTRL(0x04)
#define BLOCK_X      CTRL(0x10)
#define BLOCK_Y      CTRL(0x14)
#define BLOCK_DIM_X  CTRL(0x20)
#define SHARED       ((float *)0x90000000u)

static inline void barrier(void)
{
    __asm__ volatile("sw zero, 0(%0)" : : "r"(0x80001000u) : "memory");
}

/* c = a * b, n x n, n a multiple of 96, 64 and 128. A thread computes ROWS x 2 results; 32 lanes cover 64
 * columns. Warps share tiles of b; the rows of a are a warp's own, the same in all its lanes, and read where
 * they are. Blocks one after the other take the same columns, so that these stay in a cache. */
#define ROWS  6
#define DEPTH 128
#define WARPS 16

void sgemm_tiled(const float *a, const float *b, float *c, uint32_t n)
{
    float *tile = SHARED, sum[ROWS][2] = {{0}};
    uint32_t x = THREAD_X, y = THREAD_Y, row = (BLOCK_X * WARPS + y) * ROWS, col = BLOCK_Y * 64 + x;
    const float *pa = a + row * n;

    for (uint32_t k0 = 0; k0 < n; k0 += DEPTH) {
        for (uint32_t r = y; r < DEPTH; r += WARPS) {
            tile[r * 64 + x] = b[(k0 + r) * n + col];
            tile[r * 64 + 32 + x] = b[(k0 + r) * n + col + 32];
        }
        barrier();
        const float *pb = tile + x;
#pragma clang loop unroll_count(4)
        for (uint32_t k = 0; k < DEPTH; k++, pa++, pb += 64) {
            float left = pb[0], right = pb[32];
#pragma clang loop unroll(full)
            for (uint32_t i = 0; i < ROWS; i++) {
                sum[i][0] += pa[i * n] * left;
                sum[i][1] += pa[i * n] * right;
            }
        }
        barrier();
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        c[(row + i) * n + col] = sum[i][0];
        c[(row + i) * n + col + 32] = sum[i][1];
    }
}

/* A thread an element. */
void vec_add(const float *a, const float *b, float *c, uint32_t n)
{
    uint32_t i = BLOCK_X * BLOCK_DIM_X + THREAD_X;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
