// SPDX-License-Identifier: MIT
// What picolibc asks of the system: the standard streams, exit, and how failures end.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hal/console.h"
#include "hal/cpu.h"
#include "hal/panic.h"
#include "hal/shutdown.h"

#ifdef CONFIG_SMP
// Harts print at the same time: a thread's line goes out whole.
static __thread char text[128];
static __thread size_t length;

static int flush(FILE *file)
{
    (void)file;
    console_write(text, length);
    length = 0;
    return 0;
}

static int put(char c, FILE *file)
{
    text[length++] = c;
    if (c == '\n' || length == sizeof(text))
        flush(file);
    return (unsigned char)c;
}
#else
static int flush(FILE *file)
{
    (void)file;
    return 0;
}

static int put(char c, FILE *file)
{
    (void)file;
    console_write(&c, 1);
    return (unsigned char)c;
}
#endif

static int get(FILE *file)
{
    int c;
    flush(file);
    while ((c = console_getc()) < 0)
        cpu_relax();
    return c;
}

static FILE console = FDEV_SETUP_STREAM(put, get, flush, _FDEV_SETUP_RW);
FILE *const stdin = &console;
FILE *const stdout = &console;
FILE *const stderr = &console;

void _exit(int code)
{
    fflush(stdout);
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
