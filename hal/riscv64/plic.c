// SPDX-License-Identifier: MIT
// The platform-level interrupt controller (RISC-V PLIC specification 1.0.0, "Memory Map").
#define LOG_MODULE "plic"
#include "irq_chip.h"

#include "core/log.h"
#include "hal/machine.h"
#include "hal/mmio.h"

#define PRIORITY(source)    ((source) * 4u)
#define ENABLE(context)     (0x2000 + (context) * 0x80u)
#define THRESHOLD(context)  (0x200000 + (context) * 0x1000u)
#define CLAIM(context)      (THRESHOLD(context) + 4)
#define ENABLE_WORD(source) ((source) / 32 * 4)

static struct mmio regs;
static unsigned context;

static void enable(unsigned irq, bool on)
{
    size_t word = ENABLE(context) + ENABLE_WORD(irq);
    uint32_t bit = UINT32_C(1) << irq % 32;
    uint32_t old = mmio_read32(&regs, word);
    mmio_write32(&regs, PRIORITY(irq), 1);
    mmio_write32(&regs, word, on ? old | bit : old & ~bit);
}

static void dispatch(void)
{
    uint32_t irq;
    while ((irq = mmio_read32(&regs, CLAIM(context)))) {
        irq_deliver(irq);
        mmio_write32(&regs, CLAIM(context), irq);
    }
}

static struct irq_chip plic = {.name = "PLIC", .enable = enable, .dispatch = dispatch};

const struct irq_chip *plic_init(void)
{
    const struct machine_plic *m = &machine()->plic;
    if (!m->present)
        return NULL;
    int error = mmio_map(&regs, m->base, m->size);
    if (error) {
        log_error("cannot map %#lx bytes at %#lx: error %d", m->size, m->base.value, error);
        return NULL;
    }
    context = m->context;
    plic.nirqs = plic.nwired = m->nsources;
    for (unsigned source = 0; source <= m->nsources; source += 32)
        mmio_write32(&regs, ENABLE(context) + ENABLE_WORD(source), 0);
    mmio_write32(&regs, THRESHOLD(context), 0);
    return &plic;
}
