/* SPDX-License-Identifier: MIT */
/* Memory as lanes see it: windows, bounds, barrier, ballot and exchange words, atomics. */
#ifndef SIMT_MEMORY_H
#define SIMT_MEMORY_H

#include "cu.h"

enum simt_access {
    SIMT_ACCESS_OK,
    SIMT_ACCESS_BAD,     /* lanes in *bad fault: SIMT_ACCESS_FAULT; nothing was done */
    SIMT_ACCESS_BARRIER, /* lanes in *bad stored to the barrier */
    SIMT_ACCESS_ALIGN,   /* lanes in *bad fault: SIMT_MISALIGNED_ATOMIC; nothing was done */
};

/* Load size (1, 2, 4) bytes at w->addr for each lane of mask, zero-extended, into dst. */
enum simt_access simt_load(struct simt_cu *cu, struct simt_warp *w, uint32_t mask, unsigned size,
                           uint32_t *dst, uint32_t *bad);

/* Store the low size bytes of src at w->addr for each lane of mask, in lane order. */
enum simt_access simt_store(struct simt_cu *cu, struct simt_warp *w, uint32_t mask, unsigned size,
                            const uint32_t *src, uint32_t *bad);

/* lr.w, sc.w or amo*.w (op) at w->addr for each lane of mask, in lane order; src and dst may be the same row.
 */
enum simt_access simt_atomic(struct simt_cu *cu, struct simt_warp *w, uint32_t mask, enum simt_op op,
                             const uint32_t *src, uint32_t *dst, uint32_t *bad);

/* Distinct 64-byte segments that accesses of size bytes at w->addr, all in VRAM, by the lanes of mask (not 0)
 * touch.
 */
unsigned simt_count_segments(const struct simt_cu *cu, const struct simt_warp *w, uint32_t mask,
                             unsigned size);

/* Guest memory is shared with other compute units and the host's CPUs, and racing on it is the guest's right:
 * the accessors are unaligned, may alias anything, and ThreadSanitizer is told not to look. */
typedef uint32_t simt_u32 __attribute__((aligned(1), may_alias));
typedef uint16_t simt_u16 __attribute__((aligned(1), may_alias));

#define SIMT_GUEST_RACE __attribute__((no_sanitize("thread")))

#endif
