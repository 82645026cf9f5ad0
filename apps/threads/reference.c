// SPDX-License-Identifier: MIT
// The GPU's references on all processors: each output is computed as by one, so that not a bit differs.
#include "gpgpu/reference.h"

#include <string.h>

#include "core/test.h"
#include "core/util.h"
#include "threads.h"

#define M    37
#define N    19
#define K    23
#define SIDE 11

static float a[M * K], b[K * N], bias[M], whole[M * N], parts[M * N];
static float x[M * SIDE * SIDE], weight[N * M * 9], image[N * SIDE * SIDE], planes[N * SIDE * SIDE];

// Numbers whose sums are rounded.
static void fill(float *out, size_t n, uint32_t state)
{
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        out[i] = (float)(int32_t)state / 3e9f;
    }
}

// A product of one row has one part: the caller computes it.
static void test_product(void)
{
    struct gemm_shape shape = {.batch = 1, .m = M, .n = N, .k = K, .alpha = 1.5f, .bias_per_row = true};
    struct gemm_shape row = shape;
    fill(a, ARRAY_SIZE(a), 1);
    fill(b, ARRAY_SIZE(b), 2);
    fill(bias, ARRAY_SIZE(bias), 3);
    ref_sgemm(&shape, a, b, bias, whole);
    row.m = 1;
    for (size_t i = 0; i < M; i++)
        ref_sgemm(&row, a + i * K, b, bias + i, parts + i * N);
    check(memcmp(whole, parts, sizeof(whole)) == 0, "a product of %dx%d is that of its rows, to the bit", M,
          N);
}

// So is a convolution with one output channel.
static void test_convolution(void)
{
    struct conv_shape shape = {
        .n = 1, .ic = M, .h = SIDE, .w = SIDE, .oc = N, .oh = SIDE, .ow = SIDE, .groups = 1};
    shape.win = window(3, 3);
    shape.win.pad_t = shape.win.pad_l = shape.win.pad_b = shape.win.pad_r = 1;
    struct conv_shape channel = shape;
    fill(x, ARRAY_SIZE(x), 4);
    fill(weight, ARRAY_SIZE(weight), 5);
    ref_conv2d(&shape, x, weight, bias, ACTIVATE_NONE, image);
    channel.oc = 1;
    for (size_t i = 0; i < N; i++)
        ref_conv2d(&channel, x, weight + i * M * 9, bias + i, ACTIVATE_NONE, planes + i * SIDE * SIDE);
    check(memcmp(image, planes, sizeof(image)) == 0, "a convolution is that of its %d channels, to the bit",
          N);
}

void test_references(void)
{
    test_product();
    test_convolution();
}
