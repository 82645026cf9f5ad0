// SPDX-License-Identifier: MIT
#ifndef HAL_SHUTDOWN_H
#define HAL_SHUTDOWN_H

// Ends the machine (or process) with exit code `code`, 0 … 255 (a value outside becomes 255, so that a
// failure count of 256 is not a success). On the virt machine by the sifive_test device, else by SBI System
// Reset (which carries only success or failure).
__attribute__((noreturn)) void shutdown(int code);

#endif
