/* SPDX-License-Identifier: MIT */
/*
 * The timeline: when launches ran on the device, blocks and warps on its compute units, and transfers.
 *
 * Spans go into an array of fixed size without a lock and are written out when the device is idle. A launch
 * of any size takes a bounded part of it: each compute unit's first blocks and turns of warps are recorded
 * one by one, the blocks after them as one span. Spans that the array has no room for are counted.
 */
#ifndef SIMT_TIMELINE_H
#define SIMT_TIMELINE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct simt_config;

enum simt_span_kind {
    SIMT_SPAN_LAUNCH,    /* a blocks of b warps, kernel at c */
    SIMT_SPAN_FAILED,    /* the same of a launch that was cut short */
    SIMT_SPAN_BLOCK,     /* block a, of b warps, which had c turns */
    SIMT_SPAN_TURN,      /* of block a, warp b executed instructions */
    SIMT_SPAN_MERGED,    /* a blocks with b warps altogether */
    SIMT_SPAN_TO_DEVICE, /* a bytes */
    SIMT_SPAN_FROM_DEVICE,
    SIMT_SPAN_WITHIN_DEVICE,
};

struct simt_span {
    enum simt_span_kind kind;
    uint32_t cu;
    uint64_t launch;     /* launches are numbered from 0 */
    uint64_t begin, end; /* ns of the clock */
    uint64_t a, b, c;
};

struct simt_timeline {
    struct simt_span *spans; /* NULL: no timeline is wanted */
    _Atomic uint64_t count;  /* of spans that were to go there */
    uint64_t launch;         /* number of the launch in flight, or of the next one */
    char *path, *name;
    uint32_t num_cus;
    uint64_t (*clock)(void *opaque);
    void *clock_opaque;
};

/* A compute unit's part in the launch in flight. */
struct simt_cu_timeline {
    uint32_t blocks, turns;  /* recorded */
    uint32_t turns_of_block; /* had so far, recorded or not */
    struct simt_span merged; /* the blocks after those */
};

/* Make the timeline that the configuration asks for, if any. 0, -ENOMEM, or the error of creating the file.
 */
int simt_timeline_create(struct simt_timeline *t, const struct simt_config *config);
void simt_timeline_destroy(struct simt_timeline *t);

/* The clock; 0 without a timeline. */
static inline uint64_t simt_timeline_clock(const struct simt_timeline *t)
{
    return t->spans ? t->clock(t->clock_opaque) : 0;
}

void simt_timeline_add(struct simt_timeline *t, const struct simt_span *span);

/* Append everything to the file and forget it; nobody records meanwhile. 0 or a negative errno. */
int simt_timeline_flush(struct simt_timeline *t);

/* What compute units do. */
struct simt_cu;
void simt_timeline_join(struct simt_cu *cu);
void simt_timeline_turn(struct simt_cu *cu, uint32_t warp, uint64_t begin);
void simt_timeline_block(struct simt_cu *cu, uint64_t begin);
void simt_timeline_part(struct simt_cu *cu);

#endif
