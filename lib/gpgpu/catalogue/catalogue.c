/* SPDX-License-Identifier: MIT */
/* The list of operators, and the check of one case. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpgpu/catalogue.h"

/* clang-format off */
#define ENTRIES(X)                                                                             \
    X(sgemm) X(dense) X(im2col) X(conv2d) X(conv2d_direct) X(conv2d_im2col) X(depthwise)        \
    X(conv_transpose) X(add_bias) X(relu) X(silu) X(gelu) X(hardsigmoid) X(sigmoid) X(tanh)     \
    X(se_gate) X(fill) X(zero_cols) X(pad_rb) X(pad_all) X(crop_cols) X(copy_part)              \
    X(interp_nearest) X(chw_to_seq) X(pool_max) X(pool_avg) X(global_avg) X(scale_ch) X(add2)   \
    X(layer_norm) X(softmax) X(attn_split) X(attn_softmax) X(attn_merge) X(ctc_digest)          \
    X(softmax_xent) X(relu_backward) X(silu_backward) X(gelu_backward) X(hardsigmoid_backward)  \
    X(sigmoid_backward) X(tanh_backward) X(col2im) X(conv2d_backward) X(dense_backward)         \
    X(bias_backward) X(pool_max_backward) X(pool_avg_backward) X(global_avg_backward)           \
    X(sgd_step) X(adam_step)
/* clang-format on */

#define DECLARE(name) extern const struct catalogue_entry catalogue_##name;
ENTRIES(DECLARE)

#define ADDRESS(name) &catalogue_##name,
const struct catalogue_entry *const gpgpu_catalogue[] = {ENTRIES(ADDRESS)};
const size_t gpgpu_catalogue_size = sizeof gpgpu_catalogue / sizeof gpgpu_catalogue[0];

const struct catalogue_entry *gpgpu_catalogue_find(const char *name)
{
    for (size_t i = 0; i < gpgpu_catalogue_size; i++)
        if (strcmp(gpgpu_catalogue[i]->name, name) == 0)
            return gpgpu_catalogue[i];
    return NULL;
}

static size_t elements(const struct catalogue_tensor *t)
{
    size_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        n *= t->dims[i];
    return n;
}

double gpgpu_catalogue_bytes(const struct catalogue_entry *entry, const uint32_t *p)
{
    struct catalogue_io io = {0};
    double n = 0;
    entry->io(p, &io);
    for (unsigned i = 0; i < io.ninputs; i++)
        n += (double)elements(&io.in[i]);
    for (unsigned i = 0; i < io.noutputs; i++)
        n += (double)elements(&io.out[i]);
    return 4 * n;
}

double gpgpu_catalogue_tolerance(const struct catalogue_entry *entry, const uint32_t *p, double reference)
{
    double terms = entry->terms ? entry->terms(p) : 1;
    return ldexp(terms * entry->magnitude + entry->ulps * fabs(reference), -24);
}

