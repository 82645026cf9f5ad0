/* SPDX-License-Identifier: MIT */
#ifndef APPS_OPCHECK_OPCHECK_H
#define APPS_OPCHECK_OPCHECK_H

struct tensor_context;

/* runtime.c: one line each for the pool, events, graphs and streams. */
void check_runtime(struct tensor_context *tc);

#endif
