/* SPDX-License-Identifier: MIT */
#include "gpgpu/reference.h"

void ref_sgemm(const struct gemm_shape *s, const float *a, const float *b, const float *bias, float *c)
{
    size_t m = s->m, n = s->n, k = s->k;
    for (uint32_t item = 0; item < s->batch; item++) {
        const float *am = a + (s->batched_a ? item * m * k : 0), *bm = b + (s->batched_b ? item * k * n : 0);
        float *cm = c + item * m * n;
        for (size_t i = 0; i < m; i++) {
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t p = 0; p < k; p++)
                    sum += (double)am[s->trans_a ? p * m + i : i * k + p] *
                           bm[s->trans_b ? j * k + p : p * n + j];
                sum *= s->alpha;
                if (bias)
                    sum += bias[s->bias_per_row ? i : j];
                if (s->beta != 0)
                    sum += (double)s->beta * cm[i * n + j];
                cm[i * n + j] = (float)ref_activation(s->activation, sum);
            }
        }
    }
}
