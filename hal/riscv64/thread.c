// SPDX-License-Identifier: MIT
// Threads as objects: memory, start, end.
#include "../sched.h"
#include "boot.h"
#include "csr.h"
#include "hart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/math.h"
#include "hal/cpu.h"
#include "hal/mem.h"
#include "hal/panic.h"
#include "hal/paging.h"

static struct thread boot_thread = {.name = "main", .hart = &boot_hart, .stack = {stack_guard, stack_top}};

__thread struct thread *current = &boot_thread;

// The TLS block that a thread starts with (RISC-V ELF psABI, variant I: tp points to its first byte).
static char *tls_block(char *top)
{
    size_t size = (uintptr_t)tls_end - (uintptr_t)tls_start;
    char *tls = (char *)align_down((uintptr_t)top - size, 16);
    memset(tls, 0, size);
    return tls;
}

// `current` in another thread's TLS block: as far from its start as ours from tp.
static struct thread **current_of(char *tls)
{
    char *tp;
    __asm__("mv %0, tp" : "=r"(tp));
    return (struct thread **)(tls + ((char *)&current - tp));
}

bool stack_alloc(struct stack *stack, size_t bytes)
{
    size_t size;
    if (align_up_overflows(bytes, PAGE_SIZE, &size) || add_overflows(size, PAGE_SIZE, &size))
        return false;
    stack->guard = page_alloc(size / PAGE_SIZE);
    if (!stack->guard)
        return false;
    stack->top = stack->guard + size;
    if (paging_unmap((uintptr_t)stack->guard, PAGE_SIZE) == 0)
        return true;
    page_free(stack->guard, size / PAGE_SIZE);
    return false;
}

static void stack_free(const struct stack *stack)
{
    uintptr_t guard = (uintptr_t)stack->guard;
    int error = paging_map(guard, phys_addr(guard), PAGE_SIZE, PAGING_READ | PAGING_WRITE);
    if (error)
        panic("cannot map the guard page of a stack: error %d", error);
    page_free(stack->guard, (size_t)(stack->top - stack->guard) / PAGE_SIZE);
}

struct thread *thread_new(const char *name, int (*fn)(void *), void *arg, size_t stack_bytes)
{
    struct thread *thread = calloc(1, sizeof(*thread));
    if (!thread || !stack_alloc(&thread->stack, stack_bytes)) {
        free(thread);
        return NULL;
    }
    char *tls = tls_block(thread->stack.top);
    *current_of(tls) = thread;
    thread->context =
        (struct context){.ra = (uintptr_t)thread_entry, .sp = (uintptr_t)tls, .tp = (uintptr_t)tls};
    thread->fn = fn;
    thread->arg = arg;
    wait_queue_init(&thread->joiners);
    snprintf(thread->name, sizeof(thread->name), "%s", name);
    return thread;
}

struct thread *thread_create(const char *name, int (*fn)(void *), void *arg, size_t stack_bytes)
{
    struct thread *thread = thread_new(name, fn, arg, stack_bytes ? stack_bytes : CONFIG_STACK_KIB * 1024);
    if (!thread)
        return NULL;
    unsigned long flags = sched_lock();
    sched_ready(thread);
    sched_unlock(flags);
    return thread;
}

// The scheduler's lock is held, by the thread before. Interrupts are enabled in a thread, but not in an idle
// one.
void thread_main(void)
{
    struct thread *self = current;
    sched_unlock(SSTATUS_SIE);
    int result = self->fn(self->arg);
    fflush(stdout);
    sched_lock();
    self->result = result;
    self->exited = true;
    while (sched_wake(&self->joiners))
        ;
    sched_exit();
}

// An exited thread is off its stack when the lock is free.
int thread_join(struct thread *thread)
{
    unsigned long flags = sched_lock();
    while (!thread->exited)
        sched_block(&thread->joiners, WAIT_FOREVER);
    sched_unlock(flags);
    stack_free(&thread->stack);
    int result = thread->result;
    free(thread);
    return result;
}

struct thread *thread_self(void)
{
    return current;
}

const char *thread_name(const struct thread *thread)
{
    return thread->name;
}

const char *running_thread(void)
{
    return current->name;
}

unsigned long cpu_id(void)
{
    return current->hart->id;
}

unsigned thread_processors(void)
{
    return nharts;
}

struct stack thread_stack(void)
{
    return current->stack;
}

struct stack trap_stack(void)
{
    return current->hart->trap_stack;
}
