/* SPDX-License-Identifier: MIT */
/* What happens before and after main(): the init levels, and the words of the command line as boot arguments.
 */
#include "core/init.h"
#include "core/log.h"
#include "hal/console.h"
#include "hal/machine.h"
#include "hal/shutdown.h"
#include "hal/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int arg_count;
static char **args;

bool machine_bootarg(const char *key, char *out, size_t size)
{
    size_t length = strlen(key);
    for (int i = 1; i < arg_count; i++) {
        if (strncmp(args[i], key, length) == 0 && args[i][length] == '=') {
            snprintf(out, size, "%s", args[i] + length + 1);
            return true;
        }
    }
    return false;
}

static void start(int argc, char **argv)
{
    static const struct log_output output = {.write = console_write, .now_ns = time_now_ns};
    arg_count = argc;
    args = argv;
    setvbuf(stdout, NULL, _IOLBF, 0);
    time_now_ns(); /* starts the clock */
    log_set_output(&output);
    char level[8];
    if (machine_bootarg("loglevel", level, sizeof(level)))
        log_set_level(level);
    init_run_all();
    atexit(init_exit_all); /* of a program that calls exit() */
}

/* The linker calls the program's main() so, and this one in its place (-Wl,--wrap=main). */
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

int __wrap_main(int argc, char **argv)
{
    start(argc, argv);
    shutdown(__real_main(argc, argv));
}
