// SPDX-License-Identifier: MIT
// What smp.c does, where there is one hart.
#include "boot.h"

void smp_init(void)
{
}

void wake_idle_hart(void)
{
}

void stop_other_harts(void)
{
}

void flush_other_harts(void)
{
}

void ipi_interrupt(void)
{
}
