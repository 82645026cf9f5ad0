/* SPDX-License-Identifier: MIT */
/*
 * Float operators on tensors of one device. docs/operators.md lists shapes, cost and precision; the CPU
 * references are in gpgpu/reference.h.
 *
 * Results go to tensors the caller has created; every shape is checked against the others and a mismatch is
 * -EINVAL with a message (tensor_error()). The call returns before the device has done the work; errors of
 * the work itself come from tensor_sync() or tensor_read(). Where ONNX has the operator, the meaning is
 * ONNX's. Unless said otherwise the result may not overlap an input; an operator that works element by
 * element may write over its input. A NULL bias means none.
 */
#ifndef GPGPU_OPERATORS_H
#define GPGPU_OPERATORS_H

#include "gpgpu/shapes.h"
#include "gpgpu/tensor.h"

/* ---- products -------------------------------------------------------------------------------------------
 */

struct gemm_params {
    bool trans_a, trans_b;
    bool bias_per_row; /* bias has a value a row of the result; else one a column */
    float alpha, beta;
    enum activation activation;
};

#define GEMM_PLAIN ((struct gemm_params){.alpha = 1.0f})

/* c [batch][m][n] = activation(alpha op(a) op(b) + beta c + bias). Rank 2 or 3; an operand of rank 2 serves
 * every batch item. */
int tensor_sgemm(const struct tensor *a, const struct tensor *b, const struct tensor *bias, struct tensor *c,
                 const struct gemm_params *params);

/* y [batch][out] = activation(x [batch][in] weight [out][in]^T + bias [out]). */
int tensor_dense(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                 enum activation activation, struct tensor *y);

/* ---- convolution ----------------------------------------------------------------------------------------
 */

struct conv_params {
    struct window win; /* kh and kw must be the weight's */
    uint32_t groups;
    enum activation activation;
};

/* col [n][c kh kw][oh ow] = every window of x as a column. */
int tensor_im2col(const struct tensor *x, const struct window *win, struct tensor *col);

/* x [n][c][h][w] = bias[c] + the sum of what tensor_im2col() copies from there: its transpose. */
int tensor_col2im(const struct tensor *col, const struct window *win, const struct tensor *bias,
                  struct tensor *x);

/* y [n][oc][oh][ow] of x [n][ic][h][w], weight [oc][ic / groups][kh][kw]. Chooses the way by shape:
 * depthwise, product with x itself (1 x 1), im2col and product, direct. */
int tensor_conv2d(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                  const struct conv_params *params, struct tensor *y);

/* The same, one way each: for tests and measurements. */
int tensor_conv2d_direct(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                         const struct conv_params *params, struct tensor *y);
int tensor_conv2d_im2col(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                         const struct conv_params *params, struct tensor *y);

/* groups = ic = oc: weight [c][1][kh][kw]. */
int tensor_depthwise(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                     const struct conv_params *params, struct tensor *y);

/* ONNX ConvTranspose: weight [ic][oc / groups][kh][kw]; y's size says the output padding. */
int tensor_conv_transpose(const struct tensor *x, const struct tensor *weight, const struct tensor *bias,
                          const struct conv_params *params, struct tensor *y);

/* ---- element by element ---------------------------------------------------------------------------------
 */

int tensor_relu(const struct tensor *x, struct tensor *y);
int tensor_silu(const struct tensor *x, struct tensor *y);
int tensor_gelu(const struct tensor *x, struct tensor *y); /* x/2 (1 + erf(x/sqrt 2)) */
int tensor_sigmoid(const struct tensor *x, struct tensor *y);
int tensor_tanh(const struct tensor *x, struct tensor *y);
int tensor_hardsigmoid(const struct tensor *x, float alpha, float beta, struct tensor *y);

/* y = value. */
int tensor_fill(struct tensor *y, float value);

/* y = a + b with NumPy's broadcasting, up to rank 4. */
int tensor_add2(const struct tensor *a, const struct tensor *b, struct tensor *y);

/* y [n][c]... = activation(x + bias[c]). */
int tensor_add_bias(const struct tensor *x, const struct tensor *bias, enum activation activation,
                    struct tensor *y);

/* y [n][c]... = x * scale [n][c]. */
int tensor_scale_ch(const struct tensor *x, const struct tensor *scale, struct tensor *y);

/* gate [n][c] = clamp(alpha (w2 relu(w1 pooled + b1) + b2) + beta, 0, 1); pooled [n][c], w1 [r][c], w2
 * [c][r]. */
int tensor_se_gate(const struct tensor *pooled, const struct tensor *w1, const struct tensor *b1,
                   const struct tensor *w2, const struct tensor *b2, float alpha, float beta,
                   struct tensor *gate);

/* ---- moving data ----------------------------------------------------------------------------------------
 */

/* Clear the columns of x [n]...[w] at and past valid[item] (int32), in place. */
int tensor_zero_cols(struct tensor *x, const struct tensor *valid);

/* y [..][oh][ow] = x [..][h][w] with zeros to the right and below. */
int tensor_pad_rb(const struct tensor *x, struct tensor *y);

/* Padding of the last two dimensions, as ONNX Pad. */
int tensor_pad_all(const struct tensor *x, const struct pad_shape *pad, struct tensor *y);

/* y [..][ow] = columns left .. left + ow - 1 of x. */
int tensor_crop_cols(const struct tensor *x, uint32_t left, struct tensor *y);