/* splitmix64 (Steele, Lea, Flood 2014): 0 <= result < 1. */
static double random_unit(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void fill(const struct catalogue_tensor *t, void *data, uint64_t *state)
{
    for (size_t i = 0; i < elements(t); i++) {
        double unit = random_unit(state);
        if (t->type == TENSOR_I32)
            ((int32_t *)data)[i] = (int32_t)floor(t->low + unit * ((double)t->high - t->low + 1));
        else
            ((float *)data)[i] = (float)(t->low + unit * ((double)t->high - t->low));
    }
}

/* One case in memory. */
struct trial {
    struct catalogue_io io;
    void *in[CATALOGUE_INPUTS];
    void *want[CATALOGUE_OUTPUTS];
    void *got[CATALOGUE_OUTPUTS];
    struct tensor din[CATALOGUE_INPUTS];
    struct tensor dout[CATALOGUE_OUTPUTS];
};

static void free_trial(struct trial *t)
{
    for (unsigned i = 0; i < CATALOGUE_INPUTS; i++) {
        free(t->in[i]);
        tensor_destroy(&t->din[i]);
    }
    for (unsigned i = 0; i < CATALOGUE_OUTPUTS; i++) {
        free(t->want[i]);
        free(t->got[i]);
        tensor_destroy(&t->dout[i]);
    }
}

static int make_input(struct tensor_context *tc, struct trial *t, unsigned i, uint64_t *state)
{
    const struct catalogue_tensor *spec = &t->io.in[i];
    t->in[i] = malloc(4 * elements(spec));
    if (!t->in[i])
        return -ENOMEM;
    fill(spec, t->in[i], state);
    return tensor_from_host(tc, &t->din[i], spec->type, spec->rank, spec->dims, t->in[i]);
}

/* Memory that was not written shows: the device's begins as NaN, the reference's as zeros. */
static int make_output(struct tensor_context *tc, struct trial *t, unsigned i)
{
    const struct catalogue_tensor *spec = &t->io.out[i];
    size_t bytes = 4 * elements(spec);
    t->want[i] = calloc(1, bytes);
    t->got[i] = malloc(bytes);
    if (!t->want[i] || !t->got[i])
        return -ENOMEM;
    memset(t->got[i], 0xff, bytes);
    if (spec->starts_as >= 0) {
        memcpy(t->want[i], t->in[spec->starts_as], bytes);
        memcpy(t->got[i], t->in[spec->starts_as], bytes);
    }
    return tensor_from_host(tc, &t->dout[i], spec->type, spec->rank, spec->dims, t->got[i]);
}

static int compare(const struct catalogue_entry *entry, const uint32_t *p, const struct trial *t, unsigned i,
                   char *why, size_t len)
{
    const struct catalogue_tensor *spec = &t->io.out[i];
    for (size_t k = 0; k < elements(spec); k++) {
        bool is_int = spec->type == TENSOR_I32;
        double want = is_int ? ((int32_t *)t->want[i])[k] : ((float *)t->want[i])[k];
        double got = is_int ? ((int32_t *)t->got[i])[k] : ((float *)t->got[i])[k];
        double tolerance = is_int ? 0 : gpgpu_catalogue_tolerance(entry, p, want);
        if (got == want || fabs(got - want) <= tolerance)
            continue;
        snprintf(why, len, "%s[%zu]: expected %.9g, got %.9g, off by %.3g, tolerance %.3g", spec->name, k,
                 want, got, fabs(got - want), tolerance);
        return -EDOM;
    }
    return 0;
}

static int run_trial(struct tensor_context *tc, const struct catalogue_entry *entry, const uint32_t *p,
                     struct trial *t, uint64_t seed, char *why, size_t len)
{
    int err = 0;
    for (unsigned i = 0; i < t->io.ninputs && !err; i++)
        err = make_input(tc, t, i, &seed);
    for (unsigned i = 0; i < t->io.noutputs && !err; i++)
        err = make_output(tc, t, i);
    err = err ? err : entry->run(p, t->din, t->dout);
    for (unsigned i = 0; i < t->io.noutputs && !err; i++)
        err = tensor_read(&t->dout[i], t->got[i]);
    if (err) {
        snprintf(why, len, "error %d: %s", err, tensor_error(tc));
        return err;
    }
    entry->reference(p, (const void *const *)t->in, t->want);
    for (unsigned i = 0; i < t->io.noutputs && !err; i++)
        err = compare(entry, p, t, i, why, len);
    return err;
}

int gpgpu_catalogue_check(struct tensor_context *tc, const struct catalogue_entry *entry,
                          const struct catalogue_case *c, uint64_t seed, char *why, size_t len)
{
    struct trial t = {0};
    why[0] = '\0';
    entry->io(c->p, &t.io);
    int err = run_trial(tc, entry, c->p, &t, seed, why, len);
    free_trial(&t);
    return err;
}
