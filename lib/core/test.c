// SPDX-License-Identifier: MIT
#include "core/test.h"
#include <stdarg.h>
#include <stdio.h>

static unsigned passed;
static unsigned failed;

static void verdict(const char *mark, const char *format, va_list args)
{
    printf("%s ", mark);
    vprintf(format, args);
    putchar('\n');
}

void ok(const char *format, ...)
{
    va_list args;

    passed++;
    va_start(args, format);
    verdict("[OK]", format, args);
    va_end(args);
}

void fail(const char *format, ...)
{
    va_list args;

    failed++;
    va_start(args, format);
    verdict("[FAIL]", format, args);
    va_end(args);
}

unsigned test_passed(void)
{
    return passed;
}

unsigned test_failed(void)
{
    return failed;
}

int test_exit_code(void)
{
    return failed > 0 || passed == 0;
}
