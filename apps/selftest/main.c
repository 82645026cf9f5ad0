// SPDX-License-Identifier: MIT
#include "core/test.h"
#include "selftest.h"

int main(int argc, char **argv)
{
    test_runtime(argc, argv);
    test_paging();
    test_memory();
    test_interrupts();
    return test_exit_code();
}
