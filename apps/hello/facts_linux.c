// SPDX-License-Identifier: MIT
#include "facts.h"

#include <stdio.h>
#include <sys/utsname.h>

void print_facts(void)
{
    struct utsname system;
    if (uname(&system) == 0)
        printf("machine: %s, %s %s\n", system.machine, system.sysname, system.release);
    printf("[OK] hello from a process\n");
}
