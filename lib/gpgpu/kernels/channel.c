/* SPDX-License-Identifier: MIT */
/* Kernels that combine a tensor with something smaller: bias, gates, broadcast addition. */
#include "kernel_activation.h"

/* y [planes][pixels] = activation(x + bias[channel]); y may be x. */
KERNEL(add_bias, IN(x), IN(bias), OUT(y), U32(n), DIVISOR(pixels), DIVISOR(channels), U32(activation))
{
    FOR_EACH (i, n) {
        uint32_t plane = DIVIDE(i, pixels);
        uint32_t ch = plane - DIVIDE(plane, channels) * channels;
        y[i] = activate(activation, x[i] + bias[ch]);
    }
}

/* y [planes][pixels] = x * scale[plane]; y may be x. */
KERNEL(scale_ch, IN(x), IN(scale), OUT(y), U32(n), DIVISOR(pixels))
{
    FOR_EACH (i, n)
        y[i] = x[i] * scale[DIVIDE(i, pixels)];
}

/* y = a + b over four dimensions d0..d3; a stride of 0 repeats the operand along that dimension. */
KERNEL(add2, IN(a), IN(b), OUT(y), U32(n), U32(same_shape), DIVISOR(d1), DIVISOR(d2), DIVISOR(d3), U32(a0),
       U32(a1), U32(a2), U32(a3), U32(b0), U32(b1), U32(b2), U32(b3))
{
    if (same_shape) {
        FOR_EACH (i, n)
            y[i] = a[i] + b[i];
        return;
    }
    FOR_EACH (i, n) {
        uint32_t r2 = DIVIDE(i, d3);
        uint32_t i3 = i - r2 * d3;
        uint32_t r1 = DIVIDE(r2, d2);
        uint32_t i2 = r2 - r1 * d2;
        uint32_t i0 = DIVIDE(r1, d1);
        uint32_t i1 = r1 - i0 * d1;
        y[i] = a[i0 * a0 + i1 * a1 + i2 * a2 + i3 * a3] + b[i0 * b0 + i1 * b1 + i2 * b2 + i3 * b3];
    }
}

/* Sum of row . v over len elements. */
static KERNEL_INLINE float dot(const float *row, const SHARED float *v, uint32_t len)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < len; i++)
        sum = fma_f32(row[i], v[i], sum);
    return sum;
}

/*
 * Squeeze-and-excitation gate: hardsigmoid(w2 relu(w1 pooled + b1) + b2). One block a batch item; shared
 * memory: channels + reduced floats.
 */
KERNEL(se_gate, IN(pooled), IN(w1), IN(b1), IN(w2), IN(b2), OUT(gate), U32(channels), U32(reduced),
       F32(alpha), F32(beta))
{
    SHARED float *in = shared_floats();
    SHARED float *hidden = in + channels;
    uint32_t item = block_idx_x() * channels;
    for (uint32_t c = thread_linear(); c < channels; c += block_threads())
        in[c] = pooled[item + c];
    barrier();
    for (uint32_t r = thread_linear(); r < reduced; r += block_threads())
        hidden[r] = max_f32(dot(w1 + r * channels, in, channels) + b1[r], 0.0f);
    barrier();
    for (uint32_t c = thread_linear(); c < channels; c += block_threads()) {
        float v = fma_f32(alpha, dot(w2 + c * reduced, hidden, reduced) + b2[c], beta);
        gate[item + c] = min_f32(max_f32(v, 0.0f), 1.0f);
    }
}
