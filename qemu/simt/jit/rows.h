/* SPDX-License-Identifier: MIT */
/*
 * Registers on their way between compiled code and the warp's rows. Compiled code leaves and takes rows that
 * are lean: a register that is uniform or affine is one word of warp.scalars, which lie side by side, a
 * constant is nowhere, and NaNs are raw where the analysis has them so. What is what stands in a table beside
 * the code, so that no code is compiled for what happens rarely.
 */
#ifndef SIMT_JIT_ROWS_H
#define SIMT_JIT_ROWS_H

#include "../src/cu.h"
#include "abs.h"

struct jit_row {
    struct jit_abs abs;
    uint8_t reg;
};

/* Rows as compiled code leaves them at one place. */
struct jit_exit {
    uint32_t first, count; /* in jit_exits.rows */
    uint32_t node;         /* whose full body takes them as they are; JIT_NO_NODE: none does */
};

struct jit_exits {
    struct jit_exit *exits;
    struct jit_row *rows;
    uint32_t count, row_count;
    bool failed; /* out of memory */
};

/* Add an exit, and a row to the exit added last. */
void jit_exits_add(struct jit_exits *x, uint32_t node);
void jit_exits_add_row(struct jit_exits *x, unsigned reg, struct jit_abs abs);
void jit_exits_free(struct jit_exits *x);

/* Rows that were left at an exit become what the interpreter expects. */
void jit_rows_fill(const struct jit_exits *x, const struct jit_exit *exit, const uint32_t scalars[JIT_REGS],
                   simt_row *xrows, simt_row *frows);

/* The interpreter's rows become lean ones as state wants them, for the registers of live, and the slots,
 * which begin below word `top` of private memory. All live lanes are in mask. False: they do not fit; the
 * interpreter can go on with them all the same. */
bool jit_rows_pack(struct simt_warp *w, uint32_t mask, const struct jit_state *state, uint64_t live,
                   uint32_t top);

#endif
