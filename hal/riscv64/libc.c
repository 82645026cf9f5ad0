// SPDX-License-Identifier: MIT
// What picolibc asks of the system: the standard streams, exit, and how failures end.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hal/console.h"
#include "hal/cpu.h"
#include "hal/panic.h"
#include "hal/shutdown.h"

static int put(char c, FILE *file)
{
    (void)file;
    console_write(&c, 1);
    return (unsigned char)c;
}

static int get(FILE *file)
{
    int c;
    (void)file;
    while ((c = console_getc()) < 0)
        cpu_relax();
    return c;
}

static FILE console = FDEV_SETUP_STREAM(put, get, NULL, _FDEV_SETUP_RW);
FILE *const stdin = &console;
FILE *const stdout = &console;
FILE *const stderr = &console;

void _exit(int code)
{
    shutdown(code);
}

void abort(void)
{
    panic("abort()");
}

// assert() of picolibc.
__attribute__((noreturn)) void __assert_func(const char *file, int line, const char *function,
                                             const char *expression);
void __assert_func(const char *file, int line, const char *function, const char *expression)
{
    panic("%s:%d: %s: assertion failed: %s", file, line, function, expression);
}

// -fstack-protector-strong calls this when a function's canary was overwritten.
__attribute__((noreturn)) void __stack_chk_fail(void);
void __stack_chk_fail(void)
{
    panic("stack smashed: a local array was overrun");
}
