// SPDX-License-Identifier: MIT
// Time since boot, deadlines, and sleeping until something happens.
#ifndef HAL_TIME_H
#define HAL_TIME_H

#include "hal/types.h"

// Nanoseconds since the first kernel instruction; never goes back. Resolution is the machine's timebase.
uint64_t time_now_ns(void);

// Busy-waits for at least `ns` nanoseconds.
void time_delay_ns(uint64_t ns);

// A point in time `ms` milliseconds from now, for deadline_passed() and wait_until().
uint64_t deadline_in_ms(unsigned ms);
bool deadline_passed(uint64_t deadline);

// Sleeps (wfi) until done(arg) is true or `deadline` passes. What makes done() true must come with an
// interrupt: it is tested after each one, and not by polling in between. done() runs with interrupts
// disabled. Returns 0 or -ETIMEDOUT (done() is tested once more after the deadline). Not for use in irq
// handlers.
int wait_until(bool (*done)(void *), void *arg, uint64_t deadline);

// Has other threads' waits test their done(), as each device interrupt does: for what becomes true without
// one.
void wait_recheck(void);

#endif
