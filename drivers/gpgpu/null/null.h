/* SPDX-License-Identifier: MIT */
/* The null device: every check of the contract, no memory behind the addresses, no execution. */
#ifndef DRIVERS_GPGPU_NULL_H
#define DRIVERS_GPGPU_NULL_H

#include "drivers/gpgpu.h"

/* What reached the device. Arguments and code are written, too. */
struct gpgpu_null_counts {
    uint64_t writes, written_bytes, reads, read_bytes, launches;
};

/* 0 and *out, or -ENOMEM. vram_bytes: what it pretends to have. Destroy with gpgpu_null_destroy(). */
int gpgpu_null_create(uint64_t vram_bytes, struct gpgpu_device **out);
void gpgpu_null_destroy(struct gpgpu_device *dev);

/* dev is a null device. */
const struct gpgpu_null_counts *gpgpu_null_counts(const struct gpgpu_device *dev);

#endif
