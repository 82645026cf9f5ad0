/* SPDX-License-Identifier: MIT */
/* What training adds: gradients of biases, optimiser steps. */
#include "kernel_reduce.h"

/* db[c] = the sum of dy [items][channels][pixels] over items and pixels. Blocks stride over
 * channels; a float of shared memory a thread. */
KERNEL(bias_backward, IN(dy), OUT(db), U32(items), U32(channels), U32(pixels))
{
    FOR_EACH_ROW (ch, channels) {
        float sum = 0.0f;
        for (uint32_t item = 0; item < items; item++)
            for (uint32_t i = thread_idx_x(); i < pixels; i += block_dim_x())
                sum += dy[(item * channels + ch) * pixels + i];
        sum = block_sum(shared_floats(), sum);
        if (thread_idx_x() == 0)
            db[ch] = sum;
    }
}

/* y[c] = the sum of x [rows][cols] over rows. */
KERNEL(sum_rows, IN(x), OUT(y), U32(rows), U32(cols))
{
    FOR_EACH (c, cols) {
        float sum = 0.0f;
        for (uint32_t r = 0; r < rows; r++)
            sum += x[r * cols + c];
        y[c] = sum;
    }
}

/* v = momentum v + dampening (g + decay w); w -= rate v, or rate (g + decay w + momentum v) with nesterov. */
KERNEL(sgd_step, OUT(w), IN(g), OUT(v), U32(n), F32(rate), F32(momentum), F32(dampening), F32(decay),
       U32(nesterov))
{
    FOR_EACH (i, n) {
        float gradient = fma_f32(decay, w[i], g[i]);
        float velocity = fma_f32(momentum, v[i], dampening * gradient);
        v[i] = velocity;
        float step = nesterov ? fma_f32(momentum, velocity, gradient) : velocity;
        w[i] = fma_f32(-rate, step, w[i]);
    }
}

/* m, v: moving averages of g = gradient + decay w and of g^2; w -= rate m / (sqrt(v) root_scale + epsilon).
 * The caller folds Adam's bias corrections into rate and root_scale. */
KERNEL(adam_step, OUT(w), IN(g), OUT(m), OUT(v), U32(n), F32(rate), F32(beta1), F32(beta2), F32(root_scale),
       F32(epsilon), F32(decay))
{
    FOR_EACH (i, n) {
        float gradient = fma_f32(decay, w[i], g[i]);
        float mean = fma_f32(beta1, m[i], (1.0f - beta1) * gradient);
        float square = fma_f32(beta2, v[i], (1.0f - beta2) * gradient * gradient);
        m[i] = mean;
        v[i] = square;
        w[i] = fma_f32(-rate, mean / fma_f32(sqrt_f32(square), root_scale, epsilon), w[i]);
    }
}
