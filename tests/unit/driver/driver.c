// SPDX-License-Identifier: MIT
/* The drivers' table and the platform bus. */
#include "bus/driver.h"
#include "core/errno.h"
#include "core/init.h"
#include "core/log.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static char trace[256];
static char lines[1024];

static void note(const char *what, const struct device *dev)
{
    size_t used = strlen(trace);

    snprintf(trace + used, sizeof(trace) - used, "%s%u ", what, dev->number);
}

static void keep_line(const char *text, size_t length)
{
    size_t used = strlen(lines);

    snprintf(lines + used, sizeof(lines) - used, "%.*s", (int)length, text);
}

/* Finds two devices. */
static int twins_probe(struct device *dev)
{
    note("twin+", dev);
    return dev->number < 2 ? 0 : -ENODEV;
}

static void twins_remove(struct device *dev)
{
    note("twin-", dev);
}

PLATFORM_DRIVER(twins) = {
    .name = "twins", .class = DEVICE_BLOCK, .probe = twins_probe, .remove = twins_remove};

static int broken_probe(struct device *dev)
{
    note("broken+", dev);
    return -EIO;
}

PLATFORM_DRIVER(broken) = {
    .name = "broken", .class = DEVICE_BLOCK, .probe = broken_probe, .remove = twins_remove};

/* A driver of PCI devices: no business of the platform bus. */
static const struct pci_id ids[] = {{.vendor = 1, .device = 2}, {0}};
PCI_DRIVER(pci) = {.name = "pci", .ids = ids, .probe = broken_probe, .remove = twins_remove};

static void the_table_is_sorted_by_priority_and_name(void **state)
{
    char names[128] = "";

    (void)state;
    driver_for_each (driver) {
        strcat(names, driver->name);
        strcat(names, " ");
    }
    assert_string_equal(names, "zzz broken drv10 drv2 pci twins aaa ");
}

/* What the sorting hides: the raw table has each pointer once, and no holes (ASan would put red zones between
 * them). */
static void the_table_has_no_holes(void **state)
{
    unsigned count = 0;

    (void)state;
    assert_int_equal(((uintptr_t)__stop_weft_drivers - (uintptr_t)__start_weft_drivers) % sizeof(void *), 0);
    section_table_for_each (weft_drivers, struct driver, driver) {
        assert_non_null(driver);
        assert_non_null(driver->probe);
        count++;
    }
    assert_int_equal(count, 7);
}

static void platform_drivers_find_their_devices(void **state)
{
    static const struct log_output output = {.write = keep_line};

    (void)state;
    log_set_output(&output);
    assert_int_equal(init_run_all(), 0);
    log_set_output(NULL);
    assert_string_equal(trace, "broken+0 twin+0 twin+1 twin+2 ");
    assert_string_equal(lines, "bus: error: platform 0: broken → broken: probe failed: EIO\n"
                               "bus: platform 0: twins → twins\n"
                               "bus: platform 1: twins → twins\n");
    assert_int_equal(device_count(DEVICE_BLOCK), 2);
    assert_string_equal(device_get(DEVICE_BLOCK, 1)->name, "block1");
    trace[0] = '\0';
    struct device *dev = device_get(DEVICE_BLOCK, 0);
    device_unbind(dev);
    log_set_output(&output);
    assert_int_equal(device_bind(dev), 0);
    log_set_output(NULL);
    assert_string_equal(dev->name, "block0");
    init_exit_all();
    assert_string_equal(trace, "twin-0 twin+0 twin-0 twin-1 ");
    assert_int_equal(device_count(DEVICE_BLOCK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_sorted_by_priority_and_name),
        cmocka_unit_test(the_table_has_no_holes),
        cmocka_unit_test(platform_drivers_find_their_devices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
