/* SPDX-License-Identifier: MIT */
/* Catalogue: pooling and its gradients. */
#include "entry.h"

enum { B, C, H, W, KH, KW, SH, SW, DH, DW, PT, PL, PB, PR, CEILING, INCLUDE_PAD };
#define POOL_PARAMS "n c h w kh kw stride_h stride_w dil_h dil_w pad_t pad_l pad_b pad_r ceiling include_pad"

static struct pool_shape shape_of(const uint32_t *p)
{
    return (struct pool_shape){
        .planes = p[B] * p[C],
        .h = p[H],
        .w = p[W],
        .oh = window_positions(p[H], p[KH], p[SH], p[DH], p[PT] + p[PB], p[CEILING]),
        .ow = window_positions(p[W], p[KW], p[SW], p[DW], p[PL] + p[PR], p[CEILING]),
        .win = {p[KH], p[KW], p[SH], p[SW], p[DH], p[DW], p[PT], p[PL], p[PB], p[PR]},
        .include_pad = p[INCLUDE_PAD],
    };
}

static double pool_flops(const uint32_t *p)
{
    struct pool_shape s = shape_of(p);
    return (double)s.planes * s.oh * s.ow * p[KH] * p[KW];
}

static double pool_terms(const uint32_t *p)
{
    return p[KH] * p[KW];
}

static const struct catalogue_case bench[] = {
    {"classifier, layer 1", {16, 6, 28, 28, 2, 2, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0}},
    {"recogniser, height", {1, 256, 6, 80, 3, 2, 3, 2, 1, 1, 0, 0, 0, 0, 0, 0}},
    {"detector, stem", {1, 64, 160, 160, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 0, 1}},
};
static const struct catalogue_case max_test[] = {
    {"odd", {2, 3, 7, 9, 2, 3, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0}},
    {"padded", {1, 2, 6, 5, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0}},
    {"dilated", {1, 2, 9, 11, 2, 3, 1, 1, 2, 3, 0, 1, 1, 0, 0, 0}},
    {"rounded up", {2, 1, 8, 9, 3, 2, 2, 2, 1, 1, 0, 0, 0, 0, 1, 0}},
};
static const struct catalogue_case avg_test[] = {
    {"odd", {2, 3, 7, 9, 2, 3, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0}},
    {"padded, not counted", {1, 2, 6, 5, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0}},
    {"padded, counted", {1, 2, 6, 5, 3, 3, 1, 2, 1, 1, 2, 1, 0, 1, 0, 1}},
    {"rounded up", {2, 1, 8, 9, 3, 2, 2, 2, 1, 1, 1, 0, 1, 0, 1, 1}},
};

/* ---- pool_max -------------------------------------------------------------------------------------------
 */

static void max_io(const uint32_t *p, struct catalogue_io *io)
{
    struct pool_shape s = shape_of(p);
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_out(io, INPUT("y", p[B], p[C], s.oh, s.ow));
    add_out(io, INTEGERS("index", 0, 0, p[B], p[C], s.oh, s.ow));
}

static int max_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct pool_shape s = shape_of(p);
    return tensor_pool_max(&in[0], &s.win, &out[0], &out[1]);
}

static void max_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct pool_shape s = shape_of(p);
    ref_pool_max(&s, in[0], out[0], out[1]);
}

const struct catalogue_entry catalogue_pool_max = {
    .name = "pool_max",
    .summary = "maximum of each window, and where it was",
    .params = POOL_PARAMS,
    .bench = bench,
    .test = max_test,
    .ntests = COUNT(max_test),
    .io = max_io,
    .run = max_run,
    .reference = max_reference,
    .flops = pool_flops,
    .reason = "selects: exact",
};

/* dy spread to any place of the plane: the operator does not care whether a maximum was there, but its place
 * must be in the window, so the reference's own index of random x is used. */
static void max_backward_io(const uint32_t *p, struct catalogue_io *io)
{
    struct pool_shape s = shape_of(p);
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_in(io, INPUT("dy", p[B], p[C], s.oh, s.ow));
    add_out(io, INPUT("y", p[B], p[C], s.oh, s.ow));
    add_out(io, INTEGERS("index", 0, 0, p[B], p[C], s.oh, s.ow));
    add_out(io, INPUT("dx", p[B], p[C], p[H], p[W]));
}

static int max_backward_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct pool_shape s = shape_of(p);
    int err = tensor_pool_max(&in[0], &s.win, &out[0], &out[1]);
    return err ? err : tensor_pool_max_backward(&in[1], &out[1], &s.win, &out[2]);
}

static void max_backward_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct pool_shape s = shape_of(p);
    ref_pool_max(&s, in[0], out[0], out[1]);
    ref_pool_max_backward(&s, in[1], out[1], out[2]);
}

