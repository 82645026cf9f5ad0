/* SPDX-License-Identifier: MIT */
/* A growing piece of machine code at a fixed address. */
#ifndef CONFORMANCE_CODE_H
#define CONFORMANCE_CODE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "encode.h"

struct code {
    uint32_t base; /* address of words[0] */
    uint32_t count, capacity;
    uint32_t *words;
};

static inline void code_emit(struct code *c, uint32_t word)
{
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 256;
        c->words = realloc(c->words, c->capacity * sizeof(*c->words));
        if (!c->words) {
            fprintf(stderr, "no memory for %u words of code\n", c->capacity);
            exit(2);
        }
    }
    c->words[c->count++] = word;
}

/* Address of the next instruction. */
static inline uint32_t code_here(const struct code *c)
{
    return c->base + 4 * c->count;
}

/* rd = value, always two instructions, so that addresses do not depend on it. */
static inline void code_li(struct code *c, uint32_t rd, uint32_t value)
{
    code_emit(c, rv_u(OP_LUI, rd, value + 0x800));
    code_emit(c, rv_addi(rd, rd, (int32_t)(value << 20) >> 20));
}

/* Overwrite what code_li() put at address at. */
static inline void code_patch_li(struct code *c, uint32_t at, uint32_t rd, uint32_t value)
{
    uint32_t *w = &c->words[(at - c->base) / 4];

    w[0] = rv_u(OP_LUI, rd, value + 0x800);
    w[1] = rv_addi(rd, rd, (int32_t)(value << 20) >> 20);
}

static inline void code_patch(struct code *c, uint32_t at, uint32_t word)
{
    c->words[(at - c->base) / 4] = word;
}

static inline void code_free(struct code *c)
{
    free(c->words);
    c->words = NULL;
    c->count = c->capacity = 0;
}

#endif
