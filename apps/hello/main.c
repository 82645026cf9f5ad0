// SPDX-License-Identifier: MIT
// The smallest application: says hello and what it runs on.
#include "facts.h"

int main(void)
{
    print_facts();
    return 0;
}
