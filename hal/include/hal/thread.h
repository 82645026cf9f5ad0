// SPDX-License-Identifier: MIT
// Threads and what they wait with (CONFIG_THREADS).
//
// On the machine the scheduler is cooperative: a thread runs until it waits (wait_until(), a lock, a sleep,
// thread_yield(), its end). So whatever lies between two waits is atomic for the other threads of the same
// hart, and libraries that know nothing of threads stay right. There is no time slice and so no periodic
// tick. With CONFIG_SMP, and in a Linux process, threads run at the same time: code for all three locks what
// it shares.
//
// Devices (but disks), the GPU runtime and the bus are not locked inside: one thread at a time uses a device.
// Unless a function says so, none here may be called from an interrupt handler.
#ifndef HAL_THREAD_H
#define HAL_THREAD_H

#include "core/list.h"
#include "hal/types.h"

#define WAIT_FOREVER UINT64_MAX // as a deadline

#ifdef CONFIG_THREADS

struct thread;

// Starts fn(arg) as a thread with a stack of `stack_bytes` (0: CONFIG_STACK_KIB) above a page that is not
// mapped. It first runs when its creator waits. `name` is cut to 15 bytes and shown in panics. The thread is
// the creator's, until thread_join(). NULL: no memory.
struct thread *thread_create(const char *name, int (*fn)(void *arg), void *arg, size_t stack_bytes);

// Waits until `thread` has returned from its function, frees it, and returns the function's result. One
// thread joins another, once.
int thread_join(struct thread *thread);

// The calling thread, and a thread's name ("main" for the first).
struct thread *thread_self(void);
const char *thread_name(const struct thread *thread);

// Lets the other threads that could run have their turn. For loops that poll or compute for long.
void thread_yield(void);

// Waits for at least `ns` nanoseconds.
void thread_sleep_ns(uint64_t ns);

// How many threads can run at the same time: harts, or the processors of the host.
unsigned thread_processors(void);

// Calls fn for parts of [0, count) that cover it once, one part for each processor, at the same time; returns
// when all are done. Where no thread can be made the caller does that part too.
void parallel_for(size_t count, void (*fn)(size_t begin, size_t end, void *arg), void *arg);

// Threads that wait for a condition in the order they came. An object with static storage starts with
// WAIT_QUEUE_INIT, others with wait_queue_init(). Nobody may wait in it when its memory goes away.
struct wait_queue {
    struct list_node waiters;
};

#define WAIT_QUEUE_INIT(queue) {.waiters = LIST_INIT((queue).waiters)}

static inline void wait_queue_init(struct wait_queue *queue)
{
    list_init(&queue->waiters);
}

// Waits until done(arg), which is tested before each sleep and after each wake-up, or until `deadline`
// (hal/time.h). done() runs under the scheduler's lock: it looks at memory and calls nothing of this header.
// Returns 0 or -ETIMEDOUT.
int wait_queue_wait(struct wait_queue *queue, bool (*done)(void *arg), void *arg, uint64_t deadline);

// Makes all waiters test their condition. Change what done() looks at before, not after. May be called from
// an interrupt handler.
void wait_queue_wake_all(struct wait_queue *queue);

// A counting semaphore. Handed to the waiters in the order they came.
struct semaphore {
    unsigned count;
    struct wait_queue queue;
};

#define SEMAPHORE_INIT(semaphore, n) {.count = (n), .queue = WAIT_QUEUE_INIT((semaphore).queue)}

void semaphore_init(struct semaphore *semaphore, unsigned count);

// Takes one, waiting for it until `deadline`; 0: not at all. Returns 0 or -ETIMEDOUT.
int semaphore_wait(struct semaphore *semaphore, uint64_t deadline);

// Gives one. May be called from an interrupt handler.
void semaphore_post(struct semaphore *semaphore);

// Mutual exclusion: a semaphore of one, whose owner is known. Nobody starves.
struct mutex {
    struct semaphore free;
    struct thread *owner; // NULL: none
};

#define MUTEX_INIT(mutex) {.free = SEMAPHORE_INIT((mutex).free, 1)}

void mutex_init(struct mutex *mutex);

// Panics when the caller has it already: that would be forever.
void mutex_lock(struct mutex *mutex);

// Takes it if it is free. Never waits.
bool mutex_try_lock(struct mutex *mutex);

// Panics when the caller does not have it.
void mutex_unlock(struct mutex *mutex);

#else

// One thread: there is nobody to give way to and nobody to exclude.
struct mutex {
    char unused;
};

#define MUTEX_INIT(mutex)     {0}
#define mutex_init(mutex)     ((void)(mutex))
#define mutex_lock(mutex)     ((void)(mutex))
#define mutex_try_lock(mutex) ((void)(mutex), true)
#define mutex_unlock(mutex)   ((void)(mutex))

#define thread_yield()      ((void)0)
#define thread_processors() 1u

static inline void parallel_for(size_t count, void (*fn)(size_t begin, size_t end, void *arg), void *arg)
{
    if (count)
        fn(0, count, arg);
}

#endif
#endif
