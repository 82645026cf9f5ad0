/* SPDX-License-Identifier: MIT */
/* Catalogue: moving data. All exact. */
#include "entry.h"

#define EXACT "moves data: exact"

static double no_flops(const uint32_t *p)
{
    (void)p;
    return 0;
}

#define MOVE(label, text, names, shapes, tests)                                                              \
    const struct catalogue_entry catalogue_##label = {                                                       \
        .name = #label,                                                                                      \
        .summary = text,                                                                                     \
        .params = names,                                                                                     \
        .bench = shapes,                                                                                     \
        .test = tests,                                                                                       \
        .ntests = COUNT(tests),                                                                              \
        .io = label##_io,                                                                                    \
        .run = label##_run,                                                                                  \
        .reference = label##_reference,                                                                      \
        .flops = no_flops,                                                                                   \
        .reason = EXACT,                                                                                     \
    }

/* ---- fill -----------------------------------------------------------------------------------------------
 */

static void fill_io(const uint32_t *p, struct catalogue_io *io)
{
    add_out(io, INPUT("y", p[0]));
}

static int fill_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p, (void)in;
    return tensor_fill(&out[0], 0.375f);
}

static void fill_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    (void)in;
    for (uint32_t i = 0; i < p[0]; i++)
        ((float *)out[0])[i] = 0.375f;
}

static const struct catalogue_case fill_bench[] = {{"recogniser, tokens", {80 * 120}},
                                                   {"recogniser, image", {3 * 48 * 320}},
                                                   {"detector, map", {640 * 640}}};
static const struct catalogue_case fill_test[] = {{"one element", {1}}, {"odd", {1013}}};
MOVE(fill, "y = value", "n", fill_bench, fill_test);

/* ---- zero_cols ------------------------------------------------------------------------------------------
 */

enum { B, C, H, W, E, F, G, I, MODE, VALUE };

static void zero_cols_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_in(io, INTEGERS("valid", 0, p[W] + 1, p[B]));
    add_out(io, IN_PLACE("x", 0, p[B], p[C], p[H], p[W]));
}

static int zero_cols_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_zero_cols(&out[0], &in[1]);
}

static void zero_cols_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_zero_cols(p[B], p[C] * p[H], p[W], in[1], out[0]);
}

static const struct catalogue_case zero_cols_bench[] = {{"recogniser, stem", {8, 16, 24, 160}},
                                                        {"recogniser, stage 3", {8, 128, 12, 160}},
                                                        {"recogniser, stage 5", {8, 256, 6, 80}}};
static const struct catalogue_case zero_cols_test[] = {{"odd", {3, 2, 5, 7}}, {"one column", {9, 1, 3, 1}}};
MOVE(zero_cols, "clears the columns past each item's valid width, in place", "n c h w", zero_cols_bench,
     zero_cols_test);

/* ---- pad_rb ---------------------------------------------------------------------------------------------
 */

static void pad_rb_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_out(io, INPUT("y", p[B], p[C], p[E], p[F]));
}

static int pad_rb_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_pad_rb(&in[0], &out[0]);
}

static void pad_rb_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_pad_rb(p[B] * p[C], p[H], p[W], p[E], p[F], in[0], out[0]);
}

static const struct catalogue_case pad_rb_bench[] = {{"recogniser, line", {1, 3, 48, 301, 48, 320}},
                                                     {"detector, page", {1, 3, 601, 639, 608, 640}},
                                                     {"detector, stage 3", {1, 96, 39, 79, 40, 80}}};
static const struct catalogue_case pad_rb_test[] = {
    {"odd", {2, 3, 5, 7, 6, 11}}, {"right only", {1, 2, 4, 3, 4, 4}}, {"nothing", {1, 1, 3, 3, 3, 3}}};
MOVE(pad_rb, "zeros to the right and below", "n c h w oh ow", pad_rb_bench, pad_rb_test);

/* ---- pad_all: E..I are 100 + rows or columns on each side, so that they can be negative ------------------
 */

