/* SPDX-License-Identifier: MIT */
/*
 * engine=check: every launch also runs in the interpreter and must end the same way. Both run on copies of
 * VRAM of their own, so that what the host writes meanwhile, arguments of the next launch for example, is no
 * difference.
 */
#ifndef SIMT_CHECK_H
#define SIMT_CHECK_H

#include "simt/simt.h"

struct simt_check;

/* A reference device for one with this configuration and VRAM. 0, or a negative errno of simt_create(). */
int simt_check_create(struct simt_check **out, const struct simt_config *config, uint8_t *vram,
                      uint64_t vram_size);
void simt_check_destroy(struct simt_check *c); /* NULL is allowed */

/* Where the device's own run notes registers. */
struct simt_witness *simt_check_witness(struct simt_check *c);

/* The copy of VRAM that the device works on. */
uint8_t *simt_check_vram(struct simt_check *c);

/* A launch is about to start, on what VRAM holds now. */
void simt_check_begin(struct simt_check *c);

/* The launch ended; fault is NULL when every thread ended normally. Run the reference and compare: how the
 * launch ended; if it did not fault, all of VRAM and the registers at its barriers; if the same thread
 * faulted, its registers (witness.h). True when they agree; else a line is in why, and *addr is the first
 * address that differs (0 when it is something else). Launches that ran into a time limit are not compared.
 */
bool simt_check_end(struct simt_check *c, const struct simt_launch *launch, const struct simt_fault *fault,
                    uint32_t *addr, char *why, size_t len);

/* Write to VRAM what the device's run, wherever it came to, changed in its copy. */
void simt_check_commit(struct simt_check *c);

#endif
