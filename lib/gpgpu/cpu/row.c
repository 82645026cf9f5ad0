/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "gpgpu/reference.h"

void ref_layer_norm(uint32_t rows, uint32_t cols, const float *x, const float *gamma, const float *beta,
                    float epsilon, float *y)
{
    for (uint32_t row = 0; row < rows; row++, x += cols, y += cols) {
        double mean = 0, variance = 0;
        for (uint32_t j = 0; j < cols; j++)
            mean += x[j] / (double)cols;
        for (uint32_t j = 0; j < cols; j++)
            variance += (x[j] - mean) * (x[j] - mean) / cols;
        for (uint32_t j = 0; j < cols; j++)
            y[j] = (float)((x[j] - mean) / sqrt(variance + epsilon) * gamma[j] + beta[j]);
    }
}

/* Largest of scale * x[j * stride], j < len. */
static double row_max(const float *x, uint32_t len, uint32_t stride, double scale)
{
    double max = -INFINITY;
    for (size_t j = 0; j < len; j++)
        max = fmax(max, scale * x[j * stride]);
    return max;
}

static double row_exp_sum(const float *x, uint32_t len, uint32_t stride, double scale, double shift)
{
    double sum = 0;
    for (size_t j = 0; j < len; j++)
        sum += exp(scale * x[j * stride] - shift);
    return sum;
}

void ref_softmax(uint32_t outer, uint32_t len, uint32_t inner, const float *x, bool log_of_it, float *y)
{
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < inner; i++) {
            size_t base = o * len * inner + i;
            double max = row_max(x + base, len, inner, 1), sum = row_exp_sum(x + base, len, inner, 1, max);
            for (size_t j = 0; j < len; j++) {
                double v = x[base + j * inner] - max;
                y[base + j * inner] = (float)(log_of_it ? v - log(sum) : exp(v) / sum);
            }
        }
}

void ref_attn_split(uint32_t batch, uint32_t heads, uint32_t steps, uint32_t dim, const float *x, float *y)
{
    for (size_t which = 0; which < 3; which++)
        for (size_t item = 0; item < batch; item++)
            for (size_t head = 0; head < heads; head++)
                for (size_t step = 0; step < steps; step++)
                    for (size_t d = 0; d < dim; d++)
                        *y++ = x[(((item * steps + step) * 3 + which) * heads + head) * dim + d];
}

void ref_attn_softmax(uint32_t items, uint32_t rows, uint32_t cols, const float *x, const int32_t *valid,
                      float scale, float *y)
{
    for (uint32_t row = 0; row < items * rows; row++, x += cols, y += cols) {
        uint32_t len = valid && (uint32_t)valid[row / rows] < cols ? (uint32_t)valid[row / rows] : cols;
        double max = row_max(x, len, 1, scale), sum = row_exp_sum(x, len, 1, scale, max);
        for (uint32_t j = 0; j < cols; j++)
            y[j] = j < len ? (float)(exp((double)scale * x[j] - max) / sum) : 0;
    }
}

void ref_attn_merge(uint32_t batch, uint32_t heads, uint32_t steps, uint32_t dim, const float *x, float *y)
{
    for (size_t item = 0; item < batch; item++)
        for (size_t step = 0; step < steps; step++)
            for (size_t head = 0; head < heads; head++)
                for (size_t d = 0; d < dim; d++)
                    *y++ = x[((item * heads + head) * steps + step) * dim + d];
}

void ref_ctc_digest(uint32_t rows, uint32_t classes, const float *x, bool is_probability, int32_t *best,
                    float *probability)
{
    for (uint32_t row = 0; row < rows; row++, x += classes) {
        uint32_t at = 0;
        for (uint32_t j = 1; j < classes; j++)
            at = x[j] > x[at] ? j : at;
        best[row] = (int32_t)at;
        probability[row] = is_probability ? x[at] : (float)(1 / row_exp_sum(x, classes, 1, 1, x[at]));
    }
}

void ref_softmax_xent(uint32_t rows, uint32_t classes, const float *x, const int32_t *label, float grad_scale,
                      float *loss, float *grad)
{
    for (uint32_t row = 0; row < rows; row++, x += classes) {
        double max = row_max(x, classes, 1, 1), sum = row_exp_sum(x, classes, 1, 1, max);
        loss[row] = (float)(log(sum) - (x[label[row]] - max));
        for (uint32_t j = 0; grad && j < classes; j++)
            *grad++ = (float)(grad_scale * (exp(x[j] - max) / sum - ((int32_t)j == label[row])));
    }
}
