/* SPDX-License-Identifier: MIT */
/* What the operators share: messages, shape checks, launches. Private to lib/gpgpu/ops. */
#ifndef OPS_TENSOR_OP_H
#define OPS_TENSOR_OP_H

#include <errno.h>

#include "gpgpu/operators.h"
#include "kernel_names.h"
#include "../kernels/kernel_defs.h"

/* Log and keep a message; returns err. */
int op_fail(struct tensor_context *tc, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- checks: 0, or -EINVAL after a message that starts with the operator's name -------------------------
 */

/* Every tensor of the list (ended by NULL) is there, all of one context. */
int op_check_present(const char *op, const struct tensor *const *tensors);
#define OP_CHECK_PRESENT(op, ...) op_check_present(op, (const struct tensor *const[]){__VA_ARGS__, NULL})

/* t has that type, rank and shape. `name` is what the message calls it. */
int op_check_shape(const char *op, const char *name, const struct tensor *t, enum tensor_type type,
                   uint32_t rank, const uint32_t *dims);
#define OP_CHECK_SHAPE(op, name, t, type, ...)                                                               \
    op_check_shape(op, name, t, type, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                  \
                   (const uint32_t[]){__VA_ARGS__})

/* t has a rank between low and high, and is of floats. */
int op_check_rank(const char *op, const char *name, const struct tensor *t, uint32_t low, uint32_t high);

/* Both are float tensors of the same shape. */
int op_check_same(const char *op, const char *name, const struct tensor *t, const struct tensor *like);

/* Product of dimensions from .. to - 1. */
uint32_t op_product(const struct tensor *t, uint32_t from, uint32_t to);

/* ---- launches -------------------------------------------------------------------------------------------
 */

struct op_grid {
    uint32_t blocks[3];
    uint32_t threads[3];
    uint32_t shared_bytes;
};

/* A one-dimensional grid for n elements of a FOR_EACH kernel. */
struct op_grid op_grid_linear(const struct tensor_context *tc, uint32_t n);

/* The same along x for `pixels`, with planes along y (the kernel strides over them) and items along z. */
struct op_grid op_grid_planes(const struct tensor_context *tc, uint32_t pixels, uint32_t planes,
                              uint32_t items);

/* Blocks of a warp that stride over rows, a float of shared memory a thread. */
struct op_grid op_grid_rows(const struct tensor_context *tc, uint32_t rows);

/* Queue the kernel, or record it. */
int op_launch(struct tensor_context *tc, enum kernel_id id, const struct op_grid *grid,
              const struct gpgpu_arg *args, size_t nargs);
#define OP_LAUNCH(tc, name, grid, ...)                                                                       \
    op_launch(tc, KERNEL_##name, &(grid), (const struct gpgpu_arg[]){__VA_ARGS__},                           \
              sizeof((const struct gpgpu_arg[]){__VA_ARGS__}) / sizeof(struct gpgpu_arg))

/* Arguments of OP_LAUNCH, as the kernel's KERNEL() line has them. */
static inline struct gpgpu_arg op_addr(const struct tensor *t)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_ADDR, .addr = t ? t->addr : 0};
}

/* The address of t's element `offset`. */
static inline struct gpgpu_arg op_addr_at(const struct tensor *t, size_t offset)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_ADDR, .addr = t->addr + 4 * offset};
}

static inline struct gpgpu_arg op_u32(uint32_t v)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_U32, .u32 = v};
}

static inline struct gpgpu_arg op_i32(int32_t v)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_I32, .i32 = v};
}

static inline struct gpgpu_arg op_f32(float v)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_F32, .f32 = v};
}

/* What DIVIDE() of gpgpu_kernel.h multiplies and shifts by. d is at least 1. */
uint32_t op_divisor_magic(uint32_t d);
uint32_t op_divisor_shift(uint32_t d);
#define OP_DIVISOR(d) op_u32(d), op_u32(op_divisor_magic(d)), op_u32(op_divisor_shift(d))

/* ---- a product as the kernel takes it -------------------------------------------------------------------
 */

struct gemm_call {
    const struct tensor *a, *b, *bias;
    struct tensor *c;
    size_t a_offset, b_offset, c_offset, bias_offset; /* elements */
    uint32_t batch, m, n, k;
    uint32_t lda, ldb, ldc;
    uint32_t stride_a, stride_b, stride_c; /* elements between batch items */
    uint32_t flags;                        /* SGEMM_* */
    enum activation activation;
    float alpha, beta;
};

int op_gemm(struct tensor_context *tc, const struct gemm_call *call);

#endif
