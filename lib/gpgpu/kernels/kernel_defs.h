/* SPDX-License-Identifier: MIT */
/* What kernels and the operators that launch them agree on. */
#ifndef KERNEL_DEFS_H
#define KERNEL_DEFS_H

/* Activation fused into sgemm and the convolutions. */
enum { ACT_NONE, ACT_RELU, ACT_SILU, ACT_GELU, ACT_SIGMOID, ACT_TANH };

/* sgemm: a thread computes SGEMM_ROWS x SGEMM_COLS results, columns 32 apart so that the 32 lanes of a warp
 * read B and write C with unit stride while A is the same in all lanes. The block is 32 x warps threads, its
 * tile of C SGEMM_ROWS*warps x 32*SGEMM_COLS, its shared memory as SGEMM_SHARED says. 6 x 2 fills the 16
 * vector registers of AVX2 (12 sums, 2 of B, 1 of A), for an engine that keeps a strip of lanes in them, and
 * with a whole warp side by side the 32 of AVX-512 (24, 4 and 1). */
#define SGEMM_LANES 32
#define SGEMM_ROWS  6
#define SGEMM_COLS  2
#define SGEMM_WARPS 16 /* at most */
#define SGEMM_DEPTH                                                                                          \
    128 /* of a step over k: a barrier's cost is spread over it, and the tile still fits an L1 cache */
#define SGEMM_TILE_N (SGEMM_LANES * SGEMM_COLS)
#define SGEMM_UNROLL 4 /* of k */

/* A tile of B of so many rows; the results take its place at the end. */
#define SGEMM_SHARED(rows) (4 * SGEMM_TILE_N * (rows))

enum { SGEMM_TRANS_A = 1, SGEMM_TRANS_B = 2, SGEMM_BIAS_ROW = 4, SGEMM_BIAS_COL = 8 };

/* Output channels a thread of the direct convolutions computes. */
#define CONV_CHANNELS 8

enum { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT };

/* Side of the square tile of chw_to_seq. */
#define TRANSPOSE_TILE 32

#endif
