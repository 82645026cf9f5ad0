// SPDX-License-Identifier: MIT
#include "csr.h"

#include "hal/cpu.h"

unsigned long cpu_irq_save(void)
{
    return csr_fetch_clear(CSR_SSTATUS, SSTATUS_SIE) & SSTATUS_SIE;
}

void cpu_irq_restore(unsigned long flags)
{
    csr_set(CSR_SSTATUS, flags & SSTATUS_SIE);
}

void cpu_wait(void)
{
    __asm__ volatile("wfi" ::: "memory");
    csr_set(CSR_SSTATUS, SSTATUS_SIE); // what is pending is taken here
    csr_clear(CSR_SSTATUS, SSTATUS_SIE);
}

void cpu_relax(void)
{
    __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010" ::: "memory"); // pause (Zihintpause): a fence otherwise
}
