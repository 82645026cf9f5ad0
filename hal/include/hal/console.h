// SPDX-License-Identifier: MIT
// The console: raw bytes. printf() and the log write through it.
#ifndef HAL_CONSOLE_H
#define HAL_CONSOLE_H

#include "hal/types.h"

// Writes `len` bytes as they are; returns when the device has taken them. Works from the first C instruction
// on, with interrupts disabled, and in a panic.
void console_write(const char *data, size_t len);

// The next received byte (0 … 255), or -1 when there is none. Never waits.
int console_getc(void);

#endif
