// SPDX-License-Identifier: MIT
#ifndef TESTS_UNIT_DRIVER_BOOTARG_H
#define TESTS_UNIT_DRIVER_BOOTARG_H

extern const char *test_command_line;

#endif
