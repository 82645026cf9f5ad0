/* SPDX-License-Identifier: MIT */
#include <stdio.h>

int main(void)
{
    printf("[OK] hello\n");
    return 0;
}
