/* SPDX-License-Identifier: MIT */
/*
 * C = activation(alpha op(A) op(B) + beta C + bias), batched over grid z. Row-major; op transposes as flags
 * say. Blocks stage tiles of B in shared memory and step over k; kernel_defs.h explains the tile. The rows of
 * A are a warp's own, the same in all its lanes, and are read where they are.
 */
#include "kernel_activation.h"

#define SGEMM_ARGS                                                                                           \
    IN(a), IN(b), OUT(c), IN(bias), U32(m), U32(n), U32(k), U32(lda), U32(ldb), U32(ldc), U32(stride_a),     \
        U32(stride_b), U32(stride_c), U32(flags), U32(activation), F32(alpha), F32(beta), DIVISOR(tiles_m)
KERNEL_ARGS(sgemm, SGEMM_ARGS);

/* Blocks one after the other take the same columns, which then stay in the caches of who has such. */
static KERNEL_INLINE uint32_t block_col(const struct sgemm_args *args)
{
    return DIVIDE(block_idx_x(), args->tiles_m) * SGEMM_TILE_N;
}

/* The first of the thread's rows. */
static KERNEL_INLINE uint32_t thread_row(const struct sgemm_args *args)
{
    uint32_t tile = block_idx_x() - DIVIDE(block_idx_x(), args->tiles_m) * args->tiles_m;
    return (tile * block_dim_y() + thread_idx_y()) * SGEMM_ROWS;
}

/* tile[r][c] = B(k0 + r, col + c). Lanes run along columns; those past the last one get the block's first:
 * nobody stores what becomes of them. */
static KERNEL_INLINE void stage(const struct sgemm_args *args, SHARED float *tile, uint32_t k0,
                                uint32_t depth)
{
    uint32_t x = thread_idx_x(), cols = args->n - block_col(args);
    const float *from = args->b + block_idx_z() * args->stride_b + k0 * args->ldb + block_col(args);
    if (cols >= SGEMM_TILE_N) {
        for (uint32_t r = thread_idx_y(); r < depth; r += block_dim_y()) {
            tile[r * SGEMM_TILE_N + x] = from[r * args->ldb + x];
            tile[r * SGEMM_TILE_N + SGEMM_LANES + x] = from[r * args->ldb + SGEMM_LANES + x];
        }
        return;
    }
    for (uint32_t r = thread_idx_y(); r < depth; r += block_dim_y())
        for (uint32_t c = x; c < SGEMM_TILE_N; c += SGEMM_LANES)
            tile[r * SGEMM_TILE_N + c] = from[r * args->ldb + within(c, cols)];
}

/* tile[r][c] = B(col + c, k0 + r). Lanes run along a row of B, which memory has side by side. */
static KERNEL_INLINE void stage_transposed(const struct sgemm_args *args, SHARED float *tile, uint32_t k0,
                                           uint32_t depth)
{
    uint32_t cols = min_u32(args->n - block_col(args), SGEMM_TILE_N);
    const float *from = args->b + block_idx_z() * args->stride_b + block_col(args) * args->ldb + k0;
    for (uint32_t c = thread_idx_y(); c < cols; c += block_dim_y()) {
        uint32_t r = thread_idx_x();
        for (; r < (depth & -SGEMM_LANES); r += SGEMM_LANES)
            tile[r * SGEMM_TILE_N + c] = from[c * args->ldb + r];
        if (depth % SGEMM_LANES) {
            r = within(r, depth);
            tile[r * SGEMM_TILE_N + c] = from[c * args->ldb + r];
        }
    }
}

/* One step of k: sum += the thread's column of A * a row of the tile. */
static KERNEL_INLINE void step(float sum[SGEMM_ROWS][SGEMM_COLS], const float *const a[SGEMM_ROWS],
                               uint32_t at, const SHARED float *b)
{
    float bv[SGEMM_COLS];
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < SGEMM_COLS; j++)
        bv[j] = b[j * SGEMM_LANES];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < SGEMM_ROWS; i++) {
        float av = a[i][at];
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < SGEMM_COLS; j++)
            sum[i][j] = fma_f32(av, bv[j], sum[i][j]);
    }
}