/* Copy `count` positions along an axis from x, starting at x_from, to y, starting at y_from: slicing when y
 * is the smaller, concatenation when x is. The other dimensions must agree. */
int tensor_copy_part(const struct tensor *x, uint32_t axis, uint32_t x_from, uint32_t count, struct tensor *y,
                     uint32_t y_from);

/* Nearest-neighbour resizing of the last two dimensions; planes and sizes of shape are taken from x and y. */
int tensor_interp_nearest(const struct tensor *x, const struct resize_shape *shape, struct tensor *y);

/* y [n][h w][c] = x [n][c][h][w]. */
int tensor_chw_to_seq(const struct tensor *x, struct tensor *y);

/* ---- pooling --------------------------------------------------------------------------------------------
 */

/* index (int32, y's shape), unless NULL, gets the maximum's place in its plane: pool_max_backward wants it.
 */
int tensor_pool_max(const struct tensor *x, const struct window *win, struct tensor *y, struct tensor *index);
int tensor_pool_avg(const struct tensor *x, const struct window *win, bool include_pad, struct tensor *y);

/* y [n][c] = the mean of each plane of x [n][c][h][w]. */
int tensor_global_avg(const struct tensor *x, struct tensor *y);

/* ---- rows -----------------------------------------------------------------------------------------------
 */

/* Over the last dimension, gamma and beta of its size. */
int tensor_layer_norm(const struct tensor *x, const struct tensor *gamma, const struct tensor *beta,
                      float epsilon, struct tensor *y);

/* Softmax along an axis, or its logarithm. */
int tensor_softmax(const struct tensor *x, uint32_t axis, bool log, struct tensor *y);

/* Queries, keys and values by head: y [3][n][heads][steps][dim] of x [n][steps][3 heads dim]. */
int tensor_attn_split(const struct tensor *x, struct tensor *y);

/* y = softmax(scale x) along the last dimension of x [n][heads][steps][steps], over the first valid[item]
 * columns (int32; NULL: all), 0 in the others. */
int tensor_attn_softmax(const struct tensor *x, const struct tensor *valid, float scale, struct tensor *y);

/* y [n][steps][heads dim] of x [n][heads][steps][dim]. */
int tensor_attn_merge(const struct tensor *x, struct tensor *y);

/* Per row of x [..][classes]: best class (int32; the first of equals) and its probability; x holds logits, or
 * probabilities when is_probability. classes < 2^24. */
int tensor_ctc_digest(const struct tensor *x, bool is_probability, struct tensor *best,
                      struct tensor *probability);

/* ---- training -------------------------------------------------------------------------------------------
 */

/* loss [rows] = -log softmax(x)[label], grad = grad_scale (softmax(x) - onehot(label)); grad may be NULL.
 * label is int32 [rows], each in range: a wild one reads past the row. */
int tensor_softmax_xent(const struct tensor *x, const struct tensor *label, float grad_scale,
                        struct tensor *loss, struct tensor *grad);

/* dx = dy times the derivative at x; dx may be dy. */
int tensor_relu_backward(const struct tensor *x, const struct tensor *dy, struct tensor *dx);
int tensor_silu_backward(const struct tensor *x, const struct tensor *dy, struct tensor *dx);
int tensor_gelu_backward(const struct tensor *x, const struct tensor *dy, struct tensor *dx);
int tensor_sigmoid_backward(const struct tensor *x, const struct tensor *dy, struct tensor *dx);
int tensor_tanh_backward(const struct tensor *x, const struct tensor *dy, struct tensor *dx);
int tensor_hardsigmoid_backward(const struct tensor *x, const struct tensor *dy, float alpha, float beta,
                                struct tensor *dx);

/* Gradients of tensor_conv2d() without activation; any of dx, dw, db may be NULL. */
int tensor_conv2d_backward(const struct tensor *x, const struct tensor *weight, const struct tensor *dy,
                           const struct conv_params *params, struct tensor *dx, struct tensor *dw,
                           struct tensor *db);

/* Gradients of tensor_dense() without activation; any of dx, dw, db may be NULL. */
int tensor_dense_backward(const struct tensor *x, const struct tensor *weight, const struct tensor *dy,
                          struct tensor *dx, struct tensor *dw, struct tensor *db);

/* db[c] = the sum of dy [n][c]... over everything but c. */
int tensor_bias_backward(const struct tensor *dy, struct tensor *db);

int tensor_pool_max_backward(const struct tensor *dy, const struct tensor *index, const struct window *win,
                             struct tensor *dx);
int tensor_pool_avg_backward(const struct tensor *dy, const struct window *win, bool include_pad,
                             struct tensor *dx);
int tensor_global_avg_backward(const struct tensor *dy, struct tensor *dx);

/* g' = g + decay w; v = momentum v + dampening g'; w -= rate v, with nesterov rate (g' + momentum v). */
struct sgd_params {
    float rate, momentum, dampening, decay;
    bool nesterov;
};
int tensor_sgd_step(struct tensor *w, const struct tensor *g, struct tensor *v,
                    const struct sgd_params *params);

/* Adam [Kingma & Ba 2015, algorithm 1]; step counts from 1. */
struct adam_params {
    float rate, beta1, beta2, epsilon, decay;
    uint32_t step;
};
int tensor_adam_step(struct tensor *w, const struct tensor *g, struct tensor *m, struct tensor *v,
                     const struct adam_params *params);

#endif
