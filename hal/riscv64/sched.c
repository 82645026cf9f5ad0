// SPDX-License-Identifier: MIT
// The scheduler: who runs next. Cooperative and tickless: a switch happens only where a thread waits, and the
// timer runs only for the earliest deadline. With nothing to run a hart sleeps in its idle thread.
#include "../sched.h"
#include "boot.h"
#include "hart.h"

#include <errno.h>

#include "hal/cpu.h"
#include "hal/mem.h"
#include "hal/panic.h"
#include "hal/spinlock.h"
#include "hal/time.h"

struct hart boot_hart = {.trap_stack = {trap_guard, trap_stack_top}};
unsigned nharts = 1;

static struct spinlock lock; // of all that follows, and of every wait queue
static struct list_node ready = LIST_INIT(ready);
static struct list_node timers = LIST_INIT(timers); // earliest first
static struct wait_queue interrupt_waiters = WAIT_QUEUE_INIT(interrupt_waiters);

unsigned long sched_lock(void)
{
    return spin_lock_irq(&lock);
}

void sched_unlock(unsigned long flags)
{
    spin_unlock_irq(&lock, flags);
}

void sched_ready(struct thread *thread)
{
    list_remove(&thread->timer);
    list_remove(&thread->link);
    list_add_tail(&ready, &thread->link);
    wake_idle_hart();
}

// The lock is held, through the switch: it is the next thread that releases it.
static void run_next(void)
{
    struct thread *self = current;
    struct hart *hart = self->hart;
    struct thread *next = hart->idle;
    hart->poked = false;
    if (!list_empty(&ready)) {
        next = list_first(&ready, struct thread, link);
        list_remove(&next->link);
    }
    hart->idling = next == hart->idle;
    if (next == self)
        return;
    trace_switch(next->name);
    self->hart = NULL;
    next->hart = hart;
    context_switch(&self->context, &next->context);
}

static struct thread *timed(struct list_node *node)
{
    return list_entry(node, struct thread, timer);
}

static void add_timer(struct thread *thread, uint64_t deadline)
{
    struct list_node *at = timers.next;
    while (at != &timers && timed(at)->deadline <= deadline)
        at = at->next;
    thread->deadline = deadline;
    list_insert_before(at, &thread->timer);
    if (timers.next == &thread->timer)
        time_set_alarm(deadline);
}

bool sched_block(struct wait_queue *queue, uint64_t deadline)
{
    struct thread *self = current;
    self->timed_out = false;
    list_add_tail(&queue->waiters, &self->link);
    if (deadline != WAIT_FOREVER)
        add_timer(self, deadline);
    run_next();
    return !self->timed_out;
}

struct thread *sched_wake(struct wait_queue *queue)
{
    if (list_empty(&queue->waiters))
        return NULL;
    struct thread *thread = list_first(&queue->waiters, struct thread, link);
    sched_ready(thread);
    return thread;
}

void sched_exit(void)
{
    run_next();
    __builtin_unreachable();
}

void thread_yield(void)
{
    unsigned long flags = sched_lock();
    if (!list_empty(&ready)) {
        list_add_tail(&ready, &current->link);
        run_next();
    }
    sched_unlock(flags);
}

void sched_timer(void)
{
    unsigned long flags = sched_lock();
    while (!list_empty(&timers) && deadline_passed(timed(timers.next)->deadline)) {
        timed(timers.next)->timed_out = true;
        sched_ready(timed(timers.next));
    }
    if (!list_empty(&timers))
        time_set_alarm(timed(timers.next)->deadline);
    sched_unlock(flags);
}

void wait_recheck(void)
{
    unsigned long flags = sched_lock();
    list_for_each_safe (node, &interrupt_waiters.waiters) {
        struct thread *thread = list_entry(node, struct thread, link);
        if (thread->done(thread->done_arg))
            sched_ready(thread);
    }
    sched_unlock(flags);
}

int wait_until(bool (*done)(void *), void *arg, uint64_t deadline)
{
    trace_begin("wait", "wait_until", 0, 0);
    current->done = done;
    current->done_arg = arg;
    int error = wait_queue_wait(&interrupt_waiters, done, arg, deadline);
    trace_end("wait");
    return error;
}

// Interrupts stay disabled but where cpu_wait() takes them, so none comes between the last look and the
// sleep.
__attribute__((noreturn)) static int idle(void *unused)
{
    (void)unused;
    cpu_irq_save();
    for (;;) {
        unsigned long flags = sched_lock();
        run_next();
        sched_unlock(flags);
        cpu_wait();
    }
}

int sched_add_hart(struct hart *hart, unsigned long id)
{
    hart->id = id;
    hart->idle = thread_new("idle", idle, NULL, PAGE_SIZE);
    if (!hart->idle)
        return -ENOMEM;
    hart->idle->hart = hart;
    return 0;
}

void sched_init(void)
{
    if (sched_add_hart(&boot_hart, boot_machine.boot_hart) < 0)
        panic("no memory for the idle thread");
}
