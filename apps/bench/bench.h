/* SPDX-License-Identifier: MIT */
#ifndef APPS_BENCH_BENCH_H
#define APPS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Prints "BENCH name value unit". */
void report(const char *name, double value, const char *unit);

/* Of `n` values in thousandths, such as nanoseconds, which it sorts: microseconds. */
double median_of_thousandths(uint64_t *values, size_t n);

/* irq.c */
void bench_interrupts(void);

/* overlap.c */
struct gpgpu_device;
void bench_overlap(struct gpgpu_device *device);

#endif
