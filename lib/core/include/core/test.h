// SPDX-License-Identifier: MIT
/*
 * Verdict lines of apps: "[OK] what" and "[FAIL] what" on stdout, without a log prefix. A boot test reads the
 * lines and the exit code; both must agree.
 */
#ifndef CORE_TEST_H
#define CORE_TEST_H

#include <stdbool.h>

/*
 * Prints "[OK] " and the message if `holds`, else "[FAIL] " and the message, and counts. Gives `holds` back.
 * Called through the macros below.
 */
bool verdict(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ok(...)   verdict(true, __VA_ARGS__)
#define fail(...) verdict(false, __VA_ARGS__)

/* ok() or fail() with the message, whose values are looked at after the condition; gives the condition back.
 */
#define check(condition, ...)                                                                                \
    ({                                                                                                       \
        bool check_holds = (condition);                                                                      \
        verdict(check_holds, __VA_ARGS__);                                                                   \
    })

/* What main() returns: 0 when something was checked and nothing failed, else 1. */
int test_exit_code(void);

#endif
