/* SPDX-License-Identifier: MIT */
/*
 * A device that runs the kernels' C source in this process: each allocation is malloc's, so AddressSanitizer
 * sees every access past a tensor, and a debugger can step a kernel. Only the operator module's kernels.
 */
#ifndef TESTS_HOST_DEVICE_H
#define TESTS_HOST_DEVICE_H

#include "drivers/gpgpu.h"

/* The device; there is one. */
struct gpgpu_device *host_device(void);

/* Allocations that are still there. */
unsigned host_device_allocations(void);

#endif
