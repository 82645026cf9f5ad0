/* SPDX-License-Identifier: MIT */
#include "gpgpu/cpu.h"

/* Signed overflow is undefined in C; the device wraps. */
static int32_t add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t mul(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

void cpu_vec_add(const int32_t *a, const int32_t *b, int32_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = add(a[i], b[i]);
}

void cpu_relu(const int32_t *in, int32_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i] > 0 ? in[i] : 0;
}

void cpu_matmul_4x4(const int32_t *a, const int32_t *b, int32_t *out, size_t count)
{
    for (size_t m = 0; m < count; m++, a += 16, b += 16, out += 16)
        for (int row = 0; row < 4; row++)
            for (int col = 0; col < 4; col++) {
                int32_t sum = 0;
                for (int k = 0; k < 4; k++)
                    sum = add(sum, mul(a[row * 4 + k], b[k * 4 + col]));
                out[row * 4 + col] = sum;
            }
}

static int32_t window_3x3(const int32_t *in, size_t row_stride, const int32_t *weight)
{
    int32_t sum = 0;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            sum = add(sum, mul(in[i * row_stride + j], weight[i * 3 + j]));
    return sum;
}

void cpu_conv2d_3x3(const int32_t *in, const int32_t *weight, const int32_t *bias, int32_t *out,
                    uint32_t in_h, uint32_t in_w, uint32_t out_c)
{
    for (size_t c = 0; c < out_c; c++)
        for (size_t y = 0; y < in_h - 2; y++)
            for (size_t x = 0; x < in_w - 2; x++)
                *out++ = add(bias[c], window_3x3(&in[y * in_w + x], in_w, &weight[c * 9]));
}

static int32_t max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

void cpu_max_pool_2x2(const int32_t *in, int32_t *out, uint32_t h, uint32_t w, uint32_t c)
{
    for (size_t plane = 0; plane < c; plane++)
        for (size_t y = 0; y < h / 2; y++)
            for (size_t x = 0; x < w / 2; x++) {
                const int32_t *top = &in[(plane * h + 2 * y) * w + 2 * x];
                *out++ = max(max(top[0], top[1]), max(top[w], top[w + 1]));
            }
}

void cpu_fc_layer(const int32_t *in, const int32_t *weight, const int32_t *bias, int32_t *out,
                  uint32_t in_dim, uint32_t out_dim)
{
    for (size_t o = 0; o < out_dim; o++) {
        out[o] = bias[o];
        for (size_t i = 0; i < in_dim; i++)
            out[o] = add(out[o], mul(weight[o * in_dim + i], in[i]));
    }
}

size_t cpu_argmax(const int32_t *values, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}
