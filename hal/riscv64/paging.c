// SPDX-License-Identifier: MIT
// Sv39 page tables: mapping, unmapping and looking up. Tables are pages of the page allocator and are reached
// at their physical address, as all of kernel RAM is.
#define LOG_MODULE "paging"
#include "boot.h"
#include "csr.h"
#include "page_table.h"

#include <errno.h>
#include <string.h>

#include "core/log.h"
#include "core/math.h"
#include "core/util.h"
#include "hal/panic.h"
#include "hal/spinlock.h"

typedef uint64_t pte_t;

static struct spinlock lock; // of the tables

static pte_t root[SV39_ENTRIES] __attribute__((aligned(4096)));

static bool is_table(pte_t pte)
{
    return (pte & PTE_V) && !(pte & PTE_LEAF);
}

static pte_t *table_of(pte_t pte)
{
    return (pte_t *)((pte >> PTE_PPN_SHIFT & PTE_PPN_MASK) << PAGE_SHIFT);
}

static pte_t make_pte(uint64_t phys, uint64_t bits)
{
    return phys >> PAGE_SHIFT << PTE_PPN_SHIFT | bits | PTE_V;
}

static unsigned index_of(uintptr_t virt, int level)
{
    return (unsigned)(virt >> (PAGE_SHIFT + SV39_LEVEL_BITS * level)) % SV39_ENTRIES;
}

// A and D are set from the start: the hardware may trap instead of setting them itself.
static uint64_t leaf_bits(unsigned attr)
{
    uint64_t bits = PTE_A | PTE_D | PTE_G;
    bits |= attr & PAGING_READ ? PTE_R : 0;
    bits |= attr & PAGING_WRITE ? PTE_W : 0;
    bits |= attr & PAGING_EXEC ? PTE_X : 0;
    return bits;
}

static unsigned attr_of(pte_t pte)
{
    return (pte & PTE_R ? PAGING_READ : 0) | (pte & PTE_W ? PAGING_WRITE : 0) |
           (pte & PTE_X ? PAGING_EXEC : 0);
}

static void flush(void)
{
    __asm__ volatile("sfence.vma" ::: "memory");
    flush_other_harts();
}

static pte_t *new_table(void)
{
    pte_t *table = page_alloc(1);
    return table ? memset(table, 0, PAGE_SIZE) : NULL;
}

size_t paging_probe(uintptr_t virt, struct paging_leaf *out, uint64_t *raw)
{
    const pte_t *table = root;
    int level = SV39_TOP_LEVEL;
    while (is_table(table[index_of(virt, level)]))
        table = table_of(table[index_of(virt, level--)]);
    pte_t pte = table[index_of(virt, level)];
    size_t span = SV39_SPAN(level);
    *out = (struct paging_leaf){.virt = align_down(virt, span),
                                .phys = phys_addr((uintptr_t)table_of(pte)),
                                .size = span,
                                .attr = pte & PTE_V ? attr_of(pte) : 0};
    *raw = pte;
    return span - (virt - out->virt);
}

// True when every page of [virt, virt + size) is mapped (or every one is not).
static bool all_mapped(uintptr_t virt, size_t size, bool mapped)
{
    struct paging_leaf leaf;
    uint64_t raw;
    for (size_t done = 0; done < size;) {
        size_t step = paging_probe(virt + done, &leaf, &raw);
        if ((leaf.attr != 0) != mapped)
            return false;
        done += step;
    }
    return true;
}

static bool range_valid(uintptr_t virt, size_t size)
{
    uintptr_t last;
    if (size == 0 || !is_aligned(virt | size, PAGE_SIZE) || add_overflows(virt, size - 1, &last))
        return false;
    return last < SV39_LOW_END ? virt >= PAGE_SIZE : virt >= SV39_HIGH_START;
}

static bool fits(uintptr_t virt, uint64_t phys, size_t size, int level)
{
    return size >= SV39_SPAN(level) && is_aligned(virt | phys, SV39_SPAN(level));
}

// The part of [virt, virt + size) that the entry of `virt` at `level` covers.
static size_t part_of(uintptr_t virt, size_t size, int level)
{
    size_t left = SV39_SPAN(level) - virt % SV39_SPAN(level);
    return size < left ? size : left;
}

// Maps a range that is not mapped. False when there is no page for a table; what was mapped stays.
static bool map_range(pte_t *table, int level, uintptr_t virt, uint64_t phys, size_t size, uint64_t bits)
{
    while (size) {
        size_t part = part_of(virt, size, level);
        pte_t *pte = &table[index_of(virt, level)];
        if (fits(virt, phys, part, level)) {
            *pte = make_pte(phys, bits);
        } else {
            pte_t *below = *pte & PTE_V ? table_of(*pte) : new_table();
            if (!below)
                return false;
            *pte = make_pte((uintptr_t)below, 0);
            if (!map_range(below, level - 1, virt, phys, part, bits))
                return false;
        }
        virt += part;
        phys += part;
        size -= part;
    }
    return true;
}

