/* SPDX-License-Identifier: MIT */
/* A sim device that is not on any bus: for tests and for wrapping in a mock. */
#ifndef DRIVERS_GPGPU_SIM_H
#define DRIVERS_GPGPU_SIM_H

#include "drivers/gpgpu.h"

struct simt;
struct simt_config;

struct gpgpu_sim_config {
    uint64_t vram_bytes;  /* multiple of 4096, at most 1 GiB */
    unsigned timeout_ms;  /* of one launch */
    const char *timeline; /* file for what ran when, NULL: none (docs/trace.md) */
    const struct simt_config
        *engine; /* what is neither log, name nor timeline; NULL: the engine's defaults */
};

/* 0 and *out, or -ENOMEM, -EINVAL, -EAGAIN (no threads). Destroy with gpgpu_sim_destroy(). */
int gpgpu_sim_create(const struct gpgpu_sim_config *config, struct gpgpu_device **out);
void gpgpu_sim_destroy(struct gpgpu_device *dev);

/* The engine of a sim device, for its counters and statistics. */
struct simt *gpgpu_sim_engine(struct gpgpu_device *dev);

#endif
