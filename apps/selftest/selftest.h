// SPDX-License-Identifier: MIT
// Each function checks one part of the hal and prints [OK] and [FAIL] lines (core/test.h).
#ifndef APPS_SELFTEST_H
#define APPS_SELFTEST_H

void test_paging(void);
void test_memory(void);
void test_interrupts(void);
void test_runtime(int argc, char **argv);

#endif
