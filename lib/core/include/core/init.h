// SPDX-License-Identifier: MIT
/*
 * Initialisation by levels. A source file registers a function:
 *
 *     static int pci_init(void) { … }
 *     static void pci_exit(void) { … }
 *     INIT(INIT_BUS, pci_init, pci_exit);
 *
 * They run by (level, name) when a device is looked for: a program without devices does not wait for a scan
 * of the bus. After main() their exit functions run in reverse. A level is a number: INIT_DRIVER + 1 comes
 * after INIT_DRIVER and before INIT_LATE.
 */
#ifndef CORE_INIT_H
#define CORE_INIT_H

#include "core/section.h"
#include <stddef.h>

enum init_level {
    INIT_BUS = 100,    /* buses find their devices */
    INIT_DRIVER = 200, /* drivers take their devices */
    INIT_LATE = 300,   /* everything is there */
};

struct init {
    const char *name;
    int level;
    int (*start)(void); /* 0 or a negative errno */
    void (*exit)(void); /* may be NULL */
};

SECTION_TABLE(weft_inits, struct init);

/* INIT(level, start) or INIT(level, start, exit) at file scope. The entry has the name of `start`. */
#define INIT(level_, start_, ...)                                                                            \
    static const struct init start_##_init = {#start_, level_, start_,                                       \
                                              INIT_SECOND(0, ##__VA_ARGS__, NULL, 0)};                       \
    SECTION_TABLE_ADD(weft_inits, struct init, start_##_init)
#define INIT_SECOND(first, second, ...) second

/*
 * Runs every registered function once. One that fails is logged with its error and the others still run (an
 * app may not need what is broken); the first error is returned, 0 when all went well.
 */
int init_run_all(void);

/* init_run_all(), if that was never called. */
int init_run_once(void);

/* Runs the exit function of every entry whose start function succeeded, in the reverse order. */
void init_exit_all(void);

#endif
