// SPDX-License-Identifier: MIT
/* The hal's command line, as a test wants it. */
#include "bootarg.h"
#include "core/cmdline.h"
#include "hal/machine.h"

const char *test_command_line = "";

bool machine_bootarg(const char *key, char *out, size_t size)
{
    return cmdline_value(test_command_line, key, out, size) >= 0;
}
