/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <stdlib.h>

#include "../src/fp.h"

/* Room for one more element in an array whose room is the next power of two; NULL: out of memory. */
static void *grown(void *array, uint32_t count, size_t size)
{
    bool full = (count & (count - 1)) == 0;
    return full ? realloc(array, (count ? 2 * (size_t)count : 1) * size) : array;
}

void jit_exits_add(struct jit_exits *x, uint32_t node)
{
    struct jit_exit *exits = grown(x->exits, x->count, sizeof(*exits));
    if (!exits) {
        x->failed = true;
        return;
    }
    x->exits = exits;
    x->exits[x->count++] = (struct jit_exit){.first = x->row_count, .node = node};
}

void jit_exits_add_row(struct jit_exits *x, unsigned reg, struct jit_abs abs)
{
    struct jit_row *rows = grown(x->rows, x->row_count, sizeof(*rows));
    if (!rows || x->failed) {
        x->failed = true;
        return;
    }
    x->rows = rows;
    x->rows[x->row_count++] = (struct jit_row){.abs = abs, .reg = (uint8_t)reg};
    x->exits[x->count - 1].count++;
}

void jit_exits_free(struct jit_exits *x)
{
    free(x->exits);
    free(x->rows);
}

static uint32_t *row_of(struct simt_warp *w, unsigned reg)
{
    return reg < 32 ? w->x[reg] : w->f[reg - 32];
}

static uint32_t stride_of(struct jit_abs a)
{
    return a.kind == JIT_AFFINE ? (uint32_t)a.value : 0;
}

void jit_rows_fill(const struct jit_exits *x, const struct jit_exit *exit, const uint32_t scalars[JIT_REGS],
                   simt_row *xrows, simt_row *frows)
{
    for (uint32_t i = exit->first; i < exit->first + exit->count; i++) {
        struct jit_abs a = x->rows[i].abs;
        unsigned reg = x->rows[i].reg;
        uint32_t *row = reg < 32 ? xrows[reg] : frows[reg - 32];
        uint32_t first = a.kind == JIT_CONST ? (uint32_t)a.value : scalars[reg], stride = stride_of(a);
        for (uint32_t l = 0; l < SIMT_LANES; l++) {
            row[l] = a.kind == JIT_VARYING ? row[l] : first + stride * l;
            row[l] = a.bits == JIT_BITS_RAW && simt_f32_is_nan(row[l]) ? SIMT_F32_NAN : row[l];
        }
    }
}

static bool fits_raw(uint32_t bits)
{
    return bits == SIMT_F32_NAN || !simt_f32_is_nan(bits);
}

/* Lanes that have ended get what the others' value says, or 0. */
static bool pack_row(uint32_t *row, uint32_t *scalar_out, uint32_t mask, struct jit_abs a,
                     bool may_be_inexact)
{
    uint32_t lane = (uint32_t)__builtin_ctz(mask), stride = stride_of(a);
    uint32_t first = a.kind == JIT_CONST ? (uint32_t)a.value : row[lane] - stride * lane;
    bool scalar = a.kind != JIT_VARYING, fits = true;

    for (uint32_t l = 0; l < SIMT_LANES; l++) {
        uint32_t want = scalar ? first + stride * l : 0;
        if (!(mask >> l & 1)) {
            row[l] = want;
        }
        fits &= !scalar || row[l] == want;
        fits &= !may_be_inexact || fits_raw(row[l]);
    }
    *scalar_out = first;
    uint32_t low = a.align < 32 ? (1u << a.align) - 1 : UINT32_MAX;
    bool aligned = a.kind == JIT_CONST || !scalar || (first & low) == 0;
    return fits && aligned;
}

static bool pack_slots(struct simt_warp *w, uint32_t mask, const struct jit_state *state, uint32_t top)
{
    for (uint32_t i = 0; i < JIT_SLOTS && i < top; i++) {
        uint32_t word = top - 1 - i, scalar;
        if (state->slot[i].kind == JIT_VARYING) {
            continue;
        }
        w->priv_dirty = word < w->priv_dirty ? word : w->priv_dirty;
        if (!pack_row(w->priv + (size_t)word * SIMT_LANES, &scalar, mask, state->slot[i], false)) {
            return false;
        }
    }
    return true;
}

bool jit_rows_pack(struct simt_warp *w, uint32_t mask, const struct jit_state *state, uint64_t live,
                   uint32_t top)
{
    for (unsigned r = 1; r < JIT_REGS; r++) {
        struct jit_abs a = state->reg[r];
        if ((live >> r & 1) &&
            !pack_row(row_of(w, r), &w->scalars[r], mask, a, r >= 32 && a.bits != JIT_BITS_EXACT)) {
            return false;
        }
    }
    return pack_slots(w, mask, state, top);
}
