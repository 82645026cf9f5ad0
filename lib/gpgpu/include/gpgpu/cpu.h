/* SPDX-License-Identifier: MIT */
/*
 * The operators of gpgpu/ops.h on the CPU, written to be obviously right: what the GPU is checked against.
 * Shapes and meaning are those of gpgpu/ops.h; arithmetic wraps, too. Shapes are not checked.
 */
#ifndef GPGPU_CPU_H
#define GPGPU_CPU_H

#include <stddef.h>
#include <stdint.h>

void cpu_vec_add(const int32_t *a, const int32_t *b, int32_t *out, size_t n);
void cpu_relu(const int32_t *in, int32_t *out, size_t n);
void cpu_matmul_4x4(const int32_t *a, const int32_t *b, int32_t *out, size_t count);
void cpu_conv2d_3x3(const int32_t *in, const int32_t *weight, const int32_t *bias, int32_t *out,
                    uint32_t in_h, uint32_t in_w, uint32_t out_c);
void cpu_max_pool_2x2(const int32_t *in, int32_t *out, uint32_t h, uint32_t w, uint32_t c);
void cpu_fc_layer(const int32_t *in, const int32_t *weight, const int32_t *bias, int32_t *out,
                  uint32_t in_dim, uint32_t out_dim);

/* Index of the largest of n > 0 values, the first of several. */
size_t cpu_argmax(const int32_t *values, size_t n);

#endif
