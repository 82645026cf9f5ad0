// SPDX-License-Identifier: MIT
// Address types. A physical address is what a device, a BAR or a page-table entry holds; it is a type of its
// own so that it can never be dereferenced or mixed up with a pointer by accident.
#ifndef HAL_TYPES_H
#define HAL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t value;
} phys_addr_t;

// The physical address `value` (bytes).
static inline phys_addr_t phys_addr(uint64_t value)
{
    return (phys_addr_t){.value = value};
}

// `base` plus `offset` bytes. The caller knows that the sum does not wrap.
static inline phys_addr_t phys_add(phys_addr_t base, uint64_t offset)
{
    return (phys_addr_t){.value = base.value + offset};
}

#endif