static bool table_empty(const pte_t *table)
{
    for (unsigned i = 0; i < SV39_ENTRIES; i++)
        if (table[i])
            return false;
    return true;
}

// Makes a leaf of `level` a table of the same mapping, one level down.
static bool split(pte_t *pte, int level)
{
    pte_t *below = page_alloc(1);
    if (!below)
        return false;
    uint64_t phys = (uintptr_t)table_of(*pte);
    for (unsigned i = 0; i < SV39_ENTRIES; i++)
        below[i] = make_pte(phys + i * SV39_SPAN(level - 1), *pte & 0x3ff);
    *pte = make_pte((uintptr_t)below, 0);
    return true;
}

// Splits the leaf that `edge` lies inside of, if any, so that a leaf starts at `edge`.
static bool split_at(uintptr_t edge)
{
    pte_t *table = root;
    for (int level = SV39_TOP_LEVEL; level > 0 && !is_aligned(edge, SV39_SPAN(level)); level--) {
        pte_t *pte = &table[index_of(edge, level)];
        if (!(*pte & PTE_V))
            return true;
        if (!is_table(*pte) && !split(pte, level))
            return false;
        table = table_of(*pte);
    }
    return true;
}

// Clears whatever is mapped in the range and frees tables that become empty. No leaf crosses its ends.
static void unmap_range(pte_t *table, int level, uintptr_t virt, size_t size)
{
    while (size) {
        size_t part = part_of(virt, size, level);
        pte_t *pte = &table[index_of(virt, level)];
        if (is_table(*pte)) {
            pte_t *below = table_of(*pte);
            unmap_range(below, level - 1, virt, part);
            if (table_empty(below)) {
                *pte = 0;
                page_free(below, 1);
            }
        } else {
            *pte = 0;
        }
        virt += part;
        size -= part;
    }
}

static int map_free_range(uintptr_t virt, uint64_t phys, size_t size, uint64_t bits)
{
    if (!all_mapped(virt, size, false))
        return -EEXIST;
    bool mapped = map_range(root, SV39_TOP_LEVEL, virt, phys, size, bits);
    if (!mapped)
        unmap_range(root, SV39_TOP_LEVEL, virt, size);
    flush();
    return mapped ? 0 : -ENOMEM;
}

static int unmap_mapped_range(uintptr_t virt, size_t size)
{
    if (!all_mapped(virt, size, true))
        return -ENOENT;
    if (!split_at(virt) || !split_at(virt + size))
        return -ENOMEM;
    unmap_range(root, SV39_TOP_LEVEL, virt, size);
    flush();
    return 0;
}

int paging_map(uintptr_t virt, phys_addr_t phys, size_t size, unsigned attr)
{
    uint64_t last;
    bool writable_code = (attr & PAGING_WRITE) && (attr & PAGING_EXEC);
    if (!range_valid(virt, size) || !is_aligned(phys.value, PAGE_SIZE) || !(attr & PAGING_READ) ||
        writable_code || add_overflows(phys.value, size - 1, &last) || last >> PAGE_SHIFT > PTE_PPN_MASK)
        return -EINVAL;
    spin_lock(&lock);
    int error = map_free_range(virt, phys.value, size, leaf_bits(attr));
    spin_unlock(&lock);
    return error;
}

int paging_unmap(uintptr_t virt, size_t size)
{
    if (!range_valid(virt, size))
        return -EINVAL;
    spin_lock(&lock);
    int error = unmap_mapped_range(virt, size);
    spin_unlock(&lock);
    return error;
}

int paging_query(uintptr_t virt, struct paging_leaf *out)
{
    struct paging_leaf leaf;
    uint64_t raw;
    if (virt >= SV39_LOW_END && virt < SV39_HIGH_START)
        return -ENOENT;
    paging_probe(virt, &leaf, &raw);
    if (!leaf.attr)
        return -ENOENT;
    if (out)
        *out = leaf;
    return 0;
}

void paging_add(uintptr_t virt, uint64_t phys, size_t size, unsigned attr)
{
    if (!map_range(root, SV39_TOP_LEVEL, virt, phys, size, leaf_bits(attr)))
        panic("no memory for the page tables of [%#lx, %#lx)", virt, virt + size);
}

void paging_add_image(void)
{
    const unsigned rw = PAGING_READ | PAGING_WRITE;
    const struct {
        const char *start, *end;
        unsigned attr;
    } parts[] = {{image_start, rodata_start, PAGING_READ | PAGING_EXEC},
                 {rodata_start, data_start, PAGING_READ},
                 {data_start, trap_guard, rw},
                 {trap_stack_bottom, trap_stack_top, rw},
                 {stack_bottom, stack_top, rw}};
    for (unsigned i = 0; i < ARRAY_SIZE(parts); i++) {
        uintptr_t at = (uintptr_t)parts[i].start;
        paging_add(at, at, (size_t)(parts[i].end - parts[i].start), parts[i].attr);
    }
}

void paging_enable(void)
{
    flush();
    csr_write(CSR_SATP, SATP_SV39 | (uintptr_t)root >> PAGE_SHIFT);
    flush();
}
