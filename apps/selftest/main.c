// SPDX-License-Identifier: MIT
#include "core/test.h"
#include "selftest.h"

int main(void)
{
    test_runtime();
    test_paging();
    test_memory();
    test_interrupts();
    return test_exit_code();
}
