/* SPDX-License-Identifier: MIT */
/*
 * C = activation(alpha op(A) op(B) + beta C + bias), batched over grid z. Row-major; op transposes as flags
 * say. Blocks stage tiles of A and B in shared memory and step over k; kernel_defs.h explains the tile.
 */
#include "kernel_activation.h"

/* A matrix in memory: element (r, c) at data[r * row_stride + c * col_stride]. */
struct matrix {
    const float *data;
    uint32_t rows, cols, row_stride, col_stride;
};

/* tile[r][c] = matrix (row + r, col + c), 0 outside the matrix. Lanes run along c. */
static KERNEL_INLINE void stage(SHARED float *tile, uint32_t tile_rows, uint32_t tile_cols,
                                const struct matrix *m, uint32_t row, uint32_t col)
{
    uint32_t inside = row + tile_rows <= m->rows && col + tile_cols <= m->cols;
    for (uint32_t r = thread_idx_y(); r < tile_rows; r += block_dim_y()) {
        uint32_t at = (row + r) * m->row_stride + (col + thread_idx_x()) * m->col_stride;
        SHARED float *to = tile + r * tile_cols + thread_idx_x();
        if (inside) {
#pragma clang loop unroll(full)
            for (uint32_t c = 0; c < tile_cols; c += SGEMM_LANES)
                to[c] = m->data[at + c * m->col_stride];
            continue;
        }
        for (uint32_t c = 0; c < tile_cols; c += SGEMM_LANES) {
            uint32_t ok = (uint32_t)(row + r < m->rows) & (uint32_t)(col + c + thread_idx_x() < m->cols);
            to[c] = keep_if(ok, m->data[(at + c * m->col_stride) & -ok]);
        }
    }
}

/* sum += A tile * B tile over the first steps * SGEMM_UNROLL of k. */
static KERNEL_INLINE void multiply(float sum[SGEMM_ROWS][SGEMM_COLS], const SHARED float *a,
                                   const SHARED float *b, uint32_t steps)
{
    for (; steps > 0; steps--) {
#pragma clang loop unroll(full)
        for (uint32_t k = 0; k < SGEMM_UNROLL; k++) {
            float bv[SGEMM_COLS];
#pragma clang loop unroll(full)
            for (uint32_t j = 0; j < SGEMM_COLS; j++)
                bv[j] = b[k * SGEMM_TILE_N + j * SGEMM_LANES];
#pragma clang loop unroll(full)
            for (uint32_t i = 0; i < SGEMM_ROWS; i++) {
                float av = a[i * SGEMM_DEPTH + k];
#pragma clang loop unroll(full)
                for (uint32_t j = 0; j < SGEMM_COLS; j++)
                    sum[i][j] = fma_f32(av, bv[j], sum[i][j]);
            }
        }
        a += SGEMM_UNROLL;
        b += SGEMM_UNROLL * SGEMM_TILE_N;
    }
}

#define SGEMM_ARGS                                                                                           \
    IN(a), IN(b), OUT(c), IN(bias), U32(m), U32(n), U32(k), U32(lda), U32(ldb), U32(ldc), U32(stride_a),     \
        U32(stride_b), U32(stride_c), U32(flags), U32(activation), F32(alpha), F32(beta)
KERNEL_ARGS(sgemm, SGEMM_ARGS);

/* A tile of op(A) from (row, k0), and of op(B) from (k0, col). */
static KERNEL_INLINE void stage_a(const struct sgemm_args *args, SHARED float *tile, uint32_t row,
                                  uint32_t k0)
{
    uint32_t trans = args->flags & SGEMM_TRANS_A;
    struct matrix m = {args->a + block_idx_z() * args->stride_a, args->m, args->k, trans ? 1 : args->lda,
                       trans ? args->lda : 1};
    stage(tile, SGEMM_ROWS * block_dim_y(), SGEMM_DEPTH, &m, row, k0);
}

static KERNEL_INLINE void stage_b(const struct sgemm_args *args, SHARED float *tile, uint32_t k0,
                                  uint32_t col)
{
    uint32_t trans = args->flags & SGEMM_TRANS_B;
    struct matrix m = {args->b + block_idx_z() * args->stride_b, args->k, args->n, trans ? 1 : args->ldb,
                       trans ? args->ldb : 1};
    stage(tile, SGEMM_DEPTH, SGEMM_TILE_N, &m, k0, col);
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
    uint32_t tile_m = SGEMM_ROWS * block_dim_y();
    /* B first: both tiles then begin at constant addresses, which no register has to keep. */
    SHARED float *tile_b = shared_floats();
    SHARED float *tile_a = tile_b + SGEMM_DEPTH * SGEMM_TILE_N;
    float sum[SGEMM_ROWS][SGEMM_COLS] = {{0}};
    for (uint32_t k0 = 0; k0 < args->k; k0 += SGEMM_DEPTH) {
        stage_a(args, tile_a, block_idx_y() * tile_m, k0);
        stage_b(args, tile_b, k0, block_idx_x() * SGEMM_TILE_N);
        barrier();
        uint32_t depth = min_u32(args->k - k0, SGEMM_DEPTH);
        multiply(sum, tile_a + thread_idx_y() * SGEMM_ROWS * SGEMM_DEPTH, tile_b + thread_idx_x(),
                 (depth + SGEMM_UNROLL - 1) / SGEMM_UNROLL);
        barrier();
    }

    /* Through A's tile, each thread its own sums, so that the rest is a loop and not twelve copies. */
    SHARED float *mine = tile_a + thread_idx_y() * SGEMM_ROWS * SGEMM_TILE_N + thread_idx_x();
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < SGEMM_ROWS; i++)
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < SGEMM_COLS; j++)
            mine[i * SGEMM_TILE_N + j * SGEMM_LANES] = sum[i][j];

    uint32_t row = block_idx_y() * tile_m + thread_idx_y() * SGEMM_ROWS;
    uint32_t end = min_u32(args->m, row + SGEMM_ROWS);
    for (; row < end; row++, mine += SGEMM_TILE_N) {
        float *out = args->c + block_idx_z() * args->stride_c + row * args->ldc;
        float row_bias = args->flags & SGEMM_BIAS_ROW ? args->bias[row] : 0.0f;
        for (uint32_t j = 0; j < SGEMM_TILE_N; j += SGEMM_LANES) {
            uint32_t col = block_idx_x() * SGEMM_TILE_N + j + thread_idx_x();
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
