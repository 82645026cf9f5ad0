// SPDX-License-Identifier: MIT
#include "facts.h"

#include <stdio.h>

#include "hal/cpu.h"
#include "hal/irq.h"
#include "hal/machine.h"
#include "hal/mem.h"

static void print_pci(const struct pci_host *pci)
{
    static const char *const types[] = {"I/O", "32-bit memory", "64-bit memory"};
    if (!pci->present) {
        printf("pci: none\n");
        return;
    }
    printf("pci: buses %u to %u, configuration space at %#lx\n", pci->bus_first, pci->bus_last,
           pci->ecam.value);
    for (unsigned i = 0; i < pci->nwindows; i++)
        printf("pci: %s, %lu KiB at %#lx\n", types[pci->windows[i].type], pci->windows[i].size >> 10,
               pci->windows[i].cpu);
}

void print_facts(void)
{
    const struct machine *m = machine();
    struct mem_stats mem;
    mem_get_stats(&mem);
    printf("machine: %s, %u hart%s, timebase %lu Hz\n", m->model, m->nharts, m->nharts == 1 ? "" : "s",
           m->timebase_hz);
    for (unsigned i = 0; i < m->nram; i++)
        printf("memory: %lu MiB at %#lx\n", m->ram[i].size >> 20, m->ram[i].base.value);
    printf("memory: %zu of %zu pages free\n", mem.pages_free, mem.pages_total);
    printf("interrupts: %s\n", msi_available()   ? "APLIC and IMSIC"
                               : m->plic.present ? "PLIC"
                                                 : "no controller");
    print_pci(&m->pci);
    if (m->bootargs[0])
        printf("command line: %s\n", m->bootargs);
    printf("[OK] hello from hart %lu\n", cpu_id());
}
