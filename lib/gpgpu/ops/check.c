/* SPDX-License-Identifier: MIT */
/* Shape checks of operators. */
#include <string.h>

#include "tensor_op.h"

int op_check_present(const char *op, const struct tensor *const *tensors)
{
    struct tensor_context *tc = tensors[0]->tc;
    for (unsigned i = 0; tensors[i]; i++) {
        if (!tensors[i]->tc)
            return tc ? op_fail(tc, -EINVAL, "%s: operand %u is empty", op, i) : -EINVAL;
        if (tensors[i]->tc != tc)
            return op_fail(tc, -EINVAL, "%s: operand %u is of another context", op, i);
    }
    return 0;
}

int op_check_shape(const char *op, const char *name, const struct tensor *t, enum tensor_type type,
                   uint32_t rank, const uint32_t *dims)
{
    if (t->type != type)
        return op_fail(t->tc, -EINVAL, "%s: %s is not %s", op, name, type == TENSOR_F32 ? "float" : "int32");
    if (t->rank == rank && memcmp(t->dims, dims, rank * sizeof *dims) == 0)
        return 0;
    struct tensor expected = {.rank = rank};
    memcpy(expected.dims, dims, rank * sizeof *dims);
    char got[64], want[64];
    return op_fail(t->tc, -EINVAL, "%s: %s is %s, expected %s", op, name,
                   tensor_shape_text(t, got, sizeof got), tensor_shape_text(&expected, want, sizeof want));
}

int op_check_rank(const char *op, const char *name, const struct tensor *t, uint32_t low, uint32_t high)
{
    char text[64];
    if (t->type != TENSOR_F32)
        return op_fail(t->tc, -EINVAL, "%s: %s is not float", op, name);
    if (t->rank < low || t->rank > high)
        return op_fail(t->tc, -EINVAL, "%s: %s has shape %s, expected rank %u to %u", op, name,
                       tensor_shape_text(t, text, sizeof text), low, high);
    return 0;
}

int op_check_same(const char *op, const char *name, const struct tensor *t, const struct tensor *like)
{
    int err = op_check_shape(op, name, t, TENSOR_F32, like->rank, like->dims);
    return err ? err : op_check_rank(op, "input", like, 1, TENSOR_MAX_RANK);
}

uint32_t op_product(const struct tensor *t, uint32_t from, uint32_t to)
{
    uint32_t n = 1;
    for (uint32_t i = from; i < to; i++)
        n *= t->dims[i];
    return n;
}
