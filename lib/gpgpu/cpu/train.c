/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "gpgpu/reference.h"

void ref_bias_backward(uint32_t items, uint32_t channels, uint32_t pixels, const float *dy, float *db)
{
    for (size_t c = 0; c < channels; c++) {
        double sum = 0;
        for (size_t item = 0; item < items; item++)
            for (size_t i = 0; i < pixels; i++)
                sum += dy[(item * channels + c) * pixels + i];
        db[c] = (float)sum;
    }
}

void ref_sgd_step(size_t n, float *w, const float *g, float *v, float rate, float momentum, float dampening,
                  float decay, bool nesterov)
{
    for (size_t i = 0; i < n; i++) {
        double gradient = g[i] + (double)decay * w[i];
        double velocity = (double)momentum * v[i] + dampening * gradient;
        v[i] = (float)velocity;
        w[i] = (float)(w[i] - rate * (nesterov ? gradient + momentum * velocity : velocity));
    }
}

void ref_adam_step(size_t n, float *w, const float *g, float *m, float *v, float rate, float beta1,
                   float beta2, float epsilon, float decay, uint32_t step)
{
    for (size_t i = 0; i < n; i++) {
        double gradient = g[i] + (double)decay * w[i];
        double mean = (double)beta1 * m[i] + (1 - (double)beta1) * gradient;
        double square = (double)beta2 * v[i] + (1 - (double)beta2) * gradient * gradient;
        m[i] = (float)mean;
        v[i] = (float)square;
        mean /= 1 - pow(beta1, step);
        square /= 1 - pow(beta2, step);
        w[i] = (float)(w[i] - rate * mean / (sqrt(square) + epsilon));
    }
}
