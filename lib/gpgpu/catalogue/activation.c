/* SPDX-License-Identifier: MIT */
/* Catalogue: activations and their derivatives. */
#include "entry.h"

enum { N, RANGE }; /* elements; values lie in -RANGE .. RANGE */

static void unary_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT_IN("x", -(float)p[RANGE], (float)p[RANGE], p[N]));
    add_out(io, INPUT("y", p[N]));
}

static void backward_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT_IN("x", -(float)p[RANGE], (float)p[RANGE], p[N]));
    add_in(io, INPUT("dy", p[N]));
    add_out(io, INPUT("dx", p[N]));
}

static const struct catalogue_case bench[] = {
    {"recogniser, stem", {16 * 24 * 160, 4}},
    {"recogniser, stage 3", {128 * 12 * 160, 4}},
    {"detector, stage 1", {16 * 320 * 320, 4}},
};
static const struct catalogue_case test[] = {
    {"one element", {1, 4}},
    {"odd", {1001, 8}},
    {"saturated", {777, 120}},
};

/* One operation forward, two backward, and the transcendental one. */
static double forward_flops(const uint32_t *p)
{
    return 2.0 * p[N];
}

static double backward_flops(const uint32_t *p)
{
    return 4.0 * p[N];
}

#define UNARY(label, kind, text, size, error, why)                                                           \
    static int label##_run(const uint32_t *p, const struct tensor *in, struct tensor *out)                   \
    {                                                                                                        \
        (void)p;                                                                                             \
        return tensor_##label(&in[0], &out[0]);                                                              \
    }                                                                                                        \
    static void label##_reference(const uint32_t *p, const void *const *in, void *const *out)                \
    {                                                                                                        \
        ref_activate(kind, in[0], out[0], p[N]);                                                             \
    }                                                                                                        \
    const struct catalogue_entry catalogue_##label = {                                                       \
        .name = #label,                                                                                      \
        .summary = text,                                                                                     \
        .params = "n range",                                                                                 \
        .bench = bench,                                                                                      \
        .test = test,                                                                                        \
        .ntests = COUNT(test),                                                                               \
        .io = unary_io,                                                                                      \
        .run = label##_run,                                                                                  \
        .reference = label##_reference,                                                                      \
        .flops = forward_flops,                                                                              \
        .magnitude = size,                                                                                   \
        .ulps = error,                                                                                       \
        .reason = why,                                                                                       \
    }

#define BACKWARD(label, kind, text, size, error, why)                                                        \
    static int label##_backward_run(const uint32_t *p, const struct tensor *in, struct tensor *out)          \
    {                                                                                                        \
        (void)p;                                                                                             \
        return tensor_##label##_backward(&in[0], &in[1], &out[0]);                                           \
    }                                                                                                        \
    static void label##_backward_reference(const uint32_t *p, const void *const *in, void *const *out)       \
    {                                                                                                        \
        ref_activate_backward(kind, in[0], in[1], out[0], p[N]);                                             \
    }                                                                                                        \
    const struct catalogue_entry catalogue_##label##_backward = {                                            \
        .name = #label "_backward",                                                                          \
        .summary = text,                                                                                     \
        .params = "n range",                                                                                 \
        .bench = bench,                                                                                      \
        .test = test,                                                                                        \
        .ntests = COUNT(test),                                                                               \
        .io = backward_io,                                                                                   \
        .run = label##_backward_run,                                                                         \
        .reference = label##_backward_reference,                                                             \
        .flops = backward_flops,                                                                             \
        .magnitude = size,                                                                                   \
        .ulps = error,                                                                                       \
        .reason = why,                                                                                       \
    }

UNARY(relu, ACTIVATE_RELU, "max(x, 0)", 0, 0, "exact");
UNARY(silu, ACTIVATE_SILU, "x / (1 + e^-x)", 1e-29, 10,
      "e^x within 2 ulp, then a sum, a quotient and a product; 0 where e^-x overflows");
UNARY(gelu, ACTIVATE_GELU, "x/2 (1 + erf(x/sqrt 2))", 60, 8,
      "erf within 6e-7, times |x|/2 where it is not saturated");
UNARY(sigmoid, ACTIVATE_SIGMOID, "1 / (1 + e^-x)", 1e-30, 8, "e^x within 2 ulp, then a sum and a quotient");
UNARY(tanh, ACTIVATE_TANH, "tanh x", 0, 8, "within 4 ulp");

BACKWARD(relu, ACTIVATE_RELU, "dy where x > 0", 0, 0, "exact");
BACKWARD(silu, ACTIVATE_SILU, "dy times silu'(x)", 8, 16, "s + x s (1 - s) cancels where silu is least");
BACKWARD(gelu, ACTIVATE_GELU, "dy times gelu'(x)", 16, 16,
         "erf within 6e-7; the sum cancels where gelu is least");
BACKWARD(sigmoid, ACTIVATE_SIGMOID, "dy times s (1 - s)", 2, 16, "1 - s cancels where s is near 1");
BACKWARD(tanh, ACTIVATE_TANH, "dy times 1 - tanh^2 x", 16, 8, "1 - t^2 cancels where t is near 1");

/* ---- hardsigmoid ----------------------------------------------------------------------------------------
 */

enum { ALPHA = 2, BETA };

static const struct catalogue_case hard_bench[] = {
    {"recogniser, stem", {16 * 24 * 160, 4, 166667, 500000}},
    {"recogniser, stage 3", {128 * 12 * 160, 4, 166667, 500000}},
    {"detector, stage 1", {16 * 320 * 320, 4, 200000, 500000}},
};
static const struct catalogue_case hard_test[] = {
    {"odd", {1001, 8, 200000, 500000}},
    {"steep", {777, 4, 1250000, 250000}},
};

static int hardsigmoid_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_hardsigmoid(&in[0], millionths(p[ALPHA]), millionths(p[BETA]), &out[0]);
}

static void hardsigmoid_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_hardsigmoid(in[0], millionths(p[ALPHA]), millionths(p[BETA]), out[0], p[N]);
}

static int hardsigmoid_backward_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_hardsigmoid_backward(&in[0], &in[1], millionths(p[ALPHA]), millionths(p[BETA]), &out[0]);
}

static void hardsigmoid_backward_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_hardsigmoid_backward(in[0], in[1], millionths(p[ALPHA]), millionths(p[BETA]), out[0], p[N]);
}

const struct catalogue_entry catalogue_hardsigmoid = {
    .name = "hardsigmoid",
    .summary = "clamp(alpha x + beta, 0, 1)",
    .params = "n range alpha/1e6 beta/1e6",
    .bench = hard_bench,
    .test = hard_test,
    .ntests = COUNT(hard_test),
    .io = unary_io,
    .run = hardsigmoid_run,
    .reference = hardsigmoid_reference,
    .flops = forward_flops,
    .ulps = 2,
    .magnitude = 1,
    .reason = "one fused multiply-add",
};
const struct catalogue_entry catalogue_hardsigmoid_backward = {
    .name = "hardsigmoid_backward",
    .summary = "alpha dy where 0 < alpha x + beta < 1",
    .params = "n range alpha/1e6 beta/1e6",
    .bench = hard_bench,
    .test = hard_test,
    .ntests = COUNT(hard_test),
    .io = backward_io,
    .run = hardsigmoid_backward_run,
    .reference = hardsigmoid_backward_reference,
    .flops = backward_flops,
    .reason = "one product: exact",
};