static struct pad_shape pad_of(const uint32_t *p)
{
    return (struct pad_shape){
        .planes = p[B] * p[C],
        .h = p[H],
        .w = p[W],
        .top = (int32_t)p[E] - 100,
        .left = (int32_t)p[F] - 100,
        .bottom = (int32_t)p[G] - 100,
        .right = (int32_t)p[I] - 100,
        .mode = p[MODE],
        .value = millionths(p[VALUE]),
    };
}

static void pad_all_io(const uint32_t *p, struct catalogue_io *io)
{
    struct pad_shape s = pad_of(p);
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_out(io, INPUT("y", p[B], p[C], (uint32_t)((int32_t)s.h + s.top + s.bottom),
                      (uint32_t)((int32_t)s.w + s.left + s.right)));
}

static int pad_all_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct pad_shape s = pad_of(p);
    return tensor_pad_all(&in[0], &s, &out[0]);
}

static void pad_all_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct pad_shape s = pad_of(p);
    ref_pad_all(&s, in[0], out[0]);
}

static const struct catalogue_case pad_all_bench[] = {
    {"recogniser, stem", {1, 3, 48, 320, 101, 101, 101, 101, PAD_WITH_VALUE}},
    {"detector, page", {1, 3, 600, 632, 104, 104, 104, 104, PAD_WITH_EDGE}},
    {"detector, stage 3", {1, 96, 80, 80, 101, 101, 101, 101, PAD_WITH_REFLECTION}}};
static const struct catalogue_case pad_all_test[] = {
    {"value", {2, 3, 5, 7, 101, 102, 100, 103, PAD_WITH_VALUE, 750000}},
    {"edge", {1, 2, 4, 5, 103, 100, 107, 106, PAD_WITH_EDGE}},
    {"reflection", {2, 1, 6, 5, 103, 104, 105, 102, PAD_WITH_REFLECTION}},
    {"cropping", {1, 3, 8, 9, 98, 97, 101, 99, PAD_WITH_VALUE}}};
MOVE(pad_all, "padding on any side by a value, the edge or reflection; negative crops",
     "n c h w top+100 left+100 bottom+100 right+100 mode value/1e6", pad_all_bench, pad_all_test);

/* ---- crop_cols ------------------------------------------------------------------------------------------
 */

static void crop_cols_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_out(io, INPUT("y", p[B], p[C], p[H], p[F]));
}

static int crop_cols_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_crop_cols(&in[0], p[E], &out[0]);
}

static void crop_cols_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_crop_cols(p[B] * p[C] * p[H], p[W], p[E], p[F], in[0], out[0]);
}

static const struct catalogue_case crop_cols_bench[] = {{"recogniser, stem", {1, 16, 24, 160, 3, 150}},
                                                        {"recogniser, stage 5", {1, 256, 6, 80, 0, 61}},
                                                        {"detector, map", {1, 1, 640, 640, 0, 601}}};
static const struct catalogue_case crop_cols_test[] = {
    {"odd", {2, 3, 5, 11, 2, 7}}, {"one column", {1, 4, 3, 5, 4, 1}}, {"all", {1, 2, 3, 4, 0, 4}}};
MOVE(crop_cols, "columns left .. left + ow - 1", "n c h w left ow", crop_cols_bench, crop_cols_test);

/* ---- copy_part: B outer, C positions of x, H inner; y has W of them; E from, F to, G count ---------------
 */

static void copy_part_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[B], p[C], p[H]));
    add_in(io, INPUT("y", p[B], p[W], p[H]));
    add_out(io, IN_PLACE("y", 1, p[B], p[W], p[H]));
}

static int copy_part_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    return tensor_copy_part(&in[0], 1, p[E], p[G], &out[0], p[F]);
}

static void copy_part_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_copy_part(p[B], p[H], in[0], p[C], p[E], out[0], p[W], p[F], p[G]);
}

static const struct catalogue_case copy_part_bench[] = {
    {"detector, neck", {1, 24, 160 * 160, 96, 0, 24, 24}},
    {"recogniser, tokens", {1, 80, 120, 40, 20, 0, 40}},
    {"recogniser, channels", {8, 128, 12 * 80, 64, 64, 0, 64}}};
