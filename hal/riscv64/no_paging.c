// SPDX-License-Identifier: MIT
// What paging.c and mmio_map.c do, where virtual addresses are physical ones.
#include "boot.h"

#include <errno.h>

void paging_add(uintptr_t virt, uint64_t phys, size_t size, unsigned attr)
{
    (void)virt;
    (void)phys;
    (void)size;
    (void)attr;
}

void paging_enable(void)
{
}

struct mmio mmio_at_boot(uintptr_t page, const struct machine_range *regs)
{
    (void)page;
    return mmio_physical(regs->base, regs->size);
}

int mmio_map(struct mmio *out, phys_addr_t phys, size_t size)
{
    *out = size ? mmio_physical(phys, size) : (struct mmio){0};
    return size ? 0 : -EINVAL;
}

void mmio_unmap(struct mmio *m)
{
    *m = (struct mmio){0};
}
