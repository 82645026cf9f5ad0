/* SPDX-License-Identifier: MIT */
/*
 * Integer operators on the GPU: host arrays in, host arrays out. Each allocates device memory, copies in,
 * runs its kernel, waits and copies out. Arithmetic is that of 32-bit words: it wraps. Planes and matrices
 * are in row order, the last index fastest. gpgpu/cpu.h has the same functions on the CPU.
 *
 * All return 0 or a negative errno (drivers/gpgpu.h); -EINVAL for shapes without output elements where that
 * makes no sense, -ENOMEM when operands and result do not fit the device. Arrays are the caller's; out is
 * written only as far as given, and not used when an error is returned.
 */
#ifndef GPGPU_OPS_H
#define GPGPU_OPS_H

#include "gpgpu/runtime.h"

/* out[i] = a[i] + b[i] for i < n. */
int gpgpu_vec_add(struct gpgpu_context *ctx, const int32_t *a, const int32_t *b, int32_t *out, size_t n);

/* out[i] = max(in[i], 0) for i < n. */
int gpgpu_relu(struct gpgpu_context *ctx, const int32_t *in, int32_t *out, size_t n);

/* out[m] = a[m] * b[m] for m < count; each array holds count 4x4 matrices. */
int gpgpu_matmul_4x4(struct gpgpu_context *ctx, const int32_t *a, const int32_t *b, int32_t *out,
                     size_t count);

/*
 * out[c][y][x] = bias[c] + sum of in[y + i][x + j] * weight[c][i][j] over i, j < 3 (cross-correlation, stride
 * 1, no padding). in: in_h x in_w, both at least 3. weight: out_c x 3 x 3. bias: out_c. out: out_c x (in_h -
 * 2) x (in_w - 2).
 */
int gpgpu_conv2d_3x3(struct gpgpu_context *ctx, const int32_t *in, const int32_t *weight, const int32_t *bias,
                     int32_t *out, uint32_t in_h, uint32_t in_w, uint32_t out_c);

/* Largest of each 2x2 window, stride 2. in: c x h x w, h and w at least 2. out: c x h/2 x w/2, an odd last
 * row or column is left out. */
int gpgpu_max_pool_2x2(struct gpgpu_context *ctx, const int32_t *in, int32_t *out, uint32_t h, uint32_t w,
                       uint32_t c);

/* out[o] = bias[o] + sum of weight[o][i] * in[i]. in: in_dim. weight: out_dim x in_dim. bias, out: out_dim.
 */
int gpgpu_fc_layer(struct gpgpu_context *ctx, const int32_t *in, const int32_t *weight, const int32_t *bias,
                   int32_t *out, uint32_t in_dim, uint32_t out_dim);

#endif
