/* SPDX-License-Identifier: MIT */
/* Kernels that reduce rows: blocks stride over rows; a float of shared memory a thread. */
#include "kernel_reduce.h"

#define MINUS_INFINITY float_of_bits(0xff800000u)

/* y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over each row. */
KERNEL(layer_norm, IN(x), IN(gamma), IN(beta), OUT(y), U32(rows), U32(cols), F32(epsilon))
{
    SHARED float *scratch = shared_floats();
    uint32_t t = thread_linear(), step = block_threads();
    for (uint32_t row = block_idx_x(); row < rows; row += grid_dim_x()) {
        const float *in = x + row * cols;
        float sum = 0.0f;
        for (uint32_t j = t; j < cols; j += step)
            sum += in[j];
        float mean = block_sum(scratch, sum) / (float)cols;
        float squares = 0.0f;
        for (uint32_t j = t; j < cols; j += step)
            squares = fma_f32(in[j] - mean, in[j] - mean, squares);
        float variance = block_sum(scratch, squares) / (float)cols;
        float inverse = 1.0f / sqrt_f32(variance + epsilon);
        for (uint32_t j = t; j < cols; j += step)
            y[row * cols + j] = fma_f32((in[j] - mean) * inverse, gamma[j], beta[j]);
    }
}

/* Largest of scale * in[j * stride], j < len, over the block; -infinity when len is 0. */
static KERNEL_INLINE float row_max(const float *in, uint32_t len, uint32_t stride, float scale)
{
    float best = MINUS_INFINITY;
    for (uint32_t j = thread_linear(); j < len; j += block_threads())
        best = max_f32(best, scale * in[j * stride]);
    return block_max(shared_floats(), best);
}

/* Sum of exp(scale * in[j * stride] - shift), j < len, over the block. */
static KERNEL_INLINE float row_exp_sum(const float *in, uint32_t len, uint32_t stride, float scale,
                                       float shift)
{
    float sum = 0.0f;
    for (uint32_t j = thread_linear(); j < len; j += block_threads())
        sum += exp_f32(fma_f32(scale, in[j * stride], -shift));
    return block_sum(shared_floats(), sum);
}

/* Softmax along the middle of [outer][len][inner]; logarithm of it when log is 1. */
KERNEL(softmax, IN(x), OUT(y), U32(rows), U32(len), DIVISOR(inner), U32(log))
{
    for (uint32_t row = block_idx_x(); row < rows; row += grid_dim_x()) {
        uint32_t outer = DIVIDE(row, inner);
        uint32_t base = outer * len * inner + (row - outer * inner);
        float max = row_max(x + base, len, inner, 1.0f);
        float sum = row_exp_sum(x + base, len, inner, 1.0f, max);
        float log_sum = log ? log_f32(sum) : 0.0f;
        for (uint32_t j = thread_linear(); j < len; j += block_threads()) {
            float v = x[base + j * inner] - max;
            y[base + j * inner] = log ? v - log_sum : exp_f32(v) / sum;
        }
        barrier();
    }
}

/* Attention weights: softmax of scale * x over the first valid[item] columns of each row, 0 in the others.
 * valid may be 0: all columns. rows_per_item rows belong to a batch item. */
KERNEL(attn_softmax, IN(x), INT_IN(valid), OUT(y), U32(rows), U32(cols), DIVISOR(rows_per_item), F32(scale))
{
    for (uint32_t row = block_idx_x(); row < rows; row += grid_dim_x()) {
        const float *in = x + row * cols;
        uint32_t len = valid ? min_u32((uint32_t)valid[DIVIDE(row, rows_per_item)], cols) : cols;
        float max = row_max(in, len, 1, scale);
        float sum = row_exp_sum(in, len, 1, scale, max);
        for (uint32_t j = thread_linear(); j < cols; j += block_threads()) {
            float v = 0.0f;
            if (j < len)
                v = exp_f32(fma_f32(scale, in[j], -max)) / sum;
            y[row * cols + j] = v;
        }
        barrier();
    }
}

/* First position of `value` in the row. */
static KERNEL_INLINE uint32_t row_find(const float *in, uint32_t len, float value)
{
    uint32_t found = len;
    for (uint32_t j = thread_linear(); j < len; j += block_threads())
        found = in[j] == value && j < found ? j : found;
    return block_min_index(shared_floats(), found);
}

/* Best class of each step and its probability. x holds logits, or probabilities when is_probability is 1. */
KERNEL(ctc_digest, IN(x), INT_OUT(best), OUT(probability), U32(rows), U32(classes), U32(is_probability))
{
    for (uint32_t row = block_idx_x(); row < rows; row += grid_dim_x()) {
        const float *in = x + row * classes;
        float max = row_max(in, classes, 1, 1.0f);
        uint32_t at = row_find(in, classes, max);
        float p = is_probability ? max : 1.0f / row_exp_sum(in, classes, 1, 1.0f, max);
        if (thread_linear() == 0) {
            best[row] = (int32_t)at;
            probability[row] = p;
        }
    }
}

/* Cross-entropy of softmax(x) against a class a row, and its gradient times grad_scale. grad may be 0. */
KERNEL(softmax_xent, IN(x), INT_IN(label), OUT(loss), OUT(grad), U32(rows), U32(classes), F32(grad_scale))
{
    for (uint32_t row = block_idx_x(); row < rows; row += grid_dim_x()) {
        const float *in = x + row * classes;
        uint32_t target = (uint32_t)label[row];
        float max = row_max(in, classes, 1, 1.0f);
        float sum = row_exp_sum(in, classes, 1, 1.0f, max);
        if (thread_linear() == 0)
            loss[row] = log_f32(sum) - (in[target] - max);
        if (!grad)
            continue;
        for (uint32_t j = thread_linear(); j < classes; j += block_threads()) {
            float p = exp_f32(in[j] - max) / sum;
            grad[row * classes + j] = grad_scale * (j == target ? p - 1.0f : p);
        }
    }
}
