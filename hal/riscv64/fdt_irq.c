// SPDX-License-Identifier: MIT
// Interrupt controllers in the device tree (Linux bindings sifive,plic-1.0.0; riscv,aplic; riscv,imsics).
#define LOG_MODULE "fdt"
#include "device_tree.h"

#include "core/log.h"

#define S_EXTERNAL    9u // supervisor external interrupt (Privileged ISA, scause)
#define IMSIC_PAGE    12 // an interrupt file is one 4 KiB page
#define MAX_IMSIC_IDS 2047u
#define MAX_SOURCES   1023u

static uint32_t at_most(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

void dt_read_plic(struct machine *m, const struct dt_node *node, const struct dt_devices *devices)
{
    struct machine_range reg = dt_reg(node, 0);
    int context = dt_boot_hart_index(devices, node, S_EXTERNAL);
    if (!reg.size || context < 0) {
        log_error("plic: no usable reg, or no S-mode context for hart %lu", m->boot_hart);
        return;
    }
    m->plic = (struct machine_plic){.present = true,
                                    .base = reg.base,
                                    .size = reg.size,
                                    .nsources = at_most(dt_u32(node->begin, "riscv,ndev", 0), MAX_SOURCES),
                                    .context = (unsigned)context};
}

// An IMSIC node serves one privilege level; the S-level one is wired to the harts' S-external interrupts.
static bool serves_supervisor(const uint32_t *imsic)
{
    return dt_cell(dt_property(imsic, "interrupts-extended"), 1) == S_EXTERNAL;
}

void dt_read_aplic(struct machine *m, const struct dt_node *node, const struct dt_devices *devices)
{
    const uint32_t *imsic = dt_by_phandle(devices, dt_u32(node->begin, "msi-parent", 0));
    if (!imsic || !serves_supervisor(imsic))
        return; // the machine-level domain, or one that delivers without MSIs: not ours
    struct machine_range reg = dt_reg(node, 0);
    if (!reg.size) {
        log_error("aplic: no usable reg");
        return;
    }
    m->aplic =
        (struct machine_aplic){.present = true,
                               .base = reg.base,
                               .size = reg.size,
                               .nsources = at_most(dt_u32(node->begin, "riscv,num-sources", 0), MAX_SOURCES)};
}

void dt_read_imsic(struct machine *m, const struct dt_node *node, const struct dt_devices *devices)
{
    if (!serves_supervisor(node->begin))
        return;
    int index = dt_boot_hart_index(devices, node, S_EXTERNAL);
    uint32_t guest_bits = at_most(dt_u32(node->begin, "riscv,guest-index-bits", 0), 6);
    uint64_t offset = (uint64_t)(unsigned)index << (IMSIC_PAGE + guest_bits);
    struct machine_range reg = dt_reg(node, 0);
    // The files of all harts in a row, spread over the reg entries.
    for (unsigned i = 1; reg.size && offset >= reg.size; i++) {
        offset -= reg.size;
        reg = dt_reg(node, i);
    }
    if (index < 0 || !reg.size) {
        log_error("imsics: no S-mode interrupt file for hart %lu", m->boot_hart);
        return;
    }
    m->imsic = (struct machine_imsic){.present = true,
                                      .base = phys_add(reg.base, offset),
                                      .nids = at_most(dt_u32(node->begin, "riscv,num-ids", 0), MAX_IMSIC_IDS),
                                      .hart_index = (unsigned)index};
}
