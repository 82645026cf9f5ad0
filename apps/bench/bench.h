/* SPDX-License-Identifier: MIT */
#ifndef APPS_BENCH_BENCH_H
#define APPS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Prints "BENCH name value unit". */
void report(const char *name, double value, const char *unit);

/* Of `n` times in nanoseconds, which it sorts. */
double median_us(uint64_t *ns, size_t n);

/* irq.c */
void bench_interrupts(void);

#endif
