/* SPDX-License-Identifier: MIT */
/* Activations and their derivatives. */
#include "tensor_op.h"

static int unary(const char *op, enum kernel_id id, const struct tensor *x, struct tensor *y)
{
    int err = OP_CHECK_PRESENT(op, x, y);
    err = err ? err : op_check_same(op, "result", y, x);
    if (err)
        return err;
    uint32_t n = tensor_elements(x);
    struct op_grid grid = op_grid_linear(x->tc, n);
    struct gpgpu_arg args[] = {op_addr(x), op_addr(y), op_u32(n)};
    return op_launch(x->tc, id, &grid, args, 3);
}

static int unary_backward(const char *op, enum kernel_id id, const struct tensor *x, const struct tensor *dy,
                          struct tensor *dx)
{
    int err = OP_CHECK_PRESENT(op, x, dy, dx);
    err = err ? err : op_check_same(op, "dy", dy, x);
    err = err ? err : op_check_same(op, "dx", dx, x);
    if (err)
        return err;
    uint32_t n = tensor_elements(x);
    struct op_grid grid = op_grid_linear(x->tc, n);
    struct gpgpu_arg args[] = {op_addr(x), op_addr(dy), op_addr(dx), op_u32(n)};
    return op_launch(x->tc, id, &grid, args, 4);
}

#define ACTIVATION(name)                                                                                     \
    int tensor_##name(const struct tensor *x, struct tensor *y)                                              \
    {                                                                                                        \
        return unary(#name, KERNEL_##name, x, y);                                                            \
    }                                                                                                        \
    int tensor_##name##_backward(const struct tensor *x, const struct tensor *dy, struct tensor *dx)         \
    {                                                                                                        \
        return unary_backward(#name "_backward", KERNEL_##name##_backward, x, dy, dx);                       \
    }

ACTIVATION(relu)
ACTIVATION(silu)
ACTIVATION(gelu)
ACTIVATION(sigmoid)
ACTIVATION(tanh)

int tensor_hardsigmoid(const struct tensor *x, float alpha, float beta, struct tensor *y)
{
    int err = OP_CHECK_PRESENT("hardsigmoid", x, y);
    err = err ? err : op_check_same("hardsigmoid", "result", y, x);
    if (err)
        return err;
    uint32_t n = tensor_elements(x);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, hardsigmoid, grid, op_addr(x), op_addr(y), op_u32(n), op_f32(alpha),
                     op_f32(beta));
}

int tensor_hardsigmoid_backward(const struct tensor *x, const struct tensor *dy, float alpha, float beta,
                                struct tensor *dx)
{
    const char *op = "hardsigmoid_backward";
    int err = OP_CHECK_PRESENT(op, x, dy, dx);
    err = err ? err : op_check_same(op, "dy", dy, x);
    err = err ? err : op_check_same(op, "dx", dx, x);
    if (err)
        return err;
    uint32_t n = tensor_elements(x);
    struct op_grid grid = op_grid_linear(x->tc, n);
    return OP_LAUNCH(x->tc, hardsigmoid_backward, grid, op_addr(x), op_addr(dy), op_addr(dx), op_u32(n),
                     op_f32(alpha), op_f32(beta));
}
