// SPDX-License-Identifier: MIT
// The end of the road.
#ifndef HAL_PANIC_H
#define HAL_PANIC_H

// Prints "panic: " and the message, the registers and a symbolised backtrace, then shuts down with exit
// code 1. Only for broken invariants: what a caller, a device or an input can get wrong is an error, not a
// panic.
__attribute__((noreturn, format(printf, 1, 2))) void panic(const char *fmt, ...);

#endif
