// SPDX-License-Identifier: MIT
// Where the time from the first instruction to main(), and to the first device, goes.
#include "boot.h"
#include "csr.h"

#include <stdio.h>

#include "core/init.h"
#include "core/util.h"
#include "hal/time.h"

#define MAX_STAGES 16

static struct stage {
    const char *name;
    uint64_t end; // time CSR
} stages[MAX_STAGES];
static unsigned nstages;

void boot_timing_stage(const char *name)
{
    if (nstages < MAX_STAGES)
        stages[nstages++] = (struct stage){name, csr_read(CSR_TIME)};
}

static void print_row(const char *name, uint64_t begin, uint64_t end)
{
    uint64_t tenths = (end - begin) * 10000000 / boot_machine.timebase_hz;
    printf("  %-32s %6lu.%lu us\n", name, tenths / 10, tenths % 10);
}

void boot_timing_print(void)
{
    uint64_t begin = boot_time;
    printf("boot timing, from the first instruction:\n");
    for (unsigned i = 0; i < nstages; i++) {
        print_row(stages[i].name, begin, stages[i].end);
        begin = stages[i].end;
    }
    print_row("all up to main()", boot_time, begin);
}

static uint64_t search_begin;

// By its name the first of its level.
static int a_search_begins(void)
{
    search_begin = csr_read(CSR_TIME);
    return 0;
}
INIT(INIT_BUS, a_search_begins);

static int search_ended(void)
{
    print_row("buses and drivers, when asked for", search_begin, csr_read(CSR_TIME));
    return 0;
}
INIT(INIT_LATE + 1, search_ended);
