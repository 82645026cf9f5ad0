/* SPDX-License-Identifier: MIT */
/* Activations and their derivatives, element by element; y may be x, dx may be dy. */
#include "kernel_activation.h"

KERNEL(relu, IN(x), OUT(y), U32(n))
{
    FOR_EACH (i, n)
        y[i] = max_f32(x[i], 0.0f);
}

KERNEL(silu, IN(x), OUT(y), U32(n))
{
    FOR_EACH (i, n)
        y[i] = x[i] * sigmoid_f32(x[i]);
}

KERNEL(gelu, IN(x), OUT(y), U32(n))
{
    FOR_EACH (i, n)
        y[i] = gelu_f32(x[i]);
}

static KERNEL_INLINE float clamp01(float v)
{
    return min_f32(max_f32(v, 0.0f), 1.0f);
}

KERNEL(hardsigmoid, IN(x), OUT(y), U32(n), F32(alpha), F32(beta))
{
    FOR_EACH (i, n)
        y[i] = clamp01(fma_f32(alpha, x[i], beta));
}

KERNEL(sigmoid, IN(x), OUT(y), U32(n))
{
    FOR_EACH (i, n)
        y[i] = sigmoid_f32(x[i]);
}

KERNEL(tanh, IN(x), OUT(y), U32(n))
{
    FOR_EACH (i, n)
        y[i] = tanh_f32(x[i]);
}

KERNEL(relu_backward, IN(x), IN(dy), OUT(dx), U32(n))
{
    FOR_EACH (i, n)
        dx[i] = keep_if(x[i] > 0.0f, dy[i]);
}

/* (x s)' = s + x s (1 - s), s the sigmoid. */
KERNEL(silu_backward, IN(x), IN(dy), OUT(dx), U32(n))
{
    FOR_EACH (i, n) {
        float s = sigmoid_f32(x[i]);
        dx[i] = dy[i] * fma_f32(x[i] * s, 1.0f - s, s);
    }
}

/* Phi(x) + x phi(x), the normal distribution and its density. */
KERNEL(gelu_backward, IN(x), IN(dy), OUT(dx), U32(n))
{
    FOR_EACH (i, n) {
        float v = x[i];
        float cdf = 0.5f * (1.0f + erf_f32(0.707106781f * v));
        float pdf = 0.398942280f * exp_f32(-0.5f * v * v);
        dx[i] = dy[i] * fma_f32(v, pdf, cdf);
    }
}

KERNEL(hardsigmoid_backward, IN(x), IN(dy), OUT(dx), U32(n), F32(alpha), F32(beta))
{
    FOR_EACH (i, n) {
        float v = fma_f32(alpha, x[i], beta);
        uint32_t inside = (uint32_t)(v > 0.0f) & (uint32_t)(v < 1.0f);
        dx[i] = keep_if(inside, alpha * dy[i]);
    }
}

KERNEL(sigmoid_backward, IN(x), IN(dy), OUT(dx), U32(n))
{
    FOR_EACH (i, n) {
        float s = sigmoid_f32(x[i]);
        dx[i] = dy[i] * s * (1.0f - s);
    }
}

KERNEL(tanh_backward, IN(x), IN(dy), OUT(dx), U32(n))
{
    FOR_EACH (i, n) {
        float t = tanh_f32(x[i]);
        dx[i] = dy[i] * fma_f32(-t, t, 1.0f);
    }
}
