/* SPDX-License-Identifier: MIT */
/*
 * The JIT as the device uses it: a cache of compiled programs, a background thread that compiles, and an
 * executor that runs compiled code where it can and the interpreter elsewhere.
 */
#ifndef SIMT_JIT_JIT_H
#define SIMT_JIT_JIT_H

#include "../src/cu.h"

struct jit;
struct jit_session; /* a compute unit's use of compiled code during a launch */

/* The JIT of a device; log gets one line (which kernel is interpreted, and why). NULL when the host has none,
 * which has been logged. */
struct jit *jit_create(const struct simt *dev);

/* Return when nothing is being compiled; what waits for that is forgotten. NULL is allowed. */
void jit_drain(struct jit *j);

/* Nobody uses it any more. NULL is allowed. */
void jit_destroy(struct jit *j);

/* A compute unit joins a launch: cu->launch and cu->prog are set. Finds compiled code for it; with wait,
 * compiles when there is none, else a background thread will once the launch has run for a while. NULL:
 * interpret. */
struct jit_session *jit_join(struct jit *j, struct simt_cu *cu, bool wait);
void jit_part(struct jit_session *s); /* NULL is allowed */

/* Runs compiled code for cu->jit, a session. */
const struct simt_executor *jit_executor(void);

#endif
