// SPDX-License-Identifier: MIT
// What sched.c and thread.c do, where there is one thread on one hart.
#include "boot.h"

#include <errno.h>

#include "hal/cpu.h"
#include "hal/time.h"

int wait_until(bool (*done)(void *), void *arg, uint64_t deadline)
{
    trace_begin("wait", "wait_until", 0, 0);
    unsigned long flags = cpu_irq_save();
    bool is_done = done(arg);
    if (!is_done)
        time_set_alarm(deadline);
    while (!is_done && !deadline_passed(deadline)) {
        cpu_wait();
        is_done = done(arg);
    }
    time_stop_alarm();
    cpu_irq_restore(flags);
    trace_end("wait");
    return is_done ? 0 : -ETIMEDOUT;
}

void wait_recheck(void)
{
}

void sched_timer(void)
{
}

struct stack thread_stack(void)
{
    return (struct stack){stack_guard, stack_top};
}

struct stack trap_stack(void)
{
    return (struct stack){trap_guard, trap_stack_top};
}

const char *running_thread(void)
{
    return NULL;
}

unsigned long cpu_id(void)
{
    return boot_machine.boot_hart;
}
