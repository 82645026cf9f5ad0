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

/* When the session's code was compiled (simt_now_ns()); UINT64_MAX while there is none. NULL is allowed. */
uint64_t jit_ready_ns(const struct jit_session *s);

/* Registers that may be read from pc on before they are written, bit r for x[r], 32 + r for f[r]: what
 * compiled code keeps there at least. All of them when the session's kernel is interpreted; none when the
 * compiler does not know pc at that depth of calls. */
uint64_t jit_live(const struct jit_session *s, uint32_t pc, int32_t depth);

/* The warp's registers, the live ones if compiled code was at work. NULL is allowed. */
void jit_registers(const struct jit_session *s, const struct simt_warp *w, struct simt_registers *out);

/* Fill in what the compiler did. NULL is allowed. */
void jit_statistics(struct jit *j, struct simt_statistics *out);

/* Runs compiled code for cu->jit, a session. */
const struct simt_executor *jit_executor(void);

#endif
