/* SPDX-License-Identifier: MIT */
/* Helpers for entries of the catalogue; private to lib/gpgpu/catalogue. */
#ifndef CATALOGUE_ENTRY_H
#define CATALOGUE_ENTRY_H

#include "gpgpu/catalogue.h"
#include "gpgpu/operators.h"
#include "gpgpu/reference.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define DIMS(...)    .rank = sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), .dims = {__VA_ARGS__}

/* An input of floats in -1 .. 1, of floats in a range, of integers in a range. */
#define INPUT(label, ...)                                                                                    \
    (struct catalogue_tensor)                                                                                \
    {                                                                                                        \
        .name = label, .type = TENSOR_F32, .low = -1, .high = 1, .starts_as = -1, DIMS(__VA_ARGS__)          \
    }
#define INPUT_IN(label, from, to, ...)                                                                       \
    (struct catalogue_tensor)                                                                                \
    {                                                                                                        \
        .name = label, .type = TENSOR_F32, .low = from, .high = to, .starts_as = -1, DIMS(__VA_ARGS__)       \
    }
#define INTEGERS(label, from, to, ...)                                                                       \
    (struct catalogue_tensor)                                                                                \
    {                                                                                                        \
        .name = label, .type = TENSOR_I32, .low = (float)(from), .high = (float)(to), .starts_as = -1,       \
        DIMS(__VA_ARGS__)                                                                                    \
    }
/* An output that begins as a copy of input number `input`. */
#define IN_PLACE(label, input, ...)                                                                          \
    (struct catalogue_tensor)                                                                                \
    {                                                                                                        \
        .name = label, .type = TENSOR_F32, .starts_as = input, DIMS(__VA_ARGS__)                             \
    }

/* A parameter given in millionths. */
static inline float millionths(uint32_t p)
{
    return (float)(p / 1e6);
}

static inline void add_in(struct catalogue_io *io, struct catalogue_tensor t)
{
    io->in[io->ninputs++] = t;
}

static inline void add_out(struct catalogue_io *io, struct catalogue_tensor t)
{
    io->out[io->noutputs++] = t;
}

/* Operand t, or NULL when the case has none. */
static inline const struct tensor *optional(bool wanted, const struct tensor *t)
{
    return wanted ? t : NULL;
}

#endif
