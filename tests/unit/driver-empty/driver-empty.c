// SPDX-License-Identifier: MIT
/* A program without any driver links, and its table is empty. */
#include "bus/driver.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void there_is_no_driver(void **state)
{
    (void)state;
    assert_null(driver_next(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_is_no_driver)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
