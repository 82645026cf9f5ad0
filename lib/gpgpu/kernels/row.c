/* SPDX-License-Identifier: MIT */
/* Kernels that reduce rows: blocks stride over rows; a float of shared memory a thread. */
#include "kernel_reduce.h"

#define MINUS_INFINITY float_of_bits(0xff800000u)

/* y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over each row. */
KERNEL(layer_norm, IN(x), IN(gamma), IN(beta), OUT(y), U32(rows), U32(cols), F32(epsilon))
{
    SHARED float *scratch = shared_floats();
    uint32_t t = thread_idx_x(), step = block_dim_x();
    FOR_EACH_ROW (row, rows) {
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

/* Largest of scale * in[j], j < len, over the block; -infinity when len is 0. */
static KERNEL_INLINE float row_max(const float *in, uint32_t len, float scale)
{
    float best = MINUS_INFINITY;
    for (uint32_t j = thread_idx_x(); j < len; j += block_dim_x())
        best = max_f32(best, scale * in[j]);
    return block_max(shared_floats(), best);
}

/* Sum of exp(scale * in[j] - shift), j < len, over the block. */
static KERNEL_INLINE float row_exp_sum(const float *in, uint32_t len, float scale, float shift)
{
    float sum = 0.0f;
    for (uint32_t j = thread_idx_x(); j < len; j += block_dim_x())
        sum += exp_below_one(fma_f32(scale, in[j], -shift));
    return block_sum(shared_floats(), sum);
}

/* out[j] = exp(scale * in[j] - shift), j < len, each thread's share; their sum over the block. Kept for a
 * second visit, as an exponential costs more than a store. */
static KERNEL_INLINE float row_exp(const float *in, float *out, uint32_t len, float scale, float shift)
{
    float sum = 0.0f;
    for (uint32_t j = thread_idx_x(); j < len; j += block_dim_x()) {
        float e = exp_below_one(fma_f32(scale, in[j], -shift));
        out[j] = e;
        sum += e;
    }
    return block_sum(shared_floats(), sum);
}

KERNEL(softmax, IN(x), OUT(y), U32(rows), U32(len))
{
    FOR_EACH_ROW (row, rows) {
        float *out = y + row * len;
        float max = row_max(x + row * len, len, 1.0f);
        float inverse = 1.0f / row_exp(x + row * len, out, len, 1.0f, max);
        for (uint32_t j = thread_idx_x(); j < len; j += block_dim_x())
            out[j] *= inverse;
    }
}

KERNEL(log_softmax, IN(x), OUT(y), U32(rows), U32(len))
{
    FOR_EACH_ROW (row, rows) {
        const float *in = x + row * len;
        float max = row_max(in, len, 1.0f);
        float log_sum = log_f32(row_exp_sum(in, len, 1.0f, max));
        for (uint32_t j = thread_idx_x(); j < len; j += block_dim_x())
            y[row * len + j] = in[j] - max - log_sum;
    }
}

/* Softmax along the middle of [outer][len][inner], n = outer * inner: a thread a column, neighbours side by
 * side. */
KERNEL(softmax_columns, IN(x), OUT(y), U32(n), U32(len), DIVISOR(inner), U32(log))
{
    FOR_EACH (i, n) {
        uint32_t outer = DIVIDE(i, inner), first = outer * len * inner + (i - outer * inner);
        uint32_t end = first + len * inner;
        float max = MINUS_INFINITY, sum = 0.0f;
        for (uint32_t j = first; j < end; j += inner)
            max = max_f32(max, x[j]);
        float lost = 0.0f; /* of the sum's low bits (Kahan): one thread adds up all terms */
        for (uint32_t j = first; j < end; j += inner) {
            float term = exp_below_one(x[j] - max) - lost, before = sum;
            sum += term;
            lost = (sum - before) - term;
        }
        float log_sum = log ? log_f32(sum) : 0.0f, inverse = 1.0f / sum;
        for (uint32_t j = first; j < end; j += inner)
            y[j] = log ? x[j] - max - log_sum : exp_below_one(x[j] - max) * inverse;
    }
}

/* Attention weights: softmax of scale * x over the first valid[item] columns of each row, 0 in the others.
 * valid may be 0: all columns. rows_per_item rows belong to a batch item. */
KERNEL(attn_softmax, IN(x), INT_IN(valid), OUT(y), U32(rows), U32(cols), DIVISOR(rows_per_item), F32(scale))
{
    FOR_EACH_ROW (row, rows) {
        const float *in = x + row * cols;
        uint32_t len = valid ? min_u32((uint32_t)valid[DIVIDE(row, rows_per_item)], cols) : cols;
        float max = row_max(in, len, scale);
        float inverse = 1.0f / row_exp(in, y + row * cols, len, scale, max);
        for (uint32_t j = thread_idx_x(); j < cols; j += block_dim_x())
            y[row * cols + j] = keep_if(j < len, y[row * cols + j] * inverse);
    }
}

/* First position of `value` in the row. */
static KERNEL_INLINE uint32_t row_find(const float *in, uint32_t len, float value)
{
    uint32_t found = len;
    for (uint32_t j = thread_idx_x(); j < len; j += block_dim_x())
        found = in[j] == value && j < found ? j : found;
    return block_min_index(shared_floats(), found);
}

/* Best class of each step and its probability. x holds logits, or probabilities when is_probability is 1. */
KERNEL(ctc_digest, IN(x), INT_OUT(best), OUT(probability), U32(rows), U32(classes), U32(is_probability))
{
    FOR_EACH_ROW (row, rows) {
        const float *in = x + row * classes;
        float max = row_max(in, classes, 1.0f);
        uint32_t at = row_find(in, classes, max);
        float p = is_probability ? max : 1.0f / row_exp_sum(in, classes, 1.0f, max);
        if (thread_idx_x() == 0) {
            best[row] = (int32_t)at;
            probability[row] = p;
        }
    }
}

/* Cross-entropy of softmax(x) against a class a row, and its gradient times grad_scale. grad may be 0. */
KERNEL(softmax_xent, IN(x), INT_IN(label), OUT(loss), OUT(grad), U32(rows), U32(classes), F32(grad_scale))
{
    FOR_EACH_ROW (row, rows) {
        const float *in = x + row * classes;
        uint32_t target = (uint32_t)label[row];
        float max = row_max(in, classes, 1.0f);
        float sum = row_exp_sum(in, classes, 1.0f, max);
        if (thread_idx_x() == 0)
            loss[row] = log_f32(sum) - (in[target] - max);
        if (!grad)
            continue;
        for (uint32_t j = thread_idx_x(); j < classes; j += block_dim_x()) {
            float p = exp_below_one(in[j] - max) / sum;
            grad[row * classes + j] = grad_scale * (j == target ? p - 1.0f : p);
        }
    }
}
