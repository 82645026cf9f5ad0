/* SPDX-License-Identifier: MIT */
/* What the parts of this test program share. */
#ifndef TESTS_UNIT_GPGPU_H
#define TESTS_UNIT_GPGPU_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "drivers/gpgpu.h"

#define VRAM_BYTES ((uint64_t)8 << 20)
#define TIMEOUT_MS 300u

/* Devices that live as long as the program: made in main(). */
extern struct gpgpu_device *sim, *null;

int run_runtime_tests(void);
int run_operator_tests(void);

#endif