static const struct catalogue_case copy_part_test[] = {{"concatenation", {3, 4, 7, 9, 0, 4, 4}},
                                                       {"slice", {2, 9, 5, 3, 2, 0, 3}},
                                                       {"part to part", {5, 6, 1, 7, 1, 2, 3}}};
MOVE(copy_part, "copies positions along an axis: concatenation, slice",
     "outer x_len inner y_len x_from y_from count", copy_part_bench, copy_part_test);

/* ---- interp_nearest: E..G are oh, ow and how a coordinate maps; I how it rounds; scales, where not oh / h
 * --- */

enum { SCALE_H = MODE, SCALE_W };

static struct resize_shape resize_of(const uint32_t *p)
{
    return resize_nearest(p[B] * p[C], p[H], p[W], p[E], p[F], p[G], p[I], millionths(p[SCALE_H]),
                          millionths(p[SCALE_W]));
}

static void interp_nearest_io(const uint32_t *p, struct catalogue_io *io)
{
    struct resize_shape s = resize_of(p);
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_out(io, INPUT("y", p[B], p[C], s.oh, s.ow));
}

static int interp_nearest_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    struct resize_shape s = resize_of(p);
    return tensor_interp_nearest(&in[0], &s, &out[0]);
}

static void interp_nearest_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    struct resize_shape s = resize_of(p);
    ref_interp_nearest(&s, in[0], out[0]);
}

static const struct catalogue_case interp_nearest_bench[] = {
    {"detector, neck", {1, 96, 20, 20, 40, 40, RESIZE_ASYMMETRIC, RESIZE_FLOOR}},
    {"detector, neck to map", {1, 24, 20, 20, 160, 160, RESIZE_ASYMMETRIC, RESIZE_FLOOR}},
    {"detector, neck", {1, 96, 80, 80, 160, 160, RESIZE_ASYMMETRIC, RESIZE_FLOOR}}};
static const struct catalogue_case interp_nearest_test[] = {
    {"twice", {2, 3, 5, 7, 10, 14, RESIZE_ASYMMETRIC, RESIZE_FLOOR}},
    {"half pixel", {1, 2, 9, 11, 12, 29, RESIZE_HALF_PIXEL, RESIZE_PREFER_FLOOR}},
    {"smaller", {1, 3, 17, 13, 10, 5, RESIZE_HALF_PIXEL, RESIZE_CEIL}},
    {"corners aligned", {1, 2, 6, 5, 9, 1, RESIZE_ALIGN_CORNERS, RESIZE_PREFER_CEIL}},
    {"given scale", {1, 2, 4, 4, 2, 2, RESIZE_ASYMMETRIC, RESIZE_FLOOR, 600000, 600000}}};
MOVE(interp_nearest, "nearest-neighbour resizing",
     "n c h w oh ow coordinates rounding scale_h/1e6 scale_w/1e6", interp_nearest_bench, interp_nearest_test);

/* ---- chw_to_seq -----------------------------------------------------------------------------------------
 */

static void chw_to_seq_io(const uint32_t *p, struct catalogue_io *io)
{
    add_in(io, INPUT("x", p[B], p[C], p[H], p[W]));
    add_out(io, INPUT("y", p[B], p[H] * p[W], p[C]));
}

static int chw_to_seq_run(const uint32_t *p, const struct tensor *in, struct tensor *out)
{
    (void)p;
    return tensor_chw_to_seq(&in[0], &out[0]);
}

static void chw_to_seq_reference(const uint32_t *p, const void *const *in, void *const *out)
{
    ref_chw_to_seq(p[B], p[C], p[H] * p[W], in[0], out[0]);
}

static const struct catalogue_case chw_to_seq_bench[] = {{"recogniser, end of the backbone", {1, 512, 1, 80}},
                                                         {"recogniser, batch of 8", {8, 480, 1, 80}},
                                                         {"recogniser, mixing", {1, 120, 3, 80}}};
static const struct catalogue_case chw_to_seq_test[] = {
    {"odd", {2, 5, 3, 7}}, {"over a tile", {1, 37, 5, 9}}, {"one channel", {3, 1, 1, 40}}};
MOVE(chw_to_seq, "[n][c][h][w] to [n][h w][c]", "n c h w", chw_to_seq_bench, chw_to_seq_test);
