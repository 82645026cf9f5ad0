// SPDX-License-Identifier: MIT
// Threads and harts as this folder sees them. A hart's tp points to the TLS block of the thread it runs, and
// `current`, which lies there, leads to the rest.
#ifndef HAL_RISCV64_HART_H
#define HAL_RISCV64_HART_H

// struct context, for switch.S.
#define CONTEXT_RA   0
#define CONTEXT_SP   8
#define CONTEXT_TP   16
#define CONTEXT_FCSR 24
#define CONTEXT_S(n) (32 + (n) * 8)
#define CONTEXT_F(n) (128 + (n) * 8)
#define CONTEXT_SIZE 224

// struct hart, for hart_entry.S.
#define HART_IDLE     0
#define HART_TRAP_TOP 16
#define HART_SATP     24

#ifndef __ASSEMBLER__

#include "boot.h"
#include "hal/thread.h"

// What a function call preserves, and so a switch.
struct context {
    uint64_t ra, sp, tp, fcsr;
    uint64_t s[12], fs[12];
};

_Static_assert(sizeof(struct context) == CONTEXT_SIZE, "switch.S and struct context agree");

struct hart {
    struct thread *idle; // runs when no other thread can; in no list
    struct stack trap_stack;
    uint64_t satp; // to start with
    unsigned long id;
    bool online; // it has started
    bool idling; // its idle thread runs
    bool poked;  // and was told to look for a thread
};

_Static_assert(offsetof(struct hart, idle) == HART_IDLE && offsetof(struct hart, satp) == HART_SATP &&
                   offsetof(struct hart, trap_stack.top) == HART_TRAP_TOP,
               "hart_entry.S and struct hart agree");

struct thread {
    struct context context;
    struct hart *hart;      // that runs it, NULL otherwise
    struct list_node link;  // in the list of those that can run, or of what it waits in
    struct list_node timer; // in the list of deadlines, while it waits for one
    uint64_t deadline;
    bool timed_out;
    bool (*done)(void *); // the condition of wait_until()
    void *done_arg;
    int (*fn)(void *);
    void *arg;
    int result;
    bool exited;
    struct wait_queue joiners;
    struct stack stack; // but the first thread's with the TLS block at its top
    char name[16];
};

extern struct hart boot_hart;
extern unsigned nharts; // that run
extern __thread struct thread *current;

// A stack of `bytes`, rounded up to pages, above its guard page. False: no memory.
bool stack_alloc(struct stack *stack, size_t bytes);

// A thread that nobody knows of yet.
struct thread *thread_new(const char *name, int (*fn)(void *), void *arg, size_t stack_bytes);

// Saves the registers to *from, under the scheduler's lock, and goes on with those of *to.
void context_switch(struct context *from, const struct context *to);

// Where a new thread starts; calls thread_main().
void thread_entry(void);
__attribute__((noreturn)) void thread_main(void);

// Gives `hart` its idle thread. 0 or -ENOMEM.
int sched_add_hart(struct hart *hart, unsigned long id);

// Where another hart starts, with its struct in a1, and goes on in C.
void hart_entry(void);
__attribute__((noreturn)) void hart_main(void);

// The lock is held: `thread` can run now; never run the caller again.
void sched_ready(struct thread *thread);
__attribute__((noreturn)) void sched_exit(void);

#endif
#endif
