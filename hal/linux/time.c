/* SPDX-License-Identifier: MIT */
/* Time since the process started, from the monotonic clock. wait_until() is not here: a process has no
 * interrupts to wait for. */
#include "hal/time.h"

#include <errno.h>
#include <time.h>

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t time_now_ns(void)
{
    static uint64_t start;
    uint64_t now = monotonic_ns();
    if (start == 0)
        start = now;
    return now - start;
}

void time_delay_ns(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

uint64_t deadline_in_ms(unsigned ms)
{
    return time_now_ns() + (uint64_t)ms * 1000000u;
}

bool deadline_passed(uint64_t deadline)
{
    return time_now_ns() >= deadline;
}
