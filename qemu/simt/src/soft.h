/* SPDX-License-Identifier: MIT */
/* Instructions executed lane by lane in plain C: exact floating point with flags, narrow converts, CSRs. */
#ifndef SIMT_SOFT_H
#define SIMT_SOFT_H

#include "cu.h"

/* Execute a floating-point instruction for the lanes of mask, each with its own frm and fflags. Returns the
 * lanes for which it is illegal (dynamic rounding with a reserved frm); if there are any, nothing was done.
 */
uint32_t simt_soft_fp(struct simt_warp *w, uint32_t mask, const struct simt_insn *in);

/* Execute a narrow convert. */
void simt_soft_narrow(struct simt_warp *w, uint32_t mask, const struct simt_insn *in);

/* Execute a CSR instruction. retired: instructions of path p retired before it that are not in instret yet.
 */
void simt_soft_csr(struct simt_cu *cu, struct simt_warp *w, uint32_t mask, const struct simt_insn *in,
                   uint64_t retired);

/* Recompute w->rm_mode after frm or cu->track_flags changed. */
void simt_update_rm_mode(const struct simt_cu *cu, struct simt_warp *w);

/* mhartid of a lane: block, warp and lane index packed; block bits past 19 are lost. */
#define SIMT_HARTS_A_BLOCK (1u << 13)
uint32_t simt_mhartid(const struct simt_cu *cu, const struct simt_warp *w, uint32_t lane);

#endif
