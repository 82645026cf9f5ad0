// SPDX-License-Identifier: MIT
// The processor: interrupt enable, waiting.
#ifndef HAL_CPU_H
#define HAL_CPU_H

// Disables interrupts and returns the previous state for cpu_irq_restore(). Pairs nest.
unsigned long cpu_irq_save(void);
void cpu_irq_restore(unsigned long flags);

// Sleeps until an interrupt is pending, lets its handler run, and returns with interrupts disabled again.
// Call with interrupts disabled, after finding your condition false: an interrupt that arrives between that
// test and the sleep still ends the sleep (Privileged ISA, "Wait for Interrupt": WFI resumes for a pending,
// locally enabled interrupt even when SIE is clear), so no wake-up is lost. May return for any interrupt;
// test the condition again.
void cpu_wait(void);

// A hint in a polling loop.
void cpu_relax(void);

// Number of the processor (hart) this runs on.
unsigned long cpu_id(void);

#endif