static KERNEL_INLINE void advance(const float *a[SGEMM_ROWS], uint32_t by)
{
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < SGEMM_ROWS; i++)
        a[i] += by;
}

/* sum += the thread's rows of op(A) from k0 on * the tile, depth steps of k. Rows below the matrix are its
 * last. */
static KERNEL_INLINE void multiply(const struct sgemm_args *args, float sum[SGEMM_ROWS][SGEMM_COLS],
                                   const SHARED float *tile, uint32_t k0, uint32_t depth)
{
    uint32_t trans = args->flags & SGEMM_TRANS_A;
    uint32_t row_stride = trans ? 1 : args->lda, col_stride = trans ? args->lda : 1;
    const SHARED float *b = tile + thread_idx_x();
    const float *a[SGEMM_ROWS];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < SGEMM_ROWS; i++)
        a[i] = args->a + block_idx_z() * args->stride_a + k0 * col_stride +
               min_u32(thread_row(args) + i, args->m - 1) * row_stride;
    uint32_t k = 0;
    for (; !trans && k + SGEMM_UNROLL <= depth; k += SGEMM_UNROLL) {
#pragma clang loop unroll(full)
        for (uint32_t u = 0; u < SGEMM_UNROLL; u++)
            step(sum, a, u, b + u * SGEMM_TILE_N);
        advance(a, SGEMM_UNROLL);
        b += SGEMM_UNROLL * SGEMM_TILE_N;
    }
#pragma clang loop unroll(disable)
    for (; k < depth; k++) {
        step(sum, a, 0, b);
        advance(a, col_stride);
        b += SGEMM_TILE_N;
    }
}

static KERNEL_INLINE float finish(const struct sgemm_args *args, float sum, float row_bias, uint32_t col,
                                  const float *out)
{
    float v = fma_f32(args->alpha, sum, row_bias);
    if (args->flags & SGEMM_BIAS_COL)
        v += args->bias[col];
    if (args->beta != 0.0f)
        v = fma_f32(args->beta, *out, v);
    return v;
}

static KERNEL_INLINE void product(const struct sgemm_args *args, uint32_t any_activation)
{
    SHARED float *tile = shared_floats();
    float sum[SGEMM_ROWS][SGEMM_COLS] = {{0}};
    for (uint32_t k0 = 0; k0 < args->k; k0 += SGEMM_DEPTH) {
        uint32_t depth = min_u32(args->k - k0, SGEMM_DEPTH);
        if (args->flags & SGEMM_TRANS_B)
            stage_transposed(args, tile, k0, depth);
        else
            stage(args, tile, k0, depth);
        barrier();
        multiply(args, sum, tile, k0, depth);
        barrier();
    }

    /* Through the tile, each thread its own sums, so that the rest is a loop and not twelve copies. */
    SHARED float *mine = tile + thread_idx_y() * SGEMM_ROWS * SGEMM_TILE_N + thread_idx_x();
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < SGEMM_ROWS; i++)
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < SGEMM_COLS; j++)
            mine[i * SGEMM_TILE_N + j * SGEMM_LANES] = sum[i][j];

    uint32_t row = thread_row(args);
    uint32_t end = min_u32(args->m, row + SGEMM_ROWS);
    for (; row < end; row++, mine += SGEMM_TILE_N) {
        float *out = args->c + block_idx_z() * args->stride_c + row * args->ldc;
        float row_bias = args->flags & SGEMM_BIAS_ROW ? args->bias[row] : 0.0f;
        for (uint32_t j = 0; j < SGEMM_TILE_N; j += SGEMM_LANES) {
            uint32_t col = block_col(args) + j + thread_idx_x();
            if (col < args->n) {
                float v = finish(args, mine[j], row_bias, col, out + col);
                out[col] =
                    any_activation ? activate(args->activation, v) : activate_cheap(args->activation, v);
            }
        }
    }
}

/* Most products have none of the costly activations, whose code is half of the second kernel: time that a
 * compiler of kernels need not spend. */
KERNEL_OF_ARGS(sgemm, SGEMM_ARGS)
{
    product(args, 0);
}

#define sgemm_activate_args sgemm_args
KERNEL_OF_ARGS(sgemm_activate, SGEMM_ARGS)
{
    product(args, 1);
}
