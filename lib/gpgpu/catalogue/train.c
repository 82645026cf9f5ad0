/* SPDX-License-Identifier: MIT */
/* Catalogue: training. */
#include "entry.h"

/* ---- softmax_xent ---------------------------------------------------------------------------------------
 */

enum { ROWS, CLASSES };

static void xent_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT_IN("x", -8, 8, p[ROWS], p[CLASSES]));
    add_in(io, INTEGERS("label", 0, p[CLASSES] - 1, p[ROWS]));
    add_out(io, INPUT("loss", p[ROWS]));
    add_out(io, INPUT("grad", p[ROWS], p[CLASSES]));
}

static int xent_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_softmax_xent(&in[0], &in[1], 1.0f / (float)p[ROWS], &out[0], &out[1]);
}

static void xent_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_softmax_xent(p[ROWS], p[CLASSES], in[0], in[1], 1.0f / (float)p[ROWS], out[0], out[1]);
}

static double xent_flops(const uint32_t *p)
{
    return 5.0 * p[ROWS] * p[CLASSES];
}

static const struct catalogue_case xent_bench[] = {
    {"classifier", {64, 10}}, {"recogniser", {40, 6625}}, {"recogniser, latin", {320, 97}}};
static const struct catalogue_case xent_test[] = {
    {"odd", {5, 13}}, {"two classes", {33, 2}}, {"many", {3, 700}}};
const struct catalogue_entry catalogue_softmax_xent = {
    .name = "softmax_xent",
    .summary = "-log softmax(x)[label] a row, and its gradient",
    .params = "rows classes",
    .bench = xent_bench,
    .test = xent_test,
    .ntests = COUNT(xent_test),
    .io = xent_io,
    .run = xent_run,
    .reference = xent_reference,
    .flops = xent_flops,
    .magnitude = 16,
    .ulps = 32,
    .reason = "x - max is up to 16 and rounded there; log within 1e-7, e^x within 2 ulp; p - 1 cancels",
};

/* ---- bias_backward --------------------------------------------------------------------------------------
 */

enum { N, C, PIXELS };

static void bias_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("dy", p[N], p[C], p[PIXELS]));
    add_out(io, INPUT("db", p[C]));
}

static int bias_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_bias_backward(&in[0], &out[0]);
}

static void bias_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_bias_backward(p[N], p[C], p[PIXELS], in[0], out[0]);
}

static double bias_flops(const uint32_t *p)
{
    return (double)p[N] * p[C] * p[PIXELS];
}

static double bias_terms(const uint32_t *p)
{
    return (double)p[N] * p[PIXELS];
}

static const struct catalogue_case bias_bench[] = {{"classifier, layer 1", {64, 6, 784}},
                                                   {"classifier, hidden", {64, 120, 1}},
                                                   {"recogniser", {8, 64, 960}}};
static const struct catalogue_case bias_test[] = {
    {"odd", {3, 5, 37}}, {"dense", {7, 41, 1}}, {"long", {2, 3, 701}}};
const struct catalogue_entry catalogue_bias_backward = {
    .name = "bias_backward",
    .summary = "dy summed over everything but the channel",
    .params = "n c pixels",
    .bench = bias_bench,
    .test = bias_test,
    .ntests = COUNT(bias_test),
    .io = bias_io,
    .run = bias_run,
    .reference = bias_reference,
    .flops = bias_flops,
    .terms = bias_terms,
    .magnitude = 1,
    .ulps = 2,
    .reason = "a sum of n pixels values of at most 1",
};

/* ---- optimiser steps ------------------------------------------------------------------------------------
 */

enum { SIZE, RATE, MOMENTUM, DAMPENING, SGD_DECAY, NESTEROV };
enum { BETA1 = 2, BETA2, STEP, ADAM_DECAY };
#define ONE 1000000

static const struct catalogue_case sgd_bench[] = {
    {"classifier, hidden", {400 * 120, 100000, 900000, ONE, 0, 0}},
    {"recogniser, 3x3", {64 * 64 * 9, 100000, 900000, ONE, 100, 0}},
    {"recogniser, classes", {120 * 6625, 100000, 900000, ONE, 100, 1}}};
static const struct catalogue_case sgd_test[] = {{"plain", {77, 100000, 0, ONE, 0, 0}},
                                                 {"momentum", {1013, 50000, 900000, 100000, 0, 0}},
                                                 {"decay, Nesterov", {511, 100000, 900000, ONE, 10000, 1}}};

