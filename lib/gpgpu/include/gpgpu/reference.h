/* SPDX-License-Identifier: MIT */
/*
 * The operators of gpgpu/operators.h on the CPU: plain loops, sums in double, one rounding at the end. They
 * are what a device is checked against, so they are written to be obviously right, not fast. Arrays are
 * row-major; shapes are not checked. A NULL bias means none.
 */
#ifndef GPGPU_REFERENCE_H
#define GPGPU_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "gpgpu/shapes.h"

/* Value of an activation, in double. */
double ref_activation(enum activation kind, double v);

/* Its derivative at v. */
double ref_activation_derivative(enum activation kind, double v);

void ref_sgemm(const struct gemm_shape *s, const float *a, const float *b, const float *bias, float *c);
void ref_im2col(const struct conv_shape *s, const float *x, float *col);
void ref_col2im(const struct conv_shape *s, const float *col, const float *bias, float *x);
void ref_conv2d(const struct conv_shape *s, const float *x, const float *weight, const float *bias,
                enum activation activation, float *y);
void ref_conv_transpose(const struct conv_shape *s, const float *x, const float *weight, const float *bias,
                        enum activation activation, float *y);
/* Gradients of ref_conv2d() without activation. */
void ref_conv2d_backward(const struct conv_shape *s, const float *x, const float *weight, const float *dy,
                         float *dx, float *dw, float *db);

void ref_activate(enum activation kind, const float *x, float *y, size_t n);
void ref_activate_backward(enum activation kind, const float *x, const float *dy, float *dx, size_t n);
void ref_hardsigmoid(const float *x, float alpha, float beta, float *y, size_t n);
void ref_hardsigmoid_backward(const float *x, const float *dy, float alpha, float beta, float *dx, size_t n);

/* y [d0..d3] = a + b; a stride of 0 repeats the operand along that dimension. */
void ref_add2(const uint32_t dims[4], const float *a, const uint32_t a_stride[4], const float *b,
              const uint32_t b_stride[4], float *y);
/* planes = items * channels */
void ref_add_bias(uint32_t items, uint32_t channels, uint32_t pixels, const float *x, const float *bias,
                  enum activation activation, float *y);
void ref_scale_ch(uint32_t planes, uint32_t pixels, const float *x, const float *scale, float *y);
void ref_se_gate(uint32_t items, uint32_t channels, uint32_t reduced, const float *pooled, const float *w1,
                 const float *b1, const float *w2, const float *b2, float alpha, float beta, float *gate);

/* x [items][rows][w] in place. */
void ref_zero_cols(uint32_t items, uint32_t rows, uint32_t w, const int32_t *valid, float *x);
void ref_pad_rb(uint32_t planes, uint32_t h, uint32_t w, uint32_t oh, uint32_t ow, const float *x, float *y);
void ref_pad_all(const struct pad_shape *s, const float *x, float *y);
void ref_crop_cols(uint32_t rows, uint32_t w, uint32_t left, uint32_t ow, const float *x, float *y);
/* x [outer][x_len][inner], y [outer][y_len][inner]: `count` positions of the middle. */
void ref_copy_part(uint32_t outer, uint32_t inner, const float *x, uint32_t x_len, uint32_t x_from, float *y,
                   uint32_t y_len, uint32_t y_from, uint32_t count);
void ref_interp_nearest(const struct resize_shape *s, const float *x, float *y);
void ref_chw_to_seq(uint32_t items, uint32_t channels, uint32_t pixels, const float *x, float *y);

void ref_pool_max(const struct pool_shape *s, const float *x, float *y, int32_t *index);
void ref_pool_avg(const struct pool_shape *s, const float *x, float *y);
void ref_global_avg(uint32_t planes, uint32_t pixels, const float *x, float *y);
void ref_pool_max_backward(const struct pool_shape *s, const float *dy, const int32_t *index, float *dx);
void ref_pool_avg_backward(const struct pool_shape *s, const float *dy, float *dx);
void ref_global_avg_backward(uint32_t planes, uint32_t pixels, const float *dy, float *dx);

void ref_layer_norm(uint32_t rows, uint32_t cols, const float *x, const float *gamma, const float *beta,
                    float epsilon, float *y);
/* Along the middle of [outer][len][inner]. */
void ref_softmax(uint32_t outer, uint32_t len, uint32_t inner, const float *x, bool log, float *y);
void ref_attn_split(uint32_t batch, uint32_t heads, uint32_t steps, uint32_t dim, const float *x, float *y);
void ref_attn_softmax(uint32_t items, uint32_t rows, uint32_t cols, const float *x, const int32_t *valid,
                      float scale, float *y);
void ref_attn_merge(uint32_t batch, uint32_t heads, uint32_t steps, uint32_t dim, const float *x, float *y);
void ref_ctc_digest(uint32_t rows, uint32_t classes, const float *x, bool is_probability, int32_t *best,
                    float *probability);

void ref_softmax_xent(uint32_t rows, uint32_t classes, const float *x, const int32_t *label, float grad_scale,
                      float *loss, float *grad);
void ref_bias_backward(uint32_t items, uint32_t channels, uint32_t pixels, const float *dy, float *db);
void ref_sgd_step(size_t n, float *w, const float *g, float *v, float rate, float momentum, float dampening,
                  float decay, bool nesterov);
void ref_adam_step(size_t n, float *w, const float *g, float *m, float *v, float rate, float beta1,
                   float beta2, float epsilon, float decay, uint32_t step);

#endif
