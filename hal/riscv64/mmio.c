// SPDX-License-Identifier: MIT
// Accessors of device memory: checked, and ordered before and after what they cause.
#include "boot.h"

#include <string.h>

#include "core/math.h"
#include "hal/panic.h"

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
