/* SPDX-License-Identifier: MIT */
/* Catalogue: rows and attention. */
#include "entry.h"

/* ---- layer_norm -----------------------------------------------------------------------------------------
 */

enum { ROWS, COLS, FLAG, EPSILON = 2 };

static void layer_norm_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[ROWS], p[COLS]));
    add_in(io, INPUT("gamma", p[COLS]));
    add_in(io, INPUT("beta", p[COLS]));
    add_out(io, INPUT("y", p[ROWS], p[COLS]));
}

static int layer_norm_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_layer_norm(&in[0], &in[1], &in[2], millionths(p[EPSILON]), &out[0]);
}

static void layer_norm_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_layer_norm(p[ROWS], p[COLS], in[0], in[1], in[2], millionths(p[EPSILON]), out[0]);
}

static double layer_norm_flops(const uint32_t *p)
{
    return 7.0 * p[ROWS] * p[COLS];
}

static double cols_terms(const uint32_t *p)
{
    return p[COLS];
}

static const struct catalogue_case layer_norm_bench[] = {{"recogniser, tokens", {80, 120, 10}},
                                                         {"recogniser, local mixing", {240, 64, 10}},
                                                         {"recogniser, batch of 8", {640, 120, 10}}};
static const struct catalogue_case layer_norm_test[] = {
    {"odd", {3, 37, 10}}, {"one row", {1, 257, 10}}, {"short", {17, 5, 10}}, {"long", {2, 1031, 10}}};
const struct catalogue_entry catalogue_layer_norm = {
    .name = "layer_norm",
    .summary = "(x - mean) / sqrt(variance + epsilon) gamma + beta over the last dimension",
    .params = "rows cols epsilon/1e6",
    .bench = layer_norm_bench,
    .test = layer_norm_test,
    .ntests = COUNT(layer_norm_test),
    .io = layer_norm_io,
    .run = layer_norm_run,
    .reference = layer_norm_reference,
    .flops = layer_norm_flops,
    .terms = cols_terms,
    .magnitude = 1,
    .ulps = 16,
    .reason = "mean and variance are sums of cols terms; x - mean and x gamma + beta cancel",
};

/* ---- softmax --------------------------------------------------------------------------------------------
 */

enum { OUTER, LEN, INNER, LOG };

static void softmax_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT_IN("x", -8, 8, p[OUTER], p[LEN], p[INNER]));
    add_out(io, INPUT("y", p[OUTER], p[LEN], p[INNER]));
}

static int softmax_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_softmax(&in[0], 1, p[LOG], &out[0]);
}

static void softmax_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_softmax(p[OUTER], p[LEN], p[INNER], in[0], p[LOG], out[0]);
}

static double softmax_flops(const uint32_t *p)
{
    return 4.0 * p[OUTER] * p[LEN] * p[INNER];
}

/* The logarithm subtracts log sum from x - max: an absolute error where they cancel. */
static double log_terms(const uint32_t *p)
{
    return p[LOG];
}

static const struct catalogue_case softmax_bench[] = {{"recogniser, classes", {40, 6625, 1, 0}},
                                                      {"recogniser, classes, batch of 8", {320, 97, 1, 0}},
                                                      {"classifier", {64, 10, 1, 1}}};
static const struct catalogue_case softmax_test[] = {{"odd", {3, 37, 1, 0}},
                                                     {"logarithm", {5, 11, 1, 1}},
                                                     {"middle axis", {2, 7, 5, 0}},
                                                     {"long middle axis", {1, 3000, 37, 0}},
                                                     {"logarithm along it", {2, 5, 33, 1}},
                                                     {"one class", {4, 1, 3, 0}},
                                                     {"long", {2, 1000, 1, 0}}};
const struct catalogue_entry catalogue_softmax = {
    .name = "softmax",
    .summary = "e^x / sum e^x along an axis, or its logarithm",
    .params = "outer len inner log",
    .bench = softmax_bench,
    .test = softmax_test,
    .ntests = COUNT(softmax_test),
    .io = softmax_io,
    .run = softmax_run,
    .reference = softmax_reference,
    .flops = softmax_flops,
    .terms = log_terms,
    .magnitude = 16,
    .ulps = 32,
    .reason = "x - max is up to 16 and rounded there, e^x within 2 ulp, a sum of terms that share one sign",
};

/* ---- attention ------------------------------------------------------------------------------------------
 */

enum { BATCH, HEADS, STEPS, DIM };

static const struct catalogue_case attention_bench[] = {{"recogniser, global mixing", {1, 8, 80, 15}},
                                                        {"recogniser, local mixing", {1, 2, 240, 32}},
                                                        {"recogniser, batch of 8", {8, 8, 40, 15}}};
static const struct catalogue_case attention_test[] = {
    {"odd", {2, 3, 5, 7}}, {"one head", {3, 1, 11, 4}}, {"one step", {2, 4, 1, 9}}, {"long", {1, 2, 70, 3}}};

