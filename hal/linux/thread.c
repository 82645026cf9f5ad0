/* SPDX-License-Identifier: MIT */
/* Threads of a process: pthreads under one lock, which stands for the scheduler's, each with its condition.
 */
#define _GNU_SOURCE /* pthread_cond_clockwait() */
#include "../sched.h"

#include "core/math.h"
#include "core/trace.h"
#include "core/util.h"
#include "hal/time.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct thread {
    pthread_t id;
    pthread_cond_t woken;
    struct list_node link; /* in a wait queue */
    bool waiting;
    int (*fn)(void *);
    void *arg;
    int result;
    char name[16];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A thread that was not made here, the first one above all. */
static __thread struct thread foreign = {.woken = PTHREAD_COND_INITIALIZER, .name = "main"};
static __thread struct thread *current;

struct thread *thread_self(void)
{
    return current ? current : &foreign;
}

const char *thread_name(const struct thread *thread)
{
    return thread->name;
}

static void *start(void *arg)
{
    current = arg;
    trace_switch(current->name);
    current->result = current->fn(current->arg);
    return NULL;
}

static int start_with_stack(struct thread *thread, size_t stack_bytes)
{
    pthread_attr_t attributes;
    size_t bytes = MAX(stack_bytes, (size_t)PTHREAD_STACK_MIN);
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    if (stack_bytes)
        error = pthread_attr_setstacksize(&attributes, align_up(bytes, 4096));
    if (!error)
        error = pthread_create(&thread->id, &attributes, start, thread);
    pthread_attr_destroy(&attributes);
    return error;
}

struct thread *thread_create(const char *name, int (*fn)(void *), void *arg, size_t stack_bytes)
{
    struct thread *thread = calloc(1, sizeof(*thread));
    if (!thread)
        return NULL;
    snprintf(thread->name, sizeof(thread->name), "%s", name);
    thread->fn = fn;
    thread->arg = arg;
    pthread_cond_init(&thread->woken, NULL);
    if (start_with_stack(thread, stack_bytes) != 0) {
        free(thread);
        return NULL;
    }
    return thread;
}

int thread_join(struct thread *thread)
{
    pthread_join(thread->id, NULL);
    int result = thread->result;
    pthread_cond_destroy(&thread->woken);
    free(thread);
    return result;
}

unsigned thread_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

void thread_yield(void)
{
    sched_yield();
}

unsigned long sched_lock(void)
{
    pthread_mutex_lock(&lock);
    return 0;
}

void sched_unlock(unsigned long flags)
{
    (void)flags;
    pthread_mutex_unlock(&lock);
}

/* The deadline on the monotonic clock. */
static struct timespec absolute(uint64_t deadline)
{
    struct timespec at;
    uint64_t now = time_now_ns(), left = deadline > now ? deadline - now : 0;
    clock_gettime(CLOCK_MONOTONIC, &at);
    uint64_t ns = (uint64_t)at.tv_nsec + left;
    at.tv_sec += (time_t)(ns / 1000000000u);
    at.tv_nsec = (long)(ns % 1000000000u);
    return at;
}

bool sched_block(struct wait_queue *queue, uint64_t deadline)
{
    struct thread *self = thread_self();
    list_add_tail(&queue->waiters, &self->link);
    self->waiting = true;
    while (self->waiting && !deadline_passed(deadline)) {
        struct timespec at = absolute(deadline);
        if (deadline == WAIT_FOREVER)
            pthread_cond_wait(&self->woken, &lock);
        else
            pthread_cond_clockwait(&self->woken, &lock, CLOCK_MONOTONIC, &at);
    }
    bool woken = !self->waiting;
    if (!woken)
        list_remove(&self->link);
    return woken;
}

struct thread *sched_wake(struct wait_queue *queue)
{
    if (list_empty(&queue->waiters))
        return NULL;
    struct thread *thread = list_first(&queue->waiters, struct thread, link);
    list_remove(&thread->link);
    thread->waiting = false;
    pthread_cond_signal(&thread->woken);
    return thread;
}
