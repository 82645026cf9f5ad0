// SPDX-License-Identifier: MIT
#define LOG_MODULE "init"
#include "core/init.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/util.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Exit functions of what has started, in the order of starting. */
static void (*exits[32])(void);
static size_t nexits;

/* The first entry that init_run_below() left for init_run_pending(). */
static const struct init *pending;

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
    error = init->start();
    if (error)
        log_error("%s: %s", init->name, error_name(error));
    else if (init->exit)
        exits[nexits++] = init->exit;
    return error;
}

/* Runs `first` and the entries after it that are below `level`; the first one that is not is pending then. */
static int run_from(const struct init *first, int level)
{
    int first_error = 0;
    const struct init *init = first;

    pending = NULL;
    for (; init && init->level < level; init = next(init)) {
        int error = run(init);

        if (error && !first_error)
            first_error = error;
    }
    pending = init;
    return first_error;
}

int init_run_below(int level)
{
    return run_from(next(NULL), level);
}

int init_run_pending(void)
{
    return pending ? run_from(pending, INT_MAX) : 0;
}

int init_run_all(void)
{
    return init_run_below(INT_MAX);
}

void init_exit_all(void)
{
    while (nexits > 0)
        exits[--nexits]();
}
