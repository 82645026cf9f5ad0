// SPDX-License-Identifier: MIT
#define LOG_MODULE "init"
#include "core/init.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/trace.h"
#include "core/util.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Exit functions of what has started, in the order of starting. */
static void (*exits[32])(void);
static size_t nexits;

static bool ran;

static bool before(const struct init *a, const struct init *b)
{
    int names = strcmp(a->name, b->name);

    if (a->level != b->level)
        return a->level < b->level;
    /* Static functions of two files may have one name. */
    return names != 0 ? names < 0 : (uintptr_t)a < (uintptr_t)b;
}

/* The entry after `previous` by (level, name). The table is short: no need for a sorted copy of it. */
static const struct init *next(const struct init *previous)
{
    const struct init *best = NULL;

    section_table_for_each (weft_inits, struct init, entry)
        if ((!previous || before(previous, entry)) && (!best || before(entry, best)))
            best = entry;
    return best;
}

static int run(const struct init *init)
{
    int error;

    if (init->exit && nexits == ARRAY_SIZE(exits)) {
        log_error("%s: more than %zu exit functions", init->name, ARRAY_SIZE(exits));
        return -ENOSPC;
    }
    trace_begin("init", init->name, (uint64_t)init->level, 0);
    error = init->start();
    trace_end("init");
    if (error)
        log_error("%s: %s", init->name, error_name(error));
    else if (init->exit)
        exits[nexits++] = init->exit;
    return error;
}

int init_run_all(void)
{
    int first_error = 0;

    ran = true;
    for (const struct init *init = next(NULL); init; init = next(init)) {
        int error = run(init);

        if (error && !first_error)
            first_error = error;
    }
    return first_error;
}

int init_run_once(void)
{
    return ran ? 0 : init_run_all();
}

void init_exit_all(void)
{
    while (nexits > 0)
        exits[--nexits]();
}
