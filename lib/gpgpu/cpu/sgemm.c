/* SPDX-License-Identifier: MIT */
#include "gpgpu/reference.h"
#include "hal/thread.h"

struct product {
    const struct gemm_shape *shape;
    const float *a, *b, *bias;
    float *c;
};

/* Row `i` of item `item`. */
static void row(const struct product *p, size_t item, size_t i)
{
    const struct gemm_shape *s = p->shape;
    size_t m = s->m, n = s->n, k = s->k;
    const float *a = p->a + (s->batched_a ? item * m * k : 0), *b = p->b + (s->batched_b ? item * k * n : 0);
    float *c = p->c + (item * m + i) * n;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t q = 0; q < k; q++)
            sum += (double)a[s->trans_a ? q * m + i : i * k + q] * b[s->trans_b ? j * k + q : q * n + j];
        sum *= s->alpha;
        if (p->bias)
            sum += p->bias[s->bias_per_row ? i : j];
        if (s->beta != 0)
            sum += (double)s->beta * c[j];
        c[j] = (float)ref_activation(s->activation, sum);
    }
}

static void rows(size_t begin, size_t end, void *product)
{
    const struct product *p = product;
    for (size_t at = begin; at < end; at++)
        row(p, at / p->shape->m, at % p->shape->m);
}

void ref_sgemm(const struct gemm_shape *s, const float *a, const float *b, const float *bias, float *c)
{
    struct product product = {s, a, b, bias, c};
    parallel_for((size_t)s->batch * s->m, rows, &product);
}
