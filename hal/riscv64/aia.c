// SPDX-License-Identifier: MIT
// The Advanced Interrupt Architecture 1.0: messages arrive in the hart's interrupt file (IMSIC, chapter 3),
// and the APLIC's supervisor domain (chapter 4) turns wired lines into messages. Identity n of the file is
// wired source n as far as there are sources; the identities above are for devices' own messages.
#define LOG_MODULE "aia"
#include "csr.h"
#include "irq_chip.h"

#include "core/log.h"
#include "hal/machine.h"
#include "hal/mmio.h"

// Indirect registers of the interrupt file (3.8).
#define EIDELIVERY   0x70
#define EITHRESHOLD  0x72
#define EIE(id)      (0xc0 + (id) / 64 * 2) // on RV64 only the even ones exist, of 64 bits
#define STOPEI_SHIFT 16

// APLIC domain (4.5).
#define DOMAINCFG            0x0000
#define DOMAINCFG_IE         (1u << 8)
#define DOMAINCFG_DM_MSI     (1u << 2)
#define SOURCECFG(source)    (0x0004 + ((source) - 1) * 4)
#define SOURCECFG_LEVEL_HIGH 6
#define SETIPNUM             0x1cdc
#define SETIENUM             0x1edc
#define CLRIENUM             0x1fdc
#define TARGET(source)       (0x3004 + ((source) - 1) * 4)
#define TARGET_HART_SHIFT    18

static struct mmio aplic;
static struct irq_chip aia;

static void imsic_write(unsigned long reg, unsigned long value)
{
    csr_write(CSR_SISELECT, reg);
    csr_write(CSR_SIREG, value);
}

// The file takes every identity all the time: what is not to be sent is stopped at its source, the APLIC or
// the device, which any hart can reach.
static void enable(unsigned irq, bool on)
{
    if (irq > aia.nwired)
        return;
    uint32_t hart = machine()->imsic.hart_index;
    mmio_write32(&aplic, SOURCECFG(irq), SOURCECFG_LEVEL_HIGH);
    mmio_write32(&aplic, TARGET(irq), hart << TARGET_HART_SHIFT | irq);
    mmio_write32(&aplic, on ? SETIENUM : CLRIENUM, irq);
}

static void dispatch(void)
{
    unsigned long top;
    while ((top = csr_swap(CSR_STOPEI, 0))) {
        unsigned irq = (unsigned)(top >> STOPEI_SHIFT);
        irq_deliver(irq);
        // A level-triggered source sent one message and is forgotten; if the line is still high, this makes
        // it pending again (4.9.2).
        if (irq <= aia.nwired)
            mmio_write32(&aplic, SETIPNUM, irq);
    }
}

static void message(unsigned irq, uint64_t *address, uint32_t *data)
{
    *address = machine()->imsic.base.value;
    *data = irq;
}

static struct irq_chip aia = {
    .name = "APLIC and IMSIC", .enable = enable, .dispatch = dispatch, .message = message};

const struct irq_chip *aia_init(void)
{
    const struct machine *m = machine();
    if (!m->aplic.present || !m->imsic.present)
        return NULL;
    int error = mmio_map(&aplic, m->aplic.base, m->aplic.size);
    if (error) {
        log_error("cannot map %#lx bytes at %#lx: error %d", m->aplic.size, m->aplic.base.value, error);
        return NULL;
    }
    aia.nirqs = m->imsic.nids;
    aia.nwired = m->aplic.nsources < m->imsic.nids ? m->aplic.nsources : m->imsic.nids;
    for (unsigned id = 0; id <= m->imsic.nids; id += 64)
        imsic_write(EIE(id), ~0ul);
    imsic_write(EITHRESHOLD, 0);
    imsic_write(EIDELIVERY, 1);
    mmio_write32(&aplic, DOMAINCFG, DOMAINCFG_IE | DOMAINCFG_DM_MSI);
    return &aia;
}
