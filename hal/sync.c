// SPDX-License-Identifier: MIT
// Wait queues, mutexes, semaphores, sleep: the same for the machine and for a process.
#include "sched.h"

#include <errno.h>

#include "hal/panic.h"
#include "hal/time.h"

int wait_queue_wait(struct wait_queue *queue, bool (*done)(void *), void *arg, uint64_t deadline)
{
    bool in_time = true, is_done;
    unsigned long flags = sched_lock();
    while (!(is_done = done(arg)) && in_time)
        in_time = sched_block(queue, deadline);
    sched_unlock(flags);
    return is_done ? 0 : -ETIMEDOUT;
}

void wait_queue_wake_all(struct wait_queue *queue)
{
    unsigned long flags = sched_lock();
    while (sched_wake(queue))
        ;
    sched_unlock(flags);
}

void semaphore_init(struct semaphore *semaphore, unsigned count)
{
    *semaphore = (struct semaphore)SEMAPHORE_INIT(*semaphore, count);
}

// Who posts gives to the first waiter without counting.
int semaphore_wait(struct semaphore *semaphore, uint64_t deadline)
{
    bool taken = true;
    unsigned long flags = sched_lock();
    if (semaphore->count)
        semaphore->count--;
    else
        taken = deadline > 0 && sched_block(&semaphore->queue, deadline);
    sched_unlock(flags);
    return taken ? 0 : -ETIMEDOUT;
}

void semaphore_post(struct semaphore *semaphore)
{
    unsigned long flags = sched_lock();
    if (!sched_wake(&semaphore->queue))
        semaphore->count++;
    sched_unlock(flags);
}

void thread_sleep_ns(uint64_t ns)
{
    struct semaphore never = SEMAPHORE_INIT(never, 0);
    semaphore_wait(&never, time_now_ns() + ns);
}

void mutex_init(struct mutex *mutex)
{
    *mutex = (struct mutex)MUTEX_INIT(*mutex);
}

bool mutex_try_lock(struct mutex *mutex)
{
    bool taken = semaphore_wait(&mutex->free, 0) == 0;
    if (taken)
        mutex->owner = thread_self();
    return taken;
}

void mutex_lock(struct mutex *mutex)
{
    if (mutex->owner == thread_self())
        panic("mutex_lock: thread %s has the mutex already", thread_name(mutex->owner));
    semaphore_wait(&mutex->free, WAIT_FOREVER);
    mutex->owner = thread_self();
}

void mutex_unlock(struct mutex *mutex)
{
    if (mutex->owner != thread_self())
        panic("mutex_unlock: thread %s does not have the mutex", thread_name(thread_self()));
    mutex->owner = NULL;
    semaphore_post(&mutex->free);
}
