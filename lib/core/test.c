// SPDX-License-Identifier: MIT
#include "core/test.h"
#include <stdarg.h>
#include <stdio.h>

static unsigned passed;
static unsigned failed;

bool verdict(bool holds, const char *format, ...)
{
    va_list args;

    ++*(holds ? &passed : &failed);
    printf("%s ", holds ? "[OK]" : "[FAIL]");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    return holds;
}

int test_exit_code(void)
{
    return failed > 0 || passed == 0;
}
