/* SPDX-License-Identifier: MIT */
/* Kernels of the operator module (lib/gpgpu/kernels/operators.mk), by the names operators launch them. */
#ifndef OPS_KERNEL_NAMES_H
#define OPS_KERNEL_NAMES_H

/* clang-format off */
#define KERNEL_NAMES(X)                                                                        \
    X(sgemm) X(sgemm_activate) X(im2col) X(col2im) X(conv2d) X(depthwise)                                        \
    X(relu) X(silu) X(gelu) X(hardsigmoid) X(sigmoid) X(tanh)                                  \
    X(fill) X(add2) X(add_bias) X(scale_ch) X(se_gate)                                         \
    X(zero_cols) X(pad_rb) X(pad_all) X(crop_cols) X(copy_part) X(interp_nearest) X(chw_to_seq) \
    X(pool_max) X(pool_avg) X(global_avg)                                                      \
    X(layer_norm) X(softmax) X(log_softmax) X(softmax_columns) X(attn_split) X(attn_softmax)   \
    X(attn_merge) X(ctc_digest) X(softmax_xent) X(relu_backward) X(silu_backward) X(gelu_backward) X(sigmoid_backward)     \
    X(tanh_backward) X(hardsigmoid_backward) X(pool_max_backward) X(pool_avg_backward)         \
    X(global_avg_backward) X(bias_backward) X(sum_rows) X(sgd_step) X(adam_step)
/* clang-format on */

#define KERNEL_ID(name) KERNEL_##name,
enum kernel_id { KERNEL_NAMES(KERNEL_ID) KERNEL_COUNT };
#undef KERNEL_ID

#endif
