// SPDX-License-Identifier: MIT
// Sv39 page tables: mapping, unmapping and looking up. Tables are pages of the page allocator and are reached
// at their physical address, as all of kernel RAM is.
#define LOG_MODULE "paging"
#include "boot.h"
#include "csr.h"
#include "page_table.h"

#include <errno.h>

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

_Static_assert(PTE_R == PAGING_READ << 1 && PTE_W == PAGING_WRITE << 1 && PTE_X == PAGING_EXEC << 1,
               "an entry has the attributes one bit further up");

// A and D are set from the start: the hardware may trap instead of setting them itself.
static uint64_t leaf_bits(unsigned attr)
{
    return PTE_A | PTE_D | PTE_G | (attr << 1 & PTE_LEAF);
}

static void flush(void)
{
    __asm__ volatile("sfence.vma" ::: "memory");
    flush_other_harts();
}

// A table of first, first + step, … NULL when there is no page for it.
static pte_t *new_table(pte_t first, pte_t step)
{
    pte_t *table = page_alloc(1);
    for (unsigned i = 0; table && i < SV39_ENTRIES; i++)
        table[i] = first + i * step;
    return table;
}

// The entry for `virt` at *level, or the one further up that decides about it; *level becomes that one's.
static pte_t *find(uintptr_t virt, int *level)
{
    pte_t *table = root;
    int at = SV39_TOP_LEVEL;
    for (; at > *level && is_table(table[index_of(virt, at)]); at--)
        table = table_of(table[index_of(virt, at)]);
    *level = at;
    return &table[index_of(virt, at)];
}

size_t paging_probe(uintptr_t virt, struct paging_leaf *out, uint64_t *raw)
{
    int level = 0;
    pte_t pte = *find(virt, &level);
    size_t span = SV39_SPAN(level);
    *out = (struct paging_leaf){.virt = align_down(virt, span),
                                .phys = phys_addr((uintptr_t)table_of(pte)),
                                .size = span,
                                .attr = pte & PTE_V ? (pte & PTE_LEAF) >> 1 : 0};
    *raw = pte;
    return span - (virt - out->virt);
}

