// SPDX-License-Identifier: MIT
// From the first C instruction to main(), in the order that each step needs the ones before.
#define LOG_MODULE "boot"
#include "boot.h"
#include "csr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cmdline.h"
#include "core/errno.h"
#include "core/init.h"
#include "core/log.h"
#include "hal/console.h"
#include "hal/mem.h"
#include "hal/panic.h"
#include "hal/paging.h"
#include "hal/shutdown.h"
#include "hal/time.h"

int main(int argc, char **argv);

static const struct log_output log_output = {.write = console_write, .now_ns = time_now_ns};

#define ARGS_MAX 32

// main() of an app gets the words of app.args="…" in the kernel command line.
static int call_main(void)
{
    static char *argv[ARGS_MAX + 2] = {"weft"};
    int count = 0;
    if (machine_bootarg("app.args", NULL, 0)) {
        size_t size = strlen(boot_machine.bootargs) + 1;
        char *line = malloc(size);
        count = line && machine_bootarg("app.args", line, size) ? cmdline_split(line, argv + 1, ARGS_MAX)
                                                                : -ENOMEM;
    }
    if (count < 0) {
        log_error("app.args: %s, or more than %d words", error_name(count), ARGS_MAX);
        return EXIT_FAILURE;
    }
    argv[count + 1] = NULL;
    trace_begin("main", "main", 0, 0);
    int code = main(count + 1, argv);
    trace_end("main");
    return code;
}

static void early_init(unsigned long hart, const void *fdt)
{
    trace_init();
    boot_stage("entry: registers, .bss");
    log_set_output(&log_output);
    if (machine_read_boot(&boot_machine, fdt, hart) != 0)
        machine_complete(&boot_machine);
    boot_stage("device tree");
    static char level[8];
    if (machine_bootarg("loglevel", level, sizeof(level)))
        log_set_level(level);
    boot_stage("log level");
}

static void memory_and_paging_init(void)
{
    memory_init();
    boot_stage("memory and its mapping");
    paging_enable();
    console_restart();
    boot_stage("paging");
#ifdef CONFIG_PAGING_CHECK
    if (paging_check() < 0)
        panic("the page table is not as it must be");
    boot_stage("check of the page table");
#endif
}

void hal_main(unsigned long hart, const void *fdt)
{
    early_init(hart, fdt);
    memory_and_paging_init();
    csr_set(CSR_SSTATUS, SSTATUS_SIE);
    sched_init();
    smp_init();
    boot_stage("threads, harts");
    boot_timing_print();
    log_info("main() after %lu us", time_now_ns() / 1000);
    int code = call_main();
    mem_check();
    init_exit_all();
    fflush(stdout);
    shutdown(code);
}
