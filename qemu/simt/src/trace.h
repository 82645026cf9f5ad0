/* SPDX-License-Identifier: MIT */
/* A trace of one warp: a line per instruction with pc, text, lanes and the registers it changed. */
#ifndef SIMT_TRACE_H
#define SIMT_TRACE_H

#include <stdio.h>

#include "cu.h"

/* Which warp, and where its lines go. */
struct simt_trace {
    FILE *file; /* NULL: no tracing */
    uint64_t block;
    uint32_t warp;
};

/* Run path p as engine does; if w is the traced warp, one instruction at a time, each written down. The
 * program must have been built with blocks of one instruction. */
enum simt_stop simt_trace_run(const struct simt_trace *trace, const struct simt_executor *engine,
                              struct simt_cu *cu, struct simt_warp *w, struct simt_path *p);

#endif
