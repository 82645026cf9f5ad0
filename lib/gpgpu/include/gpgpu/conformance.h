/* SPDX-License-Identifier: MIT */
/* The contract of drivers/gpgpu.h as test cases: the same ones for every backend. */
#ifndef GPGPU_CONFORMANCE_H
#define GPGPU_CONFORMANCE_H

#include "drivers/gpgpu.h"

struct gpgpu_conformance_result {
    unsigned passed;
    unsigned failed;
    unsigned skipped; /* the device says in its capabilities that it cannot do that */
};

/*
 * Run all cases on dev, one line each: [OK], [FAIL] with the reason, or [SKIP]. The device must be idle and
 * is idle afterwards, with all memory returned. timeout_ms is the limit after which dev gives up a launch;
 * with more than ten seconds that case is skipped.
 */
struct gpgpu_conformance_result gpgpu_conformance(struct gpgpu_device *dev, unsigned timeout_ms);

#endif
