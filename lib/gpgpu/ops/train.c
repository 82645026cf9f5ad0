/* SPDX-License-Identifier: MIT */
/* Loss, bias gradients, optimiser steps. */
#include <math.h>

#include "tensor_op.h"

int tensor_softmax_xent(const struct tensor *x, const struct tensor *label, float grad_scale,
                        struct tensor *loss, struct tensor *grad)
{
    const char *op = "softmax_xent";
    int err = OP_CHECK_PRESENT(op, x, label, loss, grad ? grad : loss);
    err = err ? err : op_check_rank(op, "input", x, 2, 2);
    err = err ? err : OP_CHECK_SHAPE(op, "label", label, TENSOR_I32, x->dims[0]);
    err = err ? err : OP_CHECK_SHAPE(op, "loss", loss, TENSOR_F32, x->dims[0]);
    if (!err && grad)
        err = op_check_same(op, "gradient", grad, x);
    if (err)
        return err;
    struct op_grid grid = op_grid_rows(x->tc, x->dims[0]);
    return OP_LAUNCH(x->tc, softmax_xent, grid, op_addr(x), op_addr(label), op_addr(loss), op_addr(grad),
                     op_u32(x->dims[0]), op_u32(x->dims[1]), op_f32(grad_scale));
}

int tensor_bias_backward(const struct tensor *dy, struct tensor *db)
{
    const char *op = "bias_backward";
    int err = OP_CHECK_PRESENT(op, dy, db);
    err = err ? err : op_check_rank(op, "dy", dy, 2, TENSOR_MAX_RANK);
    err = err ? err : OP_CHECK_SHAPE(op, "db", db, TENSOR_F32, dy->dims[1]);
    if (err)
        return err;
    uint32_t items = dy->dims[0], channels = dy->dims[1], pixels = op_product(dy, 2, dy->rank);
    if (pixels == 1) {
        struct op_grid columns = op_grid_linear(dy->tc, channels);
        return OP_LAUNCH(dy->tc, sum_rows, columns, op_addr(dy), op_addr(db), op_u32(items),
                         op_u32(channels));
    }
    struct op_grid grid = op_grid_rows(dy->tc, channels);
    return OP_LAUNCH(dy->tc, bias_backward, grid, op_addr(dy), op_addr(db), op_u32(items), op_u32(channels),
                     op_u32(pixels));
}

int tensor_sgd_step(struct tensor *w, const struct tensor *g, struct tensor *v,
                    const struct sgd_params *params)
{
    int err = OP_CHECK_PRESENT("sgd_step", w, g, v);
    err = err ? err : op_check_same("sgd_step", "gradient", g, w);
    err = err ? err : op_check_same("sgd_step", "velocity", v, w);
    if (err)
        return err;
    uint32_t n = tensor_elements(w);
    struct op_grid grid = op_grid_linear(w->tc, n);
    return OP_LAUNCH(w->tc, sgd_step, grid, op_addr(w), op_addr(g), op_addr(v), op_u32(n),
                     op_f32(params->rate), op_f32(params->momentum), op_f32(params->dampening),
                     op_f32(params->decay), op_u32(params->nesterov));
}

int tensor_adam_step(struct tensor *w, const struct tensor *g, struct tensor *m, struct tensor *v,
                     const struct adam_params *params)
{
    int err = OP_CHECK_PRESENT("adam_step", w, g, m, v);
    err = err ? err : op_check_same("adam_step", "gradient", g, w);
    err = err ? err : op_check_same("adam_step", "m", m, w);
    err = err ? err : op_check_same("adam_step", "v", v, w);
    if (!err && params->step == 0)
        err = op_fail(w->tc, -EINVAL, "adam_step: steps count from 1");
    if (err)
        return err;
    double correct1 = 1 - pow(params->beta1, params->step), correct2 = 1 - pow(params->beta2, params->step);
    uint32_t n = tensor_elements(w);
    struct op_grid grid = op_grid_linear(w->tc, n);
    return OP_LAUNCH(w->tc, adam_step, grid, op_addr(w), op_addr(g), op_addr(m), op_addr(v), op_u32(n),
                     op_f32((float)(params->rate / correct1)), op_f32(params->beta1), op_f32(params->beta2),
                     op_f32((float)(1 / sqrt(correct2))), op_f32(params->epsilon), op_f32(params->decay));
}
