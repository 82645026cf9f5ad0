// SPDX-License-Identifier: MIT
// What an interrupt controller offers to irq.c.
#ifndef HAL_RISCV64_IRQ_CHIP_H
#define HAL_RISCV64_IRQ_CHIP_H

#include "hal/types.h"

struct irq_chip {
    const char *name;
    unsigned nirqs;  // interrupts 1 … nirqs
    unsigned nwired; // of those, 1 … nwired are wired lines and the rest are messages
    void (*enable)(unsigned irq, bool on);
    // Takes every pending interrupt: calls irq_deliver() for each.
    void (*dispatch)(void);
    // Fills in where a message for `irq` goes; NULL when the chip takes none.
    void (*message)(unsigned irq, uint64_t *address, uint32_t *data);
};

// Each returns its chip, set up with everything disabled, or NULL when the machine has none (or it cannot be
// mapped, which is logged).
const struct irq_chip *plic_init(void);
const struct irq_chip *aia_init(void);

// Calls the handlers of `irq`. For the chips.
void irq_deliver(unsigned irq);

#endif
