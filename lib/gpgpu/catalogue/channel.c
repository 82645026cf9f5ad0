/* SPDX-License-Identifier: MIT */
/* Catalogue: a tensor and something smaller. */
#include "entry.h"

static double one_flop(const uint32_t *p, unsigned ndims)
{
    double n = 1;
    for (unsigned i = 0; i < ndims; i++)
        n *= p[i];
    return n;
}

static double flops4(const uint32_t *p)
{
    return one_flop(p, 4);
}

/* ---- add2: four dimensions of the result; of each operand a bit mask of those it has, bit 0 the last ------
 */

enum { D0, D1, D2, D3, MASK_A, MASK_B };

static uint32_t kept(const uint32_t *p, uint32_t mask, uint32_t axis)
{
    return mask >> (3 - axis) & 1 ? p[axis] : 1;
}

static void add2_io(const uint32_t *p, struct catalogue_io *io)
{
    const uint32_t a = p[MASK_A], b = p[MASK_B];
    add_in(io, INPUT("a", kept(p, a, 0), kept(p, a, 1), kept(p, a, 2), kept(p, a, 3)));
    add_in(io, INPUT("b", kept(p, b, 0), kept(p, b, 1), kept(p, b, 2), kept(p, b, 3)));
    add_out(io, INPUT("y", p[D0], p[D1], p[D2], p[D3]));
}

static int add2_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_add2(&in[0], &in[1], &out[0]);
}

static void strides_of(const uint32_t *p, uint32_t mask, uint32_t strides[4])
{
    uint32_t step = 1;
    for (unsigned i = 4; i-- > 0;) {
        strides[i] = kept(p, mask, i) == 1 ? 0 : step;
        step *= kept(p, mask, i);
    }
}

static void add2_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    uint32_t a[4], b[4];
    strides_of(p, p[MASK_A], a);
    strides_of(p, p[MASK_B], b);
    ref_add2(p, in[0], a, in[1], b, out[0]);
}

static const struct catalogue_case add2_bench[] = {
    {"recogniser, shortcut", {1, 128, 12, 160, 15, 15}},
    {"recogniser, tokens", {1, 1, 80, 120, 15, 15}},
    {"detector, neck", {1, 96, 160, 160, 15, 15}},
};
static const struct catalogue_case add2_test[] = {
    {"same shape", {2, 3, 5, 7, 15, 15}}, {"scalar", {2, 3, 4, 5, 15, 0}},
    {"row", {2, 3, 4, 5, 15, 1}},         {"channel", {2, 7, 3, 5, 15, 4}},
    {"outer", {3, 4, 5, 6, 12, 3}},       {"both sides", {2, 5, 3, 9, 10, 5}},
};
const struct catalogue_entry catalogue_add2 = {
    .name = "add2",
    .summary = "a + b with broadcasting",
    .params = "d0 d1 d2 d3 mask_a mask_b",
    .bench = add2_bench,
    .test = add2_test,
    .ntests = COUNT(add2_test),
    .io = add2_io,
    .run = add2_run,
    .reference = add2_reference,
    .flops = flops4,
    .reason = "one addition: exact",
};

/* ---- add_bias, scale_ch ---------------------------------------------------------------------------------
 */

enum { B, C, H, W, ACTIVATION };

static void add_bias_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_in(io, INPUT("bias", p[C]));
    add_out(io, INPUT("y", p[B], p[C], p[H], p[W]));
}

static int add_bias_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_add_bias(&in[0], &in[1], p[ACTIVATION], &out[0]);
}

static void add_bias_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_add_bias(p[B], p[C], p[H] * p[W], in[0], in[1], p[ACTIVATION], out[0]);
}

