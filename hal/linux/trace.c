/* SPDX-License-Identifier: MIT */
/* The trace of core/trace.h: the monotonic clock, and the file that the argument trace=FILE names. */
#define LOG_MODULE "trace"
#include "core/trace.h"

#include "core/log.h"
#include "hal/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t start_ticks;

static uint64_t ticks(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The process's threads in the order of their first events. */
static uint32_t cpu(void)
{
    static uint32_t threads;
    static __thread uint32_t number;
    if (number == 0)
        number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return number - 1;
}

static int open_file(FILE **file)
{
    char path[PATH_MAX];
    if (!machine_bootarg("trace", path, sizeof(path)))
        return -ENOENT;
    *file = fopen(path, "w");
    if (!*file) {
        log_error("%s: %s", path, strerror(errno));
        return -EIO;
    }
    return fprintf(*file, "weft-trace 1\t1000000000\t%" PRIu64 "\n", start_ticks) < 0 ? -EIO : 0;
}

static int write(const char *text, size_t length)
{
    static FILE *file;
    int error = file ? 0 : open_file(&file);
    if (error)
        return error;
    return fwrite(text, 1, length, file) == length && fflush(file) == 0 ? 0 : -EIO;
}

static void dump(void)
{
    trace_dump();
}

/* What hands over the process's arguments is a constructor too: one with a number comes before those without.
 */
__attribute__((constructor(101))) static void trace_init(void)
{
    static const struct trace_host host = {.ticks = ticks, .cpu = cpu, .write = write};
    start_ticks = ticks();
    trace_start(&host);
    atexit(dump);
}
