// SPDX-License-Identifier: MIT
// Calls to the firmware (RISC-V SBI specification 2.0).
#ifndef HAL_RISCV64_SBI_H
#define HAL_RISCV64_SBI_H

#include <stdint.h>

#define SBI_EXT_TIME 0x54494d45ul // chapter 6
#define SBI_EXT_SRST 0x53525354ul // chapter 10

// Function 0 of extension `extension`: both that we use have but this one. Returns the SBI error, 0 =
// success.
static inline long sbi_call(unsigned long extension, unsigned long arg0, unsigned long arg1)
{
    register unsigned long a0 __asm__("a0") = arg0;
    register unsigned long a1 __asm__("a1") = arg1;
    register unsigned long a6 __asm__("a6") = 0;
    register unsigned long a7 __asm__("a7") = extension;
    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a6), "r"(a7) : "memory");
    return (long)a0;
}

// Raises the timer interrupt when the time CSR reaches `time`; clears a pending one.
static inline void sbi_set_timer(uint64_t time)
{
    sbi_call(SBI_EXT_TIME, time, 0);
}

// Powers the machine off: reason 0 is none, 1 is system failure.
static inline void sbi_shutdown(unsigned reason)
{
    sbi_call(SBI_EXT_SRST, 0, reason);
}

#endif
