/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts: a level on INTA# while an enabled bit is pending, or with MSI-X a message per event. A masked
 * vector becomes pending in the PBA and is sent when it is unmasked (PCI 3.0, 6.8.2).
 */
#include "qemu/osdep.h"
#include "gpgpu.h"
#include "hw/pci/msix.h"
#include "trace.h"

static void send_messages(GPGPUState *s, uint32_t bits)
{
    for (unsigned vector = 0; vector < GPGPU_MSIX_VECTORS; vector++) {
        if (bits & 1u << vector) {
            msix_notify(&s->pdev, vector);
        }
    }
}

void gpgpu_irq_update_intx(GPGPUState *s)
{
    pci_set_irq(&s->pdev, !msix_enabled(&s->pdev) && (s->reg[REG_IRQ_STATUS] & s->reg[REG_IRQ_ENABLE]));
}

/* Signal the events in bits, which are pending. */
static void signal_events(GPGPUState *s, uint32_t bits)
{
    trace_gpgpu_irq(gpgpu_name(s), s->reg[REG_IRQ_STATUS], s->reg[REG_IRQ_ENABLE]);
    if (msix_enabled(&s->pdev)) {
        send_messages(s, bits & s->reg[REG_IRQ_ENABLE]);
    } else {
        gpgpu_irq_update_intx(s);
    }
}

void gpgpu_irq_raise(GPGPUState *s, uint32_t bits)
{
    s->reg[REG_IRQ_STATUS] |= bits;
    signal_events(s, bits);
}

void gpgpu_write_irq_enable(GPGPUState *s, uint32_t value)
{
    /* Enabling signals what is pending, also what came while the bit was off. */
    signal_events(s, s->reg[REG_IRQ_STATUS]);
}

void gpgpu_write_irq_ack(GPGPUState *s, uint32_t value)
{
    s->reg[REG_IRQ_STATUS] &= ~value;
    gpgpu_irq_update_intx(s);
}

void gpgpu_error_raise(GPGPUState *s, uint32_t bits)
{
    s->reg[REG_ERROR_STATUS] |= bits;
    gpgpu_irq_raise(s, GPGPU_IRQ_ERROR);
}
