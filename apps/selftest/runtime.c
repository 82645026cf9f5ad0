// SPDX-License-Identifier: MIT
// The C environment: libc, floating point, symbols, command line, time.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/test.h"
#include "hal/machine.h"
#include "hal/time.h"
#include "hal/trap.h"
#include "selftest.h"

int main(void);

static void test_libc(void)
{
    char text[32];
    volatile double two = 2;
    snprintf(text, sizeof(text), "%.6f %5d", sqrt(two), -42);
    check(strcmp(text, "1.414214   -42") == 0, "printf and floating point: \"%s\"", text);
    errno = 0;
    check(strtol("99999999999999999999", NULL, 10) > 0 && errno == ERANGE, "errno is set: %d", errno);
}

static void test_symbols(void)
{
    size_t offset = 1;
    const char *name = symbol_lookup((uintptr_t)main, &offset);
    check(name && strcmp(name, "main") == 0 && offset == 0, "main() is found as \"%s\"+%zu", name ? name : "",
          offset);
    check(!symbol_lookup(0, &offset) && !symbol_lookup((uintptr_t)&offset, &offset), "data has no symbol");
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

static void test_time(void)
{
    uint64_t start = time_now_ns();
    time_delay_ns(2000000);
    check(time_now_ns() - start >= 2000000, "a delay of 2 ms takes that long");
    start = time_now_ns();
    int result = wait_until(never, NULL, deadline_in_ms(5));
    check(result == -ETIMEDOUT && time_now_ns() - start >= 5000000, "a wait of 5 ms times out after that");
    check(wait_until(never, NULL, 0) == -ETIMEDOUT, "a deadline in the past times out at once");
}

static void test_command_line(void)
{
    char value[8] = "";
    bool found = machine_bootarg("selftest", value, sizeof(value));
    check(!machine_bootarg("self", value, sizeof(value)), "a part of a key is not a key");
    if (found)
        check(strcmp(value, "1234567") == 0, "a long value is cut: \"%s\"", value);
}

// With app.args="one 'two words'" in the command line.
static void test_arguments(int argc, char **argv)
{
    char value[2];
    check(argc >= 1 && argv[0] && !argv[argc], "the arguments end with NULL");
    if (!machine_bootarg("app.args", value, sizeof(value)))
        return;
    check(argc == 3 && strcmp(argv[1], "one") == 0 && strcmp(argv[2], "two words") == 0,
          "main() gets the words of app.args: %d", argc - 1);
}

void test_runtime(int argc, char **argv)
{
    test_libc();
    test_symbols();
    test_time();
    test_command_line();
    test_arguments(argc, argv);
}