const struct catalogue_entry catalogue_pool_max_backward = {
    .name = "pool_max_backward",
    .summary = "pool_max, then dy to where the maxima were",
    .params = POOL_PARAMS,
    .bench = bench,
    .test = max_test,
    .ntests = COUNT(max_test),
    .io = max_backward_io,
    .run = max_backward_run,
    .reference = max_backward_reference,
    .flops = pool_flops,
    .terms = pool_terms,
    .magnitude = 2,
    .reason = "a sum of dy over at most kh kw windows",
};

/* ---- pool_avg -------------------------------------------------------------------------------------------
 */

static void avg_io(const uint32_t *p, struct catalogue_io *io)
{
    struct pool_shape s = shape_of(p);
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_out(io, INPUT("y", p[B], p[C], s.oh, s.ow));
}

static int avg_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct pool_shape s = shape_of(p);
    return tensor_pool_avg(&in[0], &s.win, s.include_pad, &out[0]);
}

static void avg_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct pool_shape s = shape_of(p);
    ref_pool_avg(&s, in[0], out[0]);
}

const struct catalogue_entry catalogue_pool_avg = {
    .name = "pool_avg",
    .summary = "mean of each window",
    .params = POOL_PARAMS,
    .bench = bench,
    .test = avg_test,
    .ntests = COUNT(avg_test),
    .io = avg_io,
    .run = avg_run,
    .reference = avg_reference,
    .flops = pool_flops,
    .terms = pool_terms,
    .magnitude = 1,
    .ulps = 4,
    .reason = "a sum of at most kh kw values of at most 1, and a quotient",
};

static void avg_backward_io(const uint32_t *p, struct catalogue_io *io)
{
    struct pool_shape s = shape_of(p);
    add_in(io, INPUT("dy", p[B], p[C], s.oh, s.ow));
    add_out(io, INPUT("dx", p[B], p[C], p[H], p[W]));
}

static int avg_backward_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct pool_shape s = shape_of(p);
    return tensor_pool_avg_backward(&in[0], &s.win, s.include_pad, &out[0]);
}

static void avg_backward_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct pool_shape s = shape_of(p);
    ref_pool_avg_backward(&s, in[0], out[0]);
}

const struct catalogue_entry catalogue_pool_avg_backward = {
    .name = "pool_avg_backward",
    .summary = "dy's share of every window an element was in",
    .params = POOL_PARAMS,
    .bench = bench,
    .test = avg_test,
    .ntests = COUNT(avg_test),
    .io = avg_backward_io,
    .run = avg_backward_run,
    .reference = avg_backward_reference,
    .flops = pool_flops,
    .terms = pool_terms,
    .magnitude = 2,
    .ulps = 4,
    .reason = "a sum of at most kh kw quotients of at most 1",
};

/* ---- global_avg -----------------------------------------------------------------------------------------
 */

static double plane_flops(const uint32_t *p)
{
    return (double)p[B] * p[C] * p[H] * p[W];
}

static double plane_terms(const uint32_t *p)
{
    return (double)p[H] * p[W];
}

static const struct catalogue_case global_bench[] = {
    {"recogniser, gate 5", {1, 256, 6, 80}},
    {"recogniser, gate 6", {1, 512, 3, 80}},
    {"detector, gate", {1, 96, 80, 80}},
};
static const struct catalogue_case global_test[] = {
    {"odd", {2, 3, 5, 7}}, {"one pixel", {3, 11, 1, 1}}, {"large plane", {1, 2, 33, 41}}};

static void global_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_out(io, INPUT("y", p[B], p[C]));
}

static int global_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_global_avg(&in[0], &out[0]);
}

static void global_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_global_avg(p[B] * p[C], p[H] * p[W], in[0], out[0]);
}

const struct catalogue_entry catalogue_global_avg = {
    .name = "global_avg",
    .summary = "mean of each plane",
    .params = "n c h w",
    .bench = global_bench,
    .test = global_test,
    .ntests = COUNT(global_test),
    .io = global_io,
    .run = global_run,
    .reference = global_reference,
    .flops = plane_flops,
    .terms = plane_terms,
    .magnitude = 0.1,
    .ulps = 4,
    .reason = "a sum of h w values of at most 1, divided by h w",
};

static void global_backward_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("dy", p[B], p[C]));
    add_out(io, INPUT("dx", p[B], p[C], p[H], p[W]));
}

static int global_backward_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_global_avg_backward(&in[0], &out[0]);
}

static void global_backward_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_global_avg_backward(p[B] * p[C], p[H] * p[W], in[0], out[0]);
}

const struct catalogue_entry catalogue_global_avg_backward = {
    .name = "global_avg_backward",
    .summary = "dy / (h w) to every element of the plane",
    .params = "n c h w",
    .bench = global_bench,
    .test = global_test,
    .ntests = COUNT(global_test),
    .io = global_backward_io,
    .run = global_backward_run,
    .reference = global_backward_reference,
    .flops = plane_flops,
    .reason = "one quotient: exact",
};
