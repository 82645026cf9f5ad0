// SPDX-License-Identifier: MIT
#ifndef APPS_THREADS_H
#define APPS_THREADS_H

#include "hal/thread.h"

// thread_create() of a thread that must exist.
struct thread *start(const char *name, int (*fn)(void *), void *arg);

// gpu.c
void test_gpu_overlap(void);

// parallel.c
void test_parallel(void);

// reference.c
void test_references(void);

// remap.c, with CONFIG_SMP
void test_remap(void);

#endif