// True when every page of [virt, virt + size) is mapped (or every one is not).
static bool all_mapped(uintptr_t virt, size_t size, bool mapped)
{
    struct paging_leaf leaf;
    uint64_t raw;
    for (size_t done = 0, step; done < size; done += step) {
        step = paging_probe(virt + done, &leaf, &raw);
        if ((leaf.attr != 0) != mapped)
            return false;
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

// Maps a range that is not mapped. False when there is no page for a table; what was mapped stays.
static bool map_range(uintptr_t virt, uint64_t phys, size_t size, uint64_t bits)
{
    for (size_t span; size; virt += span, phys += span, size -= span) {
        pte_t *table = root;
        unsigned shift = PAGE_SHIFT + SV39_TOP_LEVEL * SV39_LEVEL_BITS;
        while (span = 1ul << shift, size < span || !is_aligned(virt | phys, span)) {
            pte_t *pte = &table[virt >> shift & (SV39_ENTRIES - 1)];
            if (!*pte) {
                table = new_table(0, 0);
                if (!table)
                    return false;
                *pte = make_pte((uintptr_t)table, 0);
            }
            table = table_of(*pte);
            shift -= SV39_LEVEL_BITS;
        }
        table[virt >> shift & (SV39_ENTRIES - 1)] = make_pte(phys, bits);
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

// Splits leaves that `edge` lies inside of, if any, so that one starts at `edge`.
static bool split_at(uintptr_t edge)
{
    for (;;) {
        int level = 0;
        pte_t *pte = find(edge, &level);
        if (!(*pte & PTE_V) || is_aligned(edge, SV39_SPAN(level)))
            return true;
        uint64_t span = SV39_SPAN(level - 1);
        pte_t *below = new_table(*pte, span >> PAGE_SHIFT << PTE_PPN_SHIFT);
        if (!below)
            return false;
        *pte = make_pte((uintptr_t)below, 0);
    }
}

// Clears the entry that decides about `virt`, and frees tables that become empty. Returns what it covered.
static size_t clear(uintptr_t virt)
{
    int level = 0;
    pte_t *pte = find(virt, &level);
    size_t span = SV39_SPAN(level);
    *pte = 0;
    for (pte_t *table; level < SV39_TOP_LEVEL; page_free(table, 1)) {
        table = (pte_t *)align_down((uintptr_t)pte, PAGE_SIZE);
        if (!table_empty(table))
            break;
        level++;
        pte = find(virt, &level);
        *pte = 0;
    }
    return span;
}

// Clears whatever is mapped in the range. No leaf crosses its ends.
static void unmap_range(uintptr_t virt, size_t size)
{
    for (size_t done = 0; done < size;)
        done += clear(virt + done);
}

int paging_map(uintptr_t virt, phys_addr_t phys, size_t size, unsigned attr)
{
    uint64_t last;
    bool writable_code = (attr & PAGING_WRITE) && (attr & PAGING_EXEC);
    if (!range_valid(virt, size) || !is_aligned(phys.value, PAGE_SIZE) || !(attr & PAGING_READ) ||
        writable_code || add_overflows(phys.value, size - 1, &last) || last >> PAGE_SHIFT > PTE_PPN_MASK)
        return -EINVAL;
    int error = 0;
    spin_lock(&lock);
    if (!all_mapped(virt, size, false)) {
        error = -EEXIST;
    } else if (!map_range(virt, phys.value, size, leaf_bits(attr))) {
        unmap_range(virt, size);
        error = -ENOMEM;
    }
    flush();
    spin_unlock(&lock);
    return error;
}

int paging_unmap(uintptr_t virt, size_t size)
{
    if (!range_valid(virt, size))
        return -EINVAL;
    int error = 0;
    spin_lock(&lock);
    if (!all_mapped(virt, size, true))
        error = -ENOENT;
    else if (!split_at(virt) || !split_at(virt + size))
        error = -ENOMEM;
    else
        unmap_range(virt, size);
    flush();
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
    if (out && leaf.attr)
        *out = leaf;
    return leaf.attr ? 0 : -ENOENT;
}

// Not inlined: what runs but once is to be little code.
__attribute__((noinline)) void paging_add(uintptr_t virt, uint64_t phys, size_t size, unsigned attr)
{
    uint64_t start = align_down(phys, PAGE_SIZE), end = align_up(phys + size, PAGE_SIZE);
    if (!map_range(align_down(virt, PAGE_SIZE), start, end - start, leaf_bits(attr)))
        panic("no memory for the page tables of [%#lx, %#lx)", virt, virt + size);
}

static const struct {
    const char *start, *end;
    unsigned attr;
} parts[] = {
    {image_start, rodata_start, PAGING_READ | PAGING_EXEC},
    {rodata_start, data_start, PAGING_READ},
    {data_start, trap_guard, PAGING_READ | PAGING_WRITE},
    {trap_stack_bottom, trap_stack_top, PAGING_READ | PAGING_WRITE},
    {stack_bottom, stack_top, PAGING_READ | PAGING_WRITE},
};

void paging_enable(void)
{
    const struct machine *m = &boot_machine;
    for (unsigned i = 0; i < ARRAY_SIZE(parts); i++) {
        uintptr_t at = (uintptr_t)parts[i].start;
        paging_add(at, at, (size_t)(parts[i].end - parts[i].start), parts[i].attr);
    }
    const struct machine_range *tree = &m->reserved[0];
    paging_add(tree->base.value, tree->base.value, tree->size, PAGING_READ);
    // Whatever sizes the tree says: their registers lie in the first page, or that and the next.
    paging_add(CONSOLE_PAGE, m->uart.regs.base.value, PAGE_SIZE, PAGING_READ | PAGING_WRITE);
    paging_add(TEST_DEVICE_PAGE, m->test_device.base.value, sizeof(uint32_t), PAGING_READ | PAGING_WRITE);
    __asm__ volatile("sfence.vma" ::: "memory"); // orders the stores to the table; satp itself needs no other
    csr_write(CSR_SATP, SATP_SV39 | (uintptr_t)root >> PAGE_SHIFT);
}