static const struct catalogue_case planes_bench[] = {
    {"recogniser, stage 2", {1, 64, 24, 160, ACTIVATE_RELU}},
    {"recogniser, stage 5", {1, 256, 6, 160, ACTIVATE_SILU}},
    {"detector, neck", {1, 96, 80, 80, ACTIVATE_NONE}},
};
static const struct catalogue_case planes_test[] = {
    {"odd", {2, 3, 5, 7, ACTIVATE_RELU}},
    {"one pixel", {3, 17, 1, 1, ACTIVATE_GELU}},
    {"one channel", {1, 1, 9, 31, ACTIVATE_TANH}},
};
const struct catalogue_entry catalogue_add_bias = {
    .name = "add_bias",
    .summary = "activation(x + bias of the channel)",
    .params = "n c h w activation",
    .bench = planes_bench,
    .test = planes_test,
    .ntests = COUNT(planes_test),
    .io = add_bias_io,
    .run = add_bias_run,
    .reference = add_bias_reference,
    .flops = flops4,
    .magnitude = 10,
    .ulps = 8,
    .reason = "one addition, then the activation's bound",
};

static void scale_ch_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_in(io, INPUT("scale", p[B], p[C]));
    add_out(io, INPUT("y", p[B], p[C], p[H], p[W]));
}

static int scale_ch_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_scale_ch(&in[0], &in[1], &out[0]);
}

static void scale_ch_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_scale_ch(p[B] * p[C], p[H] * p[W], in[0], in[1], out[0]);
}

const struct catalogue_entry catalogue_scale_ch = {
    .name = "scale_ch",
    .summary = "x times a factor a channel",
    .params = "n c h w",
    .bench = planes_bench,
    .test = planes_test,
    .ntests = COUNT(planes_test),
    .io = scale_ch_io,
    .run = scale_ch_run,
    .reference = scale_ch_reference,
    .flops = flops4,
    .reason = "one product: exact",
};

/* ---- se_gate --------------------------------------------------------------------------------------------
 */

enum { GATE_N, GATE_C, GATE_R };
#define GATE_ALPHA 0.2f
#define GATE_BETA  0.5f

static void se_gate_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("pooled", p[GATE_N], p[GATE_C]));
    add_in(io, INPUT("w1", p[GATE_R], p[GATE_C]));
    add_in(io, INPUT("b1", p[GATE_R]));
    add_in(io, INPUT("w2", p[GATE_C], p[GATE_R]));
    add_in(io, INPUT("b2", p[GATE_C]));
    add_out(io, INPUT("gate", p[GATE_N], p[GATE_C]));
}

static int se_gate_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_se_gate(&in[0], &in[1], &in[2], &in[3], &in[4], GATE_ALPHA, GATE_BETA, &out[0]);
}

static void se_gate_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_se_gate(p[GATE_N], p[GATE_C], p[GATE_R], in[0], in[1], in[2], in[3], in[4], GATE_ALPHA, GATE_BETA,
                out[0]);
}

static double se_gate_flops(const uint32_t *p)
{
    return 4.0 * p[GATE_N] * p[GATE_C] * p[GATE_R];
}

/* The hidden units, of size up to c, are wrong by c roundings each; r of them are summed. */
static double se_gate_terms(const uint32_t *p)
{
    return (double)p[GATE_C] * p[GATE_R];
}

static const struct catalogue_case se_gate_bench[] = {
    {"recogniser, stage 5", {1, 256, 64}},
    {"recogniser, stage 6", {1, 512, 128}},
    {"detector, neck", {1, 96, 24}},
};
static const struct catalogue_case se_gate_test[] = {
    {"odd", {3, 17, 5}}, {"one channel", {2, 1, 1}}, {"wide", {1, 130, 33}}};
const struct catalogue_entry catalogue_se_gate = {
    .name = "se_gate",
    .summary = "clamp(alpha (w2 relu(w1 pooled + b1) + b2) + beta, 0, 1)",
    .params = "n c r",
    .bench = se_gate_bench,
    .test = se_gate_test,
    .ntests = COUNT(se_gate_test),
    .io = se_gate_io,
    .run = se_gate_run,
    .reference = se_gate_reference,
    .flops = se_gate_flops,
    .terms = se_gate_terms,
    .magnitude = 1,
    .ulps = 8,
    .reason = "r hidden values, each a sum of c products of at most 1",
};