static struct sgd_params sgd_of(const uint32_t *p)
{
    return (struct sgd_params){.rate = millionths(p[RATE]),
                               .momentum = millionths(p[MOMENTUM]),
                               .dampening = millionths(p[DAMPENING]),
                               .decay = millionths(p[SGD_DECAY]),
                               .nesterov = p[NESTEROV]};
}

static void sgd_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("w", p[SIZE]));
    add_in(io, INPUT("g", p[SIZE]));
    add_in(io, INPUT("v", p[SIZE]));
    add_out(io, IN_PLACE("w", 0, p[SIZE]));
    add_out(io, IN_PLACE("v", 2, p[SIZE]));
}

static int sgd_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct sgd_params params = sgd_of(p);
    return tensor_sgd_step(&out[0], &in[1], &out[1], &params);
}

static void sgd_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct sgd_params s = sgd_of(p);
    ref_sgd_step(p[SIZE], out[0], in[1], out[1], s.rate, s.momentum, s.dampening, s.decay, s.nesterov);
}

static double sgd_flops(const uint32_t *p)
{
    return 7.0 * p[SIZE];
}

const struct catalogue_entry catalogue_sgd_step = {
    .name = "sgd_step",
    .summary = "v = momentum v + g; w -= rate v",
    .params = "n rate/1e6 momentum/1e6 dampening/1e6 decay/1e6 nesterov",
    .bench = sgd_bench,
    .test = sgd_test,
    .ntests = COUNT(sgd_test),
    .io = sgd_io,
    .run = sgd_run,
    .reference = sgd_reference,
    .flops = sgd_flops,
    .magnitude = 8,
    .ulps = 4,
    .reason = "a handful of roundings of values of at most 2",
};

static const struct catalogue_case adam_bench[] = {
    {"classifier, hidden", {400 * 120, 1000, 900000, 999000, 9, 0}},
    {"recogniser, 3x3", {64 * 64 * 9, 1000, 900000, 999000, 9, 0}},
    {"recogniser, classes", {120 * 6625, 1000, 900000, 999000, 9, 100}}};
static const struct catalogue_case adam_test[] = {{"first step", {77, 10000, 900000, 999000, 1, 0}},
                                                  {"later", {1013, 10000, 900000, 999000, 7, 0}},
                                                  {"decay", {511, 1000, 800000, 990000, 3, 10000}}};

static struct adam_params adam_of(const uint32_t *p)
{
    return (struct adam_params){.rate = millionths(p[RATE]),
                                .beta1 = millionths(p[BETA1]),
                                .beta2 = millionths(p[BETA2]),
                                .epsilon = 1e-8f,
                                .decay = millionths(p[ADAM_DECAY]),
                                .step = p[STEP]};
}

static void adam_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("w", p[SIZE]));
    add_in(io, INPUT("g", p[SIZE]));
    add_in(io, INPUT("m", p[SIZE]));
    add_in(io, INPUT_IN("v", 0.01f, 1, p[SIZE]));
    add_out(io, IN_PLACE("w", 0, p[SIZE]));
    add_out(io, IN_PLACE("m", 2, p[SIZE]));
    add_out(io, IN_PLACE("v", 3, p[SIZE]));
}

static int adam_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct adam_params params = adam_of(p);
    return tensor_adam_step(&out[0], &in[1], &out[1], &out[2], &params);
}

static void adam_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct adam_params a = adam_of(p);
    ref_adam_step(p[SIZE], out[0], in[1], out[1], out[2], a.rate, a.beta1, a.beta2, a.epsilon, a.decay,
                  a.step);
}

static double adam_flops(const uint32_t *p)
{
    return 12.0 * p[SIZE];
}

const struct catalogue_entry catalogue_adam_step = {
    .name = "adam_step",
    .summary = "moving averages m of g and v of g^2; w -= rate m / (sqrt v + epsilon), bias-corrected",
    .params = "n rate/1e6 beta1/1e6 beta2/1e6 step decay/1e6",
    .bench = adam_bench,
    .test = adam_test,
    .ntests = COUNT(adam_test),
    .io = adam_io,
    .run = adam_run,
    .reference = adam_reference,
    .flops = adam_flops,
    .magnitude = 8,
    .ulps = 4,
    .reason = "a dozen roundings of values of at most 1, scaled by rate / sqrt v",
};
