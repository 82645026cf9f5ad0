// SPDX-License-Identifier: MIT
// Device memory: a virtual range of its own, handed out first fit, and the accessors.
#include "boot.h"
#include "page_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/math.h"
#include "core/util.h"
#include "hal/panic.h"
#include "hal/spinlock.h"

#define MMIO_START SV39_HIGH_START
#define MMIO_END   (SV39_HIGH_START + (1ul << 37))

// A piece of the range in use; the list is in address order. A page stays free behind each piece, so that
// running over its end traps.
struct mapping {
    struct mapping *next;
    uintptr_t virt;
    size_t size;
};

static struct mapping *mappings;

// The console's and the test device's, which stay: booting so need not wait for the heap's first use.
static struct mapping boot_mappings[2];
static unsigned boot_mappings_used;

static struct mapping *new_mapping(void)
{
    if (boot_mappings_used < ARRAY_SIZE(boot_mappings))
        return &boot_mappings[boot_mappings_used++];
    return malloc(sizeof(struct mapping));
}

static void free_mapping(struct mapping *mapping)
{
    if (mapping < boot_mappings || mapping >= boot_mappings + ARRAY_SIZE(boot_mappings))
        free(mapping);
}

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
    struct mapping *mapping = new_mapping();
    if (!mapping)
        return -ENOMEM;
    mapping->size = end - start;
    spin_lock(&lock);
    int error = place(mapping, start);
    spin_unlock(&lock);
    if (error) {
        free_mapping(mapping);
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
    free_mapping(mapping);
    *m = (struct mmio){0};
}

struct mmio mmio_physical(phys_addr_t phys, size_t size)
{
    return (struct mmio){.base = (volatile uint8_t *)phys.value, .phys = phys, .size = size};
}

static volatile void *checked(const struct mmio *m, size_t off, size_t width)
{
    if (!m->base || !range_inside(off, width, 0, m->size) || !is_aligned(off | (uintptr_t)m->base, width))
        panic("mmio: %zu bytes at offset %#zx of %#lx, size %#zx", width, off, m->phys.value, m->size);
    return m->base + off;
}

static void before_write(void)
{
    __asm__ volatile("fence iorw, o" ::: "memory");
}

static void after_read(void)
{
    __asm__ volatile("fence i, iorw" ::: "memory");
}

#define DEFINE_ACCESSORS(bits)                                                                               \
    uint##bits##_t mmio_read##bits(const struct mmio *m, size_t off)                                         \
    {                                                                                                        \
        uint##bits##_t value = *(volatile uint##bits##_t *)checked(m, off, bits / 8);                        \
        after_read();                                                                                        \
        return value;                                                                                        \
    }                                                                                                        \
    void mmio_write##bits(const struct mmio *m, size_t off, uint##bits##_t value)                            \
    {                                                                                                        \
        volatile uint##bits##_t *reg = checked(m, off, bits / 8);                                            \
        before_write();                                                                                      \
        *reg = value;                                                                                        \
    }

DEFINE_ACCESSORS(8)
DEFINE_ACCESSORS(16)
DEFINE_ACCESSORS(32)
DEFINE_ACCESSORS(64)

// RAM-backed memory has no side effects: the plain memcpy() is as good as any sequence of accesses.
static char *checked_bulk(const struct mmio *m, size_t off, size_t len)
{
    if (!m->base || !range_inside(off, len, 0, m->size))
        panic("mmio: copy of %zu bytes at offset %#zx of %#lx, size %#zx", len, off, m->phys.value, m->size);
    return (char *)(uintptr_t)m->base + off;
}

void mmio_copy_to(const struct mmio *m, size_t off, const void *src, size_t len)
{
    char *dst = checked_bulk(m, off, len);
    before_write();
    memcpy(dst, src, len);
}

void mmio_copy_from(const struct mmio *m, size_t off, void *dst, size_t len)
{
    const char *src = checked_bulk(m, off, len);
    memcpy(dst, src, len);
    after_read();
}
