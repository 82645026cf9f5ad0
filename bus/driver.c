// SPDX-License-Identifier: MIT
#include "bus/driver.h"
#include <string.h>

static bool before(const struct driver *a, const struct driver *b)
{
    int names = strcmp(a->name, b->name);

    if (a->prio != b->prio)
        return a->prio < b->prio;
    /* Unequal names are checked after linking (tools/check-drivers); the address keeps a hosted table whole.
     */
    return names != 0 ? names < 0 : (uintptr_t)a < (uintptr_t)b;
}

/* The linker's order is nobody's promise, and the table too short to deserve a sorted copy. */
const struct driver *driver_next(const struct driver *previous)
{
    const struct driver *best = NULL;

    section_table_for_each (weft_drivers, struct driver, driver)
        if ((!previous || before(previous, driver)) && (!best || before(driver, best)))
            best = driver;
    return best;
}
