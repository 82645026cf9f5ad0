/* SPDX-License-Identifier: MIT */
/* The console is the process's standard output and input. */
#include "hal/console.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

void console_write(const char *data, size_t len)
{
    fwrite(data, 1, len, stdout);
}

int console_getc(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char byte;
    if (poll(&input, 1, 0) <= 0 || read(STDIN_FILENO, &byte, 1) != 1)
        return -1;
    return byte;
}
