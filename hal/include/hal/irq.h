// SPDX-License-Identifier: MIT
// Interrupts. One number space: 1 … n are the wired lines of the machine's controller (PLIC or APLIC source
// numbers), numbers above come from msi_alloc() on a machine with an IMSIC.
#ifndef HAL_IRQ_H
#define HAL_IRQ_H

#include "hal/types.h"

// Runs with interrupts disabled, on the trap stack. Must be short and must not sleep or allocate, nor call
// irq_attach(), irq_detach(), msi_alloc() or msi_free(): the lock of the lines is held. On a shared line
// every attached handler is called: check your device's status first.
typedef void (*irq_handler_t)(void *arg);

// Adds (fn, arg) to interrupt `irq` and enables it. A line may be shared; the same (fn, arg) pair may be
// attached once. Wired lines are level-triggered.
// Returns 0, -EINVAL (no such interrupt), -EEXIST (pair attached already), -ENOMEM, -ENODEV (the machine has
// no interrupt controller we know).
int irq_attach(unsigned irq, irq_handler_t fn, void *arg);

// Removes (fn, arg); the interrupt is disabled when nobody is left. After the return fn is not called again.
// Returns 0, -EINVAL or -ENOENT.
int irq_detach(unsigned irq, irq_handler_t fn, void *arg);

// How often `irq` was taken since boot (0 for an unknown number).
uint64_t irq_count(unsigned irq);

// A message-signalled interrupt: the device writes the 32-bit `data` to `address` (RISC-V Advanced Interrupt
// Architecture, "Incoming MSI Controller").
struct msi_vector {
    uint64_t address; // physical address, as a device writes it
    uint32_t data;
    unsigned irq; // for irq_attach()
};

// True when the machine has an IMSIC.
bool msi_available(void);

// Reserves one vector. Attach a handler to out->irq before letting the device send.
// Returns 0, -ENOTSUP (no IMSIC) or -ENOSPC (all identities in use).
int msi_alloc(struct msi_vector *out);

// Gives the vector back and clears `*v`. All its handlers must be detached. A cleared `*v` is left alone.
void msi_free(struct msi_vector *v);

#endif
