// SPDX-License-Identifier: MIT
// Device memory: mapping on request and typed, bounds-checked accesses.
//
// Nothing of a device is mapped until its driver asks. Each mapping lives in a virtual range of its own,
// readable and writable, never executable; a stray pointer into an unmapped device traps.
#ifndef HAL_MMIO_H
#define HAL_MMIO_H

#include "hal/types.h"

// One mapped piece of device memory. Owned by whoever called mmio_map(); give it back with mmio_unmap().
struct mmio {
    volatile uint8_t *base; // virtual address of the first byte; NULL when unmapped
    phys_addr_t phys;       // physical address of the first byte
    size_t size;            // bytes
};

// Maps `size` bytes of device memory at `phys` and fills `*out`. `phys` and `size` need no alignment.
// Returns 0, -EINVAL (size 0 or address range wraps), -ENOMEM (no page-table page or virtual range left).
// On error `*out` is all zero.
int mmio_map(struct mmio *out, phys_addr_t phys, size_t size);

// Unmaps and clears `*m`. A cleared or never mapped `*m` is left alone.
void mmio_unmap(struct mmio *m);

// Reads and writes of 8, 16, 32 and 64 bits at byte offset `off`. Ordered against all earlier and later
// memory and device accesses (RISC-V Unprivileged ISA, "FENCE": a write is preceded by fence iorw,o and a
// read followed by fence i,iorw), so a doorbell written after a buffer is seen after it. Panics when the
// access does not lie inside the mapping or is not naturally aligned: that is a driver bug.
uint8_t mmio_read8(const struct mmio *m, size_t off);
uint16_t mmio_read16(const struct mmio *m, size_t off);
uint32_t mmio_read32(const struct mmio *m, size_t off);
uint64_t mmio_read64(const struct mmio *m, size_t off);
void mmio_write8(const struct mmio *m, size_t off, uint8_t value);
void mmio_write16(const struct mmio *m, size_t off, uint16_t value);
void mmio_write32(const struct mmio *m, size_t off, uint32_t value);
void mmio_write64(const struct mmio *m, size_t off, uint64_t value);

// Bulk copies of `len` bytes between memory and a RAM-backed BAR (no side effects, any access width). Ordered
// like one access. Panic when off + len lies outside the mapping.
void mmio_copy_to(const struct mmio *m, size_t off, const void *src, size_t len);
void mmio_copy_from(const struct mmio *m, size_t off, void *dst, size_t len);

#endif
