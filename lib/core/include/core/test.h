// SPDX-License-Identifier: MIT
/*
 * Verdict lines of apps: "[OK] what" and "[FAIL] what" on stdout, without a log prefix. A boot test reads the
 * lines and the exit code; both must agree.
 */
#ifndef CORE_TEST_H
#define CORE_TEST_H

#include <stdbool.h>

/* Prints "[OK] " and the message. */
void ok(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "[FAIL] " and the message, and counts one failure. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ok() or fail() with the same message; gives the condition back. */
#define check(condition, ...)                                                                                \
    ({                                                                                                       \
        bool check_holds = (condition);                                                                      \
        (check_holds ? ok : fail)(__VA_ARGS__);                                                              \
        check_holds;                                                                                         \
    })

unsigned test_passed(void);
unsigned test_failed(void);

/* What main() returns: 0 when something was checked and nothing failed, else 1. */
int test_exit_code(void);

#endif
