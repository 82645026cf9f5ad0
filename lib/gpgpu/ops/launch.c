/* SPDX-License-Identifier: MIT */
/* Grids for operators, and their launches, recorded or not. */
#define LOG_MODULE "ops"
#include <stdarg.h>
#include <stdio.h>

#include "core/log.h"
#include "core/math.h"
#include "graph.h"
#include "tensor_op.h"

#define MAX_GRID_YZ     65535u /* CUDA's limit; ours is wider */
#define LINEAR_THREADS  256u
#define BLOCKS_A_CU     8u /* enough to balance the units; few, so that threads loop longer than they start */
#define MAX_PLANE_BLOCK 128u
#define ROW_THREADS     32u /* a warp: its barriers cost nothing, and a row is one host thread's work anyway */

int op_fail(struct tensor_context *tc, int err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(tc->error, sizeof tc->error, format, args);
    va_end(args);
    log_error("%s", tc->error);
    return err;
}

static uint32_t min_u32(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

struct op_grid op_grid_linear(const struct tensor_context *tc, uint32_t n)
{
    uint32_t blocks = min_u32(div_round_up(n, LINEAR_THREADS), tc->caps.compute_units * BLOCKS_A_CU);
    return (struct op_grid){{blocks, 1, 1}, {LINEAR_THREADS, 1, 1}, 0};
}

struct op_grid op_grid_planes(const struct tensor_context *tc, uint32_t pixels, uint32_t planes,
                              uint32_t items)
{
    uint32_t threads = min_u32(align_up(pixels, 32), MAX_PLANE_BLOCK);
    uint32_t target = (uint32_t)div_round_up(tc->caps.compute_units * BLOCKS_A_CU, items);
    uint32_t y = min_u32(planes, min_u32(target, MAX_GRID_YZ));
    uint32_t x = min_u32(div_round_up(pixels, threads), (uint32_t)div_round_up(target, y));
    return (struct op_grid){{x, y, items}, {threads, 1, 1}, 0};
}

struct op_grid op_grid_rows(const struct tensor_context *tc, uint32_t rows)
{
    return (struct op_grid){
        {min_u32(rows, tc->caps.compute_units * BLOCKS_A_CU), 1, 1}, {ROW_THREADS, 1, 1}, ROW_THREADS * 4};
}

uint32_t op_divisor_shift(uint32_t d)
{
    return log2_ceil(d);
}

uint32_t op_divisor_magic(uint32_t d)
{
    return (uint32_t)((1ull << (31 + op_divisor_shift(d))) / d + 1);
}

int op_launch(struct tensor_context *tc, enum kernel_id id, const struct op_grid *grid,
              const struct gpgpu_arg *args, size_t nargs)
{
    if (grid->blocks[1] > MAX_GRID_YZ || grid->blocks[2] > MAX_GRID_YZ)
        return op_fail(tc, -EINVAL, "%s: a grid of %u x %u x %u blocks is too large in y or z",
                       op_kernel_name(id), grid->blocks[0], grid->blocks[1], grid->blocks[2]);
    if (grid->shared_bytes > tc->caps.shared_max)
        return op_fail(tc, -EINVAL, "%s: needs %u bytes of shared memory, the device has %u a block",
                       op_kernel_name(id), grid->shared_bytes, tc->caps.shared_max);
    if (tc->recording)
        return graph_append(tc->recording, id, grid, args, nargs);
    struct gpgpu_launch launch = {
        .grid = {grid->blocks[0], grid->blocks[1], grid->blocks[2]},
        .block = {grid->threads[0], grid->threads[1], grid->threads[2]},
        .shared_bytes = grid->shared_bytes,
        .args = args,
        .nargs = nargs,
    };
    int err = gpgpu_device_launch(tc->device, tc->stream, tc->kernels[id], &launch);
    return err ? op_fail(tc, err, "%s: launch failed: error %d", op_kernel_name(id), err) : 0;
}
