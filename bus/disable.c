// SPDX-License-Identifier: MIT
/* Drivers that the kernel command line turns off. */
#define LOG_MODULE "bus"
#include "bus/driver.h"
#include "core/init.h"
#include "core/log.h"
#include "hal/machine.h"
#include <string.h>

#define DISABLE     "driver.disable" /* its key in the kernel command line */
#define DISABLE_MAX 256              /* bytes of its value */

bool driver_is_disabled(const struct driver *driver)
{
    char names[DISABLE_MAX];
    char *rest = names;
    bool disabled = false;

    if (machine_bootarg(DISABLE, names, sizeof(names)))
        while (rest && !disabled)
            disabled = strcmp(strsep(&rest, ","), driver->name) == 0;
    return disabled;
}

/* A name that no driver has is a mistake worth telling. */
static void check_disabled(const char *name)
{
    driver_for_each (driver)
        if (strcmp(driver->name, name) == 0) {
            log_info("driver %s: disabled by the command line", name);
            return;
        }
    log_warn(DISABLE ": there is no driver \"%s\"", name);
}

static int check_command_line(void)
{
    char names[DISABLE_MAX];
    char *rest = names;

    if (!machine_bootarg(DISABLE, names, sizeof(names)))
        return 0;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        check_disabled(name);
    return 0;
}

INIT(INIT_BUS, check_command_line);
