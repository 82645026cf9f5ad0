// SPDX-License-Identifier: MIT
// Device memory: a virtual range of its own, handed out first fit.
#include "boot.h"
#include "csr.h"
#include "page_table.h"

#include <errno.h>
#include <stdlib.h>

#include "core/math.h"
#include "hal/panic.h"
#include "hal/spinlock.h"

// A piece of the range in use; the list is in address order. A page stays free behind each piece, so that
// running over its end traps.
struct mapping {
    struct mapping *next;
    uintptr_t virt;
    size_t size;
};

static struct mapping *mappings;

static struct spinlock lock; // of the list

// Virtual and physical address agree below the largest page that may fit, so that it is used.
static uint64_t alignment_for(size_t size)
{
    int level = SV39_TOP_LEVEL;
    while (level > 0 && size < SV39_SPAN(level))
        level--;
    return SV39_SPAN(level);
}

// The first address from `at` on that is `phys` modulo `align`.
static uintptr_t congruent(uintptr_t at, uint64_t phys, uint64_t align)
{
    return at + ((phys - at) & (align - 1));
}

// The link after which `size` bytes are free, and in *virt where. NULL when there is no such place.
static struct mapping **find_gap(uint64_t phys, size_t size, uintptr_t *virt)
{
    uint64_t align = alignment_for(size);
    uintptr_t at = MMIO_START;
    for (struct mapping **link = &mappings;; link = &(*link)->next) {
        uintptr_t limit = *link ? (*link)->virt : MMIO_END;
        *virt = congruent(at, phys, align);
        if (range_inside(*virt, size + PAGE_SIZE, at, limit - at))
            return link;
        if (!*link)
            return NULL;
        at = (*link)->virt + (*link)->size + PAGE_SIZE;
    }
}

// Finds room for `mapping`, maps it to `phys` and puts it into the list.
static int place(struct mapping *mapping, uint64_t phys)
{
    struct mapping **link = find_gap(phys, mapping->size, &mapping->virt);
    int error = link ? paging_map(mapping->virt, phys_addr(phys), mapping->size, PAGING_READ | PAGING_WRITE)
                     : -ENOMEM;
    if (!error) {
        mapping->next = *link;
        *link = mapping;
    }
    return error;
}

int mmio_map(struct mmio *out, phys_addr_t phys, size_t size)
{
    uint64_t end;
    *out = (struct mmio){0};
    if (size == 0 || add_overflows(phys.value, size, &end) || align_up_overflows(end, PAGE_SIZE, &end))
        return -EINVAL;
    uint64_t start = align_down(phys.value, PAGE_SIZE);
    if (end - start > MMIO_END - MMIO_START)
        return -ENOMEM;
    struct mapping *mapping = malloc(sizeof(*mapping));
    if (!mapping)
        return -ENOMEM;
    mapping->size = end - start;
    spin_lock(&lock);
    int error = place(mapping, start);
    spin_unlock(&lock);
    if (error) {
        free(mapping);
        return error;
    }
    uintptr_t virt = mapping->virt;
    *out =
        (struct mmio){.base = (volatile uint8_t *)(virt + (phys.value - start)), .phys = phys, .size = size};
    return 0;
}

void mmio_unmap(struct mmio *m)
{
    if (!m->base)
        return;
    uintptr_t virt = align_down((uintptr_t)m->base, PAGE_SIZE);
    spin_lock(&lock);
    struct mapping **link = &mappings;
    while (*link && (*link)->virt != virt)
        link = &(*link)->next;
    struct mapping *mapping = *link;
    int error = mapping ? paging_unmap(mapping->virt, mapping->size) : -ENOENT;
    if (error)
        panic("mmio_unmap: %p is not a mapping of device memory (error %d)", (const void *)virt, error);
    *link = mapping->next;
    spin_unlock(&lock);
    free(mapping);
    *m = (struct mmio){0};
}

struct mmio mmio_at_boot(uintptr_t page, const struct machine_range *regs)
{
    struct mmio m = mmio_physical(regs->base, regs->size);
    if (csr_read(CSR_SATP))
        m.base = (volatile uint8_t *)(page + regs->base.value % PAGE_SIZE);
    return m;
}
