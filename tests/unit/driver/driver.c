// SPDX-License-Identifier: MIT
/* The drivers' table and the platform bus. */
#include "bootarg.h"
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
    assert_string_equal(names, "zzz broken drv10 drv2 needy pci supply twins aaa ");
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
    assert_int_equal(count, 9);
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

/* --- devices that wait --- */

static bool test_match(const struct device *dev, const struct driver *driver)
{
    return strcmp(driver->name, dev->what) == 0;
}

static const struct bus test_bus = {.name = "test", .match = test_match};
static struct device needs[3];
static struct device supply;

static struct device *next_need(struct device *previous)
{
    size_t next = previous ? (size_t)(previous - needs) + 1 : 0;

    return next < ARRAY_SIZE(needs) ? &needs[next] : NULL;
}

/* Device n is happy when n + 1 devices are there: the first waits for `supply`, each other for the one
 * before. */
static int needy_probe(struct device *dev)
{
    note("needy?", dev);
    return device_count(DEVICE_ENTROPY) > dev->number ? 0 : -EAGAIN;
}

DRIVER(needy) = {
    .name = "needy", .ids = ids, .class = DEVICE_ENTROPY, .probe = needy_probe, .remove = twins_remove};

static int supply_probe(struct device *dev)
{
    (void)dev;
    return 0;
}

DRIVER(supplier) = {
    .name = "supply", .ids = ids, .class = DEVICE_ENTROPY, .probe = supply_probe, .remove = twins_remove};

static void setup_needs(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(needs); i++)
        needs[i] = (struct device){.bus = &test_bus,
                                   .what = "needy",
                                   .number = (unsigned)ARRAY_SIZE(needs) - 1 - i,
                                   .status = -ENODEV};
    supply = (struct device){.bus = &test_bus, .what = "supply"};
    trace[0] = '\0';
    lines[0] = '\0';
}

static void waiting_devices_are_asked_again(void **state)
{
    static const struct log_output output = {.write = keep_line};

    (void)state;
    setup_needs();
    log_set_output(&output);
    device_bind_all(next_need);
    assert_string_equal(trace, "needy?2 needy?1 needy?0 ");
    for (unsigned i = 0; i < ARRAY_SIZE(needs); i++)
        assert_int_equal(needs[i].status, -EAGAIN);
    assert_int_equal(device_bind(&needs[0]), -EAGAIN); /* goes on waiting, once */
    trace[0] = '\0';
    assert_int_equal(device_bind(&supply), 0);
    log_set_output(NULL);
    /* Number 0 first, as only then there is one for number 1, and so on. */
    assert_string_equal(lines, "bus: test : supply → supply\nbus: test : needy → needy\n"
                               "bus: test : needy → needy\nbus: test : needy → needy\n");
    assert_int_equal(device_count(DEVICE_ENTROPY), 4);
    assert_string_equal(needs[2].name, "entropy1");
    assert_string_equal(needs[0].name, "entropy3");
    trace[0] = '\0';
    device_unbind_all();
    assert_string_equal(trace, "twin-2 twin-1 twin-0 twin-0 ");
}

static void nobody_waits_after_the_end(void **state)
{
    (void)state;
    setup_needs();
    device_bind_all(next_need);
    device_unbind(&needs[1]);
    assert_int_equal(needs[1].status, -ENODEV);
    device_unbind_all();
    trace[0] = '\0';
    assert_int_equal(device_bind(&supply), 0);
    assert_string_equal(trace, "");
    device_unbind_all();
}

static void the_command_line_disables_drivers(void **state)
{
    static const struct log_output output = {.write = keep_line};

    (void)state;
    setup_needs();
    test_command_line = "driver.disable=twins,supply,nonsense";
    log_set_output(&output);
    assert_int_equal(init_run_all(), 0);
    assert_int_equal(device_bind(&supply), -ENODEV);
    test_command_line = "";
    log_set_output(NULL);
    assert_string_equal(lines, "bus: driver twins: disabled by the command line\n"
                               "bus: driver supply: disabled by the command line\n"
                               "bus: warning: driver.disable: there is no driver \"nonsense\"\n"
                               "bus: error: platform 0: broken → broken: probe failed: EIO\n"
                               "bus: test : supply: no driver\n");
    assert_int_equal(device_count(DEVICE_BLOCK), 0);
    init_exit_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_sorted_by_priority_and_name),
        cmocka_unit_test(the_table_has_no_holes),
        cmocka_unit_test(platform_drivers_find_their_devices),
        cmocka_unit_test(waiting_devices_are_asked_again),
        cmocka_unit_test(nobody_waits_after_the_end),
        cmocka_unit_test(the_command_line_disables_drivers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
