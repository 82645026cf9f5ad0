// SPDX-License-Identifier: MIT
// panic() and the traps nobody expects: say why, print the registers and how we came here, end the machine.
#define LOG_MODULE "panic"
#include "boot.h"
#include "csr.h"
#include "trap.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/math.h"
#include "core/util.h"
#include "hal/console.h"
#include "hal/cpu.h"
#include "hal/mem.h"
#include "hal/panic.h"
#include "hal/shutdown.h"
#include "hal/trap.h"

#define MAX_FRAMES 32

static char message[256]; // of panic(); empty for a trap

__attribute__((format(printf, 1, 2))) static void print(const char *fmt, ...)
{
    char line[320];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    console_write(line, n < (int)sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

static const char *cause_name(uint64_t cause)
{
    static const char *const names[] = {"instruction address misaligned",
                                        "instruction access fault",
                                        "illegal instruction",
                                        "breakpoint",
                                        "load address misaligned",
                                        "load access fault",
                                        "store address misaligned",
                                        "store access fault",
                                        [12] = "instruction page fault",
                                        "load page fault",
                                        [15] = "store page fault"};
    const char *name = cause < ARRAY_SIZE(names) ? names[cause] : NULL;
    return name ? name : "unexpected trap";
}

static bool in_guard_page(struct stack stack, uint64_t address)
{
    return range_inside(address, 1, (uintptr_t)stack.guard, PAGE_SIZE);
}

static const char *location_hint(uint64_t address)
{
    if (in_guard_page(thread_stack(), address))
        return " (stack overflow)";
    if (in_guard_page(trap_stack(), address))
        return " (stack overflow in an interrupt handler)";
    return address < PAGE_SIZE ? " (null pointer)" : "";
}

static void print_reason(const struct trap_frame *f)
{
    if (message[0])
        print("panic: %s\n", message);
    else if (f->cause == CAUSE_INSTRUCTION_PAGE_FAULT || f->cause == CAUSE_LOAD_PAGE_FAULT ||
             f->cause == CAUSE_STORE_PAGE_FAULT)
        print("panic: %s at %#lx%s\n", cause_name(f->cause), f->value, location_hint(f->value));
    else
        print("panic: %s, cause %lu, value %#lx\n", cause_name(f->cause), f->cause, f->value);
}

static void print_registers(const struct trap_frame *f)
{
    static const char names[32][4] = {"pc", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                      "a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                      "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
        print("  %3s %016lx%s", names[i], f->x[i], i % 4 == 3 ? "\n" : "");
    print("  status %lx  cause %lx  value %lx\n", f->status, f->cause, f->value);
    if (running_thread())
        print("thread %s on hart %lu\n", running_thread(), cpu_id());
}

// `inside` is pc, or an address before it that is sure to lie in the same function.
static void print_location(uintptr_t pc, uintptr_t inside)
{
    size_t offset = 0;
    const char *name = symbol_lookup(inside, &offset);
    if (name)
        print("  %016lx  %s+%#zx\n", pc, name, offset + (pc - inside));
    else
        print("  %016lx\n", pc);
}

// A return address may be the first of the next function, where a call does not return: look at the call.
static void print_backtrace(const struct trap_frame *f)
{
    uintptr_t pcs[MAX_FRAMES];
    size_t n = backtrace_from(f, pcs, MAX_FRAMES);
    print("backtrace:\n");
    print_location(f->x[0], f->x[0]);
    for (size_t i = 0; i < n; i++)
        print_location(pcs[i], pcs[i] - 1);
}

// The first hart that panics tells; the others stop. False when this hart did so before.
static bool begin_panic(void)
{
    static unsigned long panicking; // the hart's number + 1
    unsigned long expected = 0, self = cpu_id() + 1;
    bool first =
        __atomic_compare_exchange_n(&panicking, &expected, self, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    while (!first && expected != self)
        cpu_relax();
    stop_other_harts();
    console_unlock();
    return first;
}

void trap_panic(const struct trap_frame *frame)
{
    if (!begin_panic()) {
        print("panic: %s at pc %#lx while panicking\n", cause_name(frame->cause), frame->x[0]);
        shutdown(1);
    }
    fflush(stdout);
    print_reason(frame);
    print_registers(frame);
    print_backtrace(frame);
    shutdown(1);
}

// The trap entry saves the registers as they are here, so panics and traps look alike.
void panic(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    __asm__ volatile("ebreak");
    shutdown(1);
}
