/* SPDX-License-Identifier: MIT */
/* Comparing what the GPU computed with the reference. */
#ifndef GPGPU_CHECK_H
#define GPGPU_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpgpu_context;

/* Whether n values agree; else one [FAIL] line: "what: index 3: expected 5, got 7 (2 of 32 differ)". */
bool gpgpu_check_i32(const char *what, const int32_t *got, const int32_t *expected, size_t n);

/* Whether err is 0; else one [FAIL] line: "what: EFAULT", with the fault where there is one. */
bool gpgpu_check_ok(struct gpgpu_context *ctx, const char *what, int err);

#endif
