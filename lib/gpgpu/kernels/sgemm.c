/* SPDX-License-Identifier: MIT */
/*
 * C = activation(alpha op(A) op(B) + beta C + bias), batched over grid z. Row-major; op transposes as flags
 * say. Blocks stage tiles of A and B in shared memory and step over k; kernel_defs.h explains the tile.
 */
#include "kernel_activation.h"

/* A matrix in memory, seen untransposed: element (r, c) at data[r * row_stride + c * col_stride]. */
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

/* sum += A tile * B tile. A's element (i, k) is at a[i * row_step + k * k_step]. */
static KERNEL_INLINE void multiply(float sum[SGEMM_ROWS][SGEMM_COLS], const SHARED float *a,
                                   uint32_t row_step, uint32_t k_step, const SHARED float *b)
{
#pragma clang loop unroll_count(2)
    for (uint32_t k = 0; k < SGEMM_DEPTH; k++) {
        float bv[SGEMM_COLS];
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < SGEMM_COLS; j++)
            bv[j] = b[j * SGEMM_LANES];
#pragma clang loop unroll(full)
        for (uint32_t i = 0; i < SGEMM_ROWS; i++) {
            float av = a[i * row_step];
#pragma clang loop unroll(full)
            for (uint32_t j = 0; j < SGEMM_COLS; j++)
                sum[i][j] = fma_f32(av, bv[j], sum[i][j]);
        }
        a += k_step;
        b += SGEMM_TILE_N;
    }
}

/* What is done to a sum before it is stored. */
struct epilogue {
    float alpha, beta;
    const float *col_bias; /* of this thread's first column, 0: none */
    uint32_t activation;
};

static KERNEL_INLINE void finish(const struct epilogue *e, float sum, float row_bias, uint32_t j, float *out)
{
    float v = fma_f32(e->alpha, sum, row_bias);
    if (e->col_bias)
        v += e->col_bias[j];
    if (e->beta != 0.0f)
        v = fma_f32(e->beta, out[j], v);
    out[j] = activate_cheap(e->activation, v);
}

KERNEL(sgemm, IN(a), IN(b), OUT(c), IN(bias), U32(m), U32(n), U32(k), U32(lda), U32(ldb), U32(ldc),
       U32(stride_a), U32(stride_b), U32(stride_c), U32(flags), U32(activation), F32(alpha), F32(beta))
{
    uint32_t warps = block_dim_y();
    uint32_t tile_m = SGEMM_ROWS * warps;
    uint32_t pitch_m = SGEMM_PITCH_M(warps);
    SHARED float *tile_a = shared_floats();
    SHARED float *tile_b = tile_a + SGEMM_DEPTH * pitch_m;
    uint32_t row0 = block_idx_y() * tile_m;
    uint32_t col0 = block_idx_x() * SGEMM_TILE_N;
    uint32_t trans_a = flags & SGEMM_TRANS_A;
    uint32_t trans_b = flags & SGEMM_TRANS_B;

    /* A transposed lies as k x m in memory and in its tile; B's tile always is k x n. */
    struct matrix ma = {a + block_idx_z() * stride_a, trans_a ? k : m, trans_a ? m : k, lda, 1};
    struct matrix mb = {b + block_idx_z() * stride_b, k, n, trans_b ? 1 : ldb, trans_b ? ldb : 1};
    float sum[SGEMM_ROWS][SGEMM_COLS] = {{0}};
    for (uint32_t k0 = 0; k0 < k; k0 += SGEMM_DEPTH) {
        if (trans_a)
            stage(tile_a, SGEMM_DEPTH, pitch_m, &ma, k0, row0);
        else
            stage(tile_a, tile_m, SGEMM_DEPTH, &ma, row0, k0);
        stage(tile_b, SGEMM_DEPTH, SGEMM_TILE_N, &mb, k0, col0);
        barrier();
        uint32_t first = thread_idx_y() * SGEMM_ROWS;
        if (trans_a)
            multiply(sum, tile_a + first, 1, pitch_m, tile_b + thread_idx_x());
        else
            multiply(sum, tile_a + first * SGEMM_DEPTH, SGEMM_DEPTH, 1, tile_b + thread_idx_x());
        barrier();
    }

    uint32_t row = row0 + thread_idx_y() * SGEMM_ROWS, col = col0 + thread_idx_x();
    if (row >= m || col >= n)
        return;
    float *out = c + block_idx_z() * stride_c + row * ldc + col;
    uint32_t rows = min_u32(m - row, SGEMM_ROWS);
    uint32_t cols = min_u32((n - col + SGEMM_LANES - 1) / SGEMM_LANES, SGEMM_COLS);
    struct epilogue e = {alpha, beta, flags & SGEMM_BIAS_COL ? bias + col : 0, activation};
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < SGEMM_ROWS; i++) {
        float row_bias = flags & SGEMM_BIAS_ROW && i < rows ? bias[row + i] : 0.0f;
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < SGEMM_COLS; j++)
            if (i < rows && j < cols)
                finish(&e, sum[i][j], row_bias, j * SGEMM_LANES, out + i * ldc);
    }
    activate_stored(activation, out, rows, ldc, cols, SGEMM_LANES);
}
