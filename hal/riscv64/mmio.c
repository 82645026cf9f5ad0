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

// What is at offset `off`, where an access, or copy, of `size` bytes lies inside and is aligned to `align`.
static volatile void *checked(const struct mmio *m, size_t off, size_t size, size_t align)
{
    if (!m->base || !range_inside(off, size, 0, m->size) || !is_aligned(off | (uintptr_t)m->base, align))
        panic("mmio: %zu bytes at offset %#zx of %#lx, size %#zx", size, off, m->phys.value, m->size);
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
        uint##bits##_t value = *(volatile uint##bits##_t *)checked(m, off, bits / 8, bits / 8);              \
        after_read();                                                                                        \
        return value;                                                                                        \
    }                                                                                                        \
    void mmio_write##bits(const struct mmio *m, size_t off, uint##bits##_t value)                            \
    {                                                                                                        \
        volatile uint##bits##_t *reg = checked(m, off, bits / 8, bits / 8);                                  \
        before_write();                                                                                      \
        *reg = value;                                                                                        \
    }

DEFINE_ACCESSORS(8)
DEFINE_ACCESSORS(16)
DEFINE_ACCESSORS(32)
DEFINE_ACCESSORS(64)

// RAM-backed memory has no side effects: the plain memcpy() is as good as any sequence of accesses.
void mmio_copy_to(const struct mmio *m, size_t off, const void *src, size_t len)
{
    void *dst = (void *)(uintptr_t)checked(m, off, len, 1);
    before_write();
    memcpy(dst, src, len);
}

void mmio_copy_from(const struct mmio *m, size_t off, void *dst, size_t len)
{
    memcpy(dst, (const void *)(uintptr_t)checked(m, off, len, 1), len);
    after_read();
}
