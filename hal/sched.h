// SPDX-License-Identifier: MIT
// What sync.c builds on: the scheduler of hal/riscv64, or its like over pthreads in hal/linux.
#ifndef HAL_SCHED_H
#define HAL_SCHED_H

#include "hal/thread.h"

// The scheduler's lock. On the machine interrupts are disabled while it is held.
unsigned long sched_lock(void);
void sched_unlock(unsigned long flags);

// Puts the calling thread at the end of `queue` and runs others until sched_wake() takes it out or `deadline`
// passes. The lock is held at the call and at the return, and not in between. False: the deadline passed.
bool sched_block(struct wait_queue *queue, uint64_t deadline);

// Takes the first thread out of `queue` and lets it run. NULL when there is none. The lock is held.
struct thread *sched_wake(struct wait_queue *queue);

#endif