static double no_flops(const uint32_t *p)
{
    (void)p;
    return 0;
}

static void split_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[BATCH], p[STEPS], 3 * p[HEADS] * p[DIM]));
    add_out(io, INPUT("y", 3, p[BATCH], p[HEADS], p[STEPS], p[DIM]));
}

static int split_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_attn_split(&in[0], &out[0]);
}

static void split_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_attn_split(p[BATCH], p[HEADS], p[STEPS], p[DIM], in[0], out[0]);
}

const struct catalogue_entry catalogue_attn_split = {
    .name = "attn_split",
    .summary = "queries, keys and values by head",
    .params = "n heads steps dim",
    .bench = attention_bench,
    .test = attention_test,
    .ntests = COUNT(attention_test),
    .io = split_io,
    .run = split_run,
    .reference = split_reference,
    .flops = no_flops,
    .reason = "moves data: exact",
};

static void merge_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[BATCH], p[HEADS], p[STEPS], p[DIM]));
    add_out(io, INPUT("y", p[BATCH], p[STEPS], p[HEADS] * p[DIM]));
}

static int merge_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_attn_merge(&in[0], &out[0]);
}

static void merge_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_attn_merge(p[BATCH], p[HEADS], p[STEPS], p[DIM], in[0], out[0]);
}

const struct catalogue_entry catalogue_attn_merge = {
    .name = "attn_merge",
    .summary = "heads side by side again",
    .params = "n heads steps dim",
    .bench = attention_bench,
    .test = attention_test,
    .ntests = COUNT(attention_test),
    .io = merge_io,
    .run = merge_run,
    .reference = merge_reference,
    .flops = no_flops,
    .reason = "moves data: exact",
};

#define SCALE 0.25f

static void attn_softmax_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT_IN("x", -8, 8, p[BATCH], p[HEADS], p[STEPS], p[STEPS]));
    add_in(io, INTEGERS("valid", 0, p[STEPS] + 1, p[BATCH]));
    add_out(io, INPUT("y", p[BATCH], p[HEADS], p[STEPS], p[STEPS]));
}

static int attn_softmax_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_attn_softmax(&in[0], &in[1], SCALE, &out[0]);
}

static void attn_softmax_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_attn_softmax(p[BATCH], p[HEADS] * p[STEPS], p[STEPS], in[0], in[1], SCALE, out[0]);
}

static double attn_softmax_flops(const uint32_t *p)
{
    return 5.0 * p[BATCH] * p[HEADS] * p[STEPS] * p[STEPS];
}

const struct catalogue_entry catalogue_attn_softmax = {
    .name = "attn_softmax",
    .summary = "softmax of scale x over each item's valid columns, 0 in the others",
    .params = "n heads steps",
    .bench = attention_bench,
    .test = attention_test,
    .ntests = COUNT(attention_test),
    .io = attn_softmax_io,
    .run = attn_softmax_run,
    .reference = attn_softmax_reference,
    .flops = attn_softmax_flops,
    .ulps = 32,
    .reason = "scale x - max is rounded once, e^x within 2 ulp, a sum of terms that share one sign",
};

/* ---- ctc_digest -----------------------------------------------------------------------------------------
 */

static void ctc_digest_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT_IN("x", 0, 1, p[ROWS], p[COLS]));
    add_out(io, INTEGERS("best", 0, 0, p[ROWS]));
    add_out(io, INPUT("probability", p[ROWS]));
}

static int ctc_digest_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_ctc_digest(&in[0], p[FLAG], &out[0], &out[1]);
}

static void ctc_digest_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_ctc_digest(p[ROWS], p[COLS], in[0], p[FLAG], out[0], out[1]);
}

static double ctc_digest_flops(const uint32_t *p)
{
    return 3.0 * p[ROWS] * p[COLS];
}

static const struct catalogue_case ctc_digest_bench[] = {{"recogniser", {40, 6625, 0}},
                                                         {"recogniser, batch of 8", {320, 6625, 1}},
                                                         {"recogniser, latin", {80, 97, 0}}};
static const struct catalogue_case ctc_digest_test[] = {
    {"logits", {7, 37, 0}}, {"probabilities", {3, 130, 1}}, {"one class", {5, 1, 0}}, {"long", {2, 1500, 0}}};
const struct catalogue_entry catalogue_ctc_digest = {
    .name = "ctc_digest",
    .summary = "best class of each step, and its probability",
    .params = "rows classes is_probability",
    .bench = ctc_digest_bench,
    .test = ctc_digest_test,
    .ntests = COUNT(ctc_digest_test),
    .io = ctc_digest_io,
    .run = ctc_digest_run,
    .reference = ctc_digest_reference,
    .flops = ctc_digest_flops,
    .ulps = 32,
    .reason = "the class is exact; 1 / sum e^(x - max) of terms that share one sign",
};
