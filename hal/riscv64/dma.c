// SPDX-License-Identifier: MIT
// Kernel RAM is mapped at its physical address, and the PCI host bridge of the virt machine passes addresses
// through: all three views are one number.
#include "boot.h"

#include "core/math.h"
#include "hal/dma.h"
#include "hal/machine.h"
#include "hal/panic.h"

bool dma_able(const void *p, size_t len)
{
    const struct machine *m = &boot_machine;
    for (unsigned i = 0; i < m->nram; i++)
        if (range_inside((uintptr_t)p, len ? len : 1, m->ram[i].base.value, m->ram[i].size))
            return true;
    return false;
}

phys_addr_t dma_address(const void *p)
{
    if (!dma_able(p, 1))
        panic("dma_address: %p is not kernel RAM", p);
    return phys_addr((uintptr_t)p);
}
