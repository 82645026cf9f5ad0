// SPDX-License-Identifier: MIT
// The device's view of kernel memory. DMA on the machines we drive is cache-coherent, so there is nothing to
// flush; ordering is the doorbell write's (see mmio.h).
#ifndef HAL_DMA_H
#define HAL_DMA_H

#include "hal/types.h"

// The address a bus-mastering device uses for the kernel pointer `p` (heap, page allocator, data, stack).
// Kernel RAM is contiguous in both views: bytes after p are at the same distance for the device.
// Panics when `p` is not kernel RAM; ask dma_able() first for a pointer of unknown origin.
phys_addr_t dma_address(const void *p);

// True when all `len` bytes at `p` are kernel RAM that a device can reach by dma_address(). len 0 asks for p.
bool dma_able(const void *p, size_t len);

#endif
