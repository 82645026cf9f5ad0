// SPDX-License-Identifier: MIT
// Calls to the firmware (RISC-V SBI specification 2.0).
#ifndef HAL_RISCV64_SBI_H
#define HAL_RISCV64_SBI_H

#include <stdint.h>

#define SBI_EXT_TIME   0x54494d45ul // chapter 6
#define SBI_EXT_IPI    0x735049ul   // chapter 7
#define SBI_EXT_RFENCE 0x52464e43ul // chapter 8
#define SBI_EXT_HSM    0x48534dul   // chapter 9
#define SBI_EXT_SRST   0x53525354ul // chapter 10

#define SBI_ALL_HARTS (~0ul) // as hart_mask_base

// Returns the SBI error, 0 = success.
static inline long sbi_call(unsigned long extension, unsigned long function, unsigned long arg0,
                            unsigned long arg1, unsigned long arg2, unsigned long arg3)
{
    register unsigned long a0 __asm__("a0") = arg0;
    register unsigned long a1 __asm__("a1") = arg1;
    register unsigned long a2 __asm__("a2") = arg2;
    register unsigned long a3 __asm__("a3") = arg3;
    register unsigned long a6 __asm__("a6") = function;
    register unsigned long a7 __asm__("a7") = extension;
    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a3), "r"(a6), "r"(a7) : "memory");
    return (long)a0;
}

// A software interrupt for one hart.
static inline void sbi_send_ipi(unsigned long hart)
{
    sbi_call(SBI_EXT_IPI, 0, 1, hart, 0, 0);
}

// Flushes the TLBs of all harts whole; returns when that is done.
static inline void sbi_remote_sfence_vma(void)
{
    sbi_call(SBI_EXT_RFENCE, 1, 0, SBI_ALL_HARTS, 0, ~0ul);
}

// The hart starts at physical address `start` with its number in a0 and `argument` in a1, paging off.
static inline long sbi_hart_start(unsigned long hart, uintptr_t start, uintptr_t argument)
{
    return sbi_call(SBI_EXT_HSM, 0, hart, start, argument, 0);
}

// Raises the timer interrupt when the time CSR reaches `time`; clears a pending one.
static inline void sbi_set_timer(uint64_t time)
{
    sbi_call(SBI_EXT_TIME, 0, time, 0, 0, 0);
}

// Powers the machine off: reason 0 is none, 1 is system failure.
static inline void sbi_shutdown(unsigned reason)
{
    sbi_call(SBI_EXT_SRST, 0, 0, reason, 0, 0);
}

#endif
