/* SPDX-License-Identifier: MIT */
/* The JIT if this build has it (SIMT_HAVE_JIT), else its absence, said once when a device is made. */
#ifndef SIMT_JIT_SEAM_H
#define SIMT_JIT_SEAM_H

#include "device.h"

#ifdef SIMT_HAVE_JIT
#include "../jit/jit.h"
#else
struct jit;

static inline struct jit *jit_create(const struct simt *dev)
{
    if (simt_get_config(dev)->engine != SIMT_ENGINE_AUTO) {
        simt_log(dev, "simt: built without LLVM: all kernels are interpreted");
    }
    return NULL;
}

static inline void jit_drain(struct jit *j)
{
    (void)j;
}

static inline void jit_destroy(struct jit *j)
{
    (void)j;
}

static inline struct jit_session *jit_join(struct jit *j, struct simt_cu *cu, bool wait)
{
    (void)j, (void)cu, (void)wait;
    return NULL;
}

static inline void jit_part(struct jit_session *s)
{
    (void)s;
}

static inline uint64_t jit_ready_ns(const struct jit_session *s)
{
    (void)s;
    return UINT64_MAX;
}

static inline uint64_t jit_live(const struct jit_session *s, uint32_t pc, int32_t depth)
{
    (void)s, (void)pc, (void)depth;
    return ~1ull;
}

static inline void jit_registers(const struct jit_session *s, const struct simt_warp *w,
                                 struct simt_registers *out)
{
    (void)s;
    simt_copy_registers(w, out);
}

static inline void jit_statistics(struct jit *j, struct simt_statistics *out)
{
    (void)j, (void)out;
}

static inline const struct simt_executor *jit_executor(void)
{
    return simt_interpreter();
}
#endif

#endif
