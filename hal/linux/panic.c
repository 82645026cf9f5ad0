/* SPDX-License-Identifier: MIT */
#include "hal/panic.h"

#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void panic(const char *fmt, ...)
{
    void *pcs[32];
    va_list args;
    va_start(args, fmt);
    fflush(stdout);
    fputs("panic: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    backtrace_symbols_fd(pcs, backtrace(pcs, 32), STDERR_FILENO);
    _exit(1);
}
