/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "gpgpu/reference.h"

void ref_add2(const uint32_t dims[4], const float *a, const uint32_t a_stride[4], const float *b,
              const uint32_t b_stride[4], float *y)
{
    for (uint32_t i = 0; i < dims[0]; i++)
        for (uint32_t j = 0; j < dims[1]; j++)
            for (uint32_t k = 0; k < dims[2]; k++)
                for (uint32_t l = 0; l < dims[3]; l++)
                    *y++ = a[i * a_stride[0] + j * a_stride[1] + k * a_stride[2] + l * a_stride[3]] +
                           b[i * b_stride[0] + j * b_stride[1] + k * b_stride[2] + l * b_stride[3]];
}

void ref_add_bias(uint32_t items, uint32_t channels, uint32_t pixels, const float *x, const float *bias,
                  enum activation activation, float *y)
{
    for (uint32_t plane = 0; plane < items * channels; plane++)
        for (uint32_t i = 0; i < pixels; i++)
            *y++ = (float)ref_activation(activation, (double)*x++ + bias[plane % channels]);
}

void ref_scale_ch(uint32_t planes, uint32_t pixels, const float *x, const float *scale, float *y)
{
    for (uint32_t plane = 0; plane < planes; plane++)
        for (uint32_t i = 0; i < pixels; i++)
            *y++ = *x++ * scale[plane];
}

static double dense(const float *weight, const float *in, uint32_t len, float bias)
{
    double sum = bias;
    for (uint32_t i = 0; i < len; i++)
        sum += (double)weight[i] * in[i];
    return sum;
}

/* Hidden unit r is computed anew for every channel that uses it: slow, but nothing to allocate. */
static double gate_input(uint32_t channels, uint32_t reduced, const float *pooled, const float *w1,
                         const float *b1, const float *w2_row, float b2)
{
    double sum = b2;
    for (uint32_t r = 0; r < reduced; r++)
        sum += w2_row[r] * fmax(dense(w1 + (size_t)r * channels, pooled, channels, b1[r]), 0);
    return sum;
}

void ref_se_gate(uint32_t items, uint32_t channels, uint32_t reduced, const float *pooled, const float *w1,
                 const float *b1, const float *w2, const float *b2, float alpha, float beta, float *gate)
{
    for (uint32_t item = 0; item < items; item++, pooled += channels)
        for (uint32_t c = 0; c < channels; c++) {
            double v = gate_input(channels, reduced, pooled, w1, b1, w2 + (size_t)c * reduced, b2[c]);
            *gate++ = (float)fmin(fmax(alpha * v + beta, 0), 1);
        }
}
