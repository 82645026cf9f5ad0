/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "gpgpu/reference.h"

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

double ref_activation(enum activation kind, double v)
{
    switch (kind) {
    case ACTIVATE_NONE:
        return v;
    case ACTIVATE_RELU:
        return v > 0 ? v : 0;
    case ACTIVATE_SILU:
        return v * sigmoid(v);
    case ACTIVATE_GELU:
        return v / 2 * (1 + erf(v / sqrt(2)));
    case ACTIVATE_SIGMOID:
        return sigmoid(v);
    case ACTIVATE_TANH:
        return tanh(v);
    }
    return NAN;
}

double ref_activation_derivative(enum activation kind, double v)
{
    double s = sigmoid(v);
    switch (kind) {
    case ACTIVATE_NONE:
        return 1;
    case ACTIVATE_RELU:
        return v > 0;
    case ACTIVATE_SILU:
        return s + v * s * (1 - s);
    case ACTIVATE_GELU:
        return (1 + erf(v / sqrt(2))) / 2 + v * exp(-v * v / 2) / sqrt(2 * M_PI);
    case ACTIVATE_SIGMOID:
        return s * (1 - s);
    case ACTIVATE_TANH:
        return 1 - tanh(v) * tanh(v);
    }
    return NAN;
}

void ref_activate(enum activation kind, const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)ref_activation(kind, x[i]);
}

void ref_activate_backward(enum activation kind, const float *x, const float *dy, float *dx, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dx[i] = (float)(dy[i] * ref_activation_derivative(kind, x[i]));
}

static double linear(float x, float alpha, float beta)
{
    return (double)alpha * x + beta;
}

void ref_hardsigmoid(const float *x, float alpha, float beta, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)fmin(fmax(linear(x[i], alpha, beta), 0), 1);
}

void ref_hardsigmoid_backward(const float *x, const float *dy, float alpha, float beta, float *dx, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double v = linear(x[i], alpha, beta);
        dx[i] = v > 0 && v < 1 ? alpha * dy[i] : 0;
    }
}
