// SPDX-License-Identifier: MIT
// Looking at the page table as a whole: is it what it must be, and what is it.
#define LOG_MODULE "paging"
#include "boot.h"
#include "page_table.h"

#include <errno.h>

#include "core/log.h"

// What is wrong with an entry of the table that is not zero; NULL: nothing.
static const char *flaw_of(const struct paging_leaf *leaf, uint64_t raw)
{
    if (!(raw & PTE_V))
        return "not valid, but not zero";
    if ((raw & PTE_W) && (raw & PTE_X))
        return "writable and executable";
    if (!(raw & PTE_R))
        return "a leaf that cannot be read";
    if (raw & PTE_U)
        return "open to user mode";
    if (raw & PTE_RESERVED)
        return "reserved bits set";
    return leaf->phys.value % leaf->size ? "superpage not aligned" : NULL;
}

static void log_run(const struct paging_leaf *run)
{
    if (run->size)
        log_debug("%#18lx .. %#18lx -> %#12lx %c%c%c", run->virt, run->virt + run->size - 1, run->phys.value,
                  run->attr & PAGING_READ ? 'r' : '-', run->attr & PAGING_WRITE ? 'w' : '-',
                  run->attr & PAGING_EXEC ? 'x' : '-');
}

// Leaves that go on with one another are one line of the map.
static void add_to_run(struct paging_leaf *run, const struct paging_leaf *leaf)
{
    if (leaf->attr == run->attr && leaf->virt == run->virt + run->size &&
        leaf->phys.value == run->phys.value + run->size) {
        run->size += leaf->size;
        return;
    }
    log_run(run);
    *run = *leaf;
}

// Looks at every leaf of both halves of the address space, in order.
static bool all_leaves_sound(void)
{
    static const uintptr_t halves[][2] = {{0, SV39_LOW_END}, {SV39_HIGH_START, 0}};
    struct paging_leaf leaf, run = {.size = 0};
    for (unsigned half = 0; half < 2; half++) {
        for (uintptr_t virt = halves[half][0], step; virt != halves[half][1]; virt += step) {
            uint64_t raw;
            step = paging_probe(virt, &leaf, &raw);
            const char *flaw = raw ? flaw_of(&leaf, raw) : NULL;
            if (flaw) {
                log_error("entry %#lx of %#lx: %s", raw, leaf.virt, flaw);
                return false;
            }
            if (raw)
                add_to_run(&run, &leaf);
        }
    }
    log_run(&run);
    return true;
}

// Every page of [start, end) has exactly the attributes `attr`, and RAM is at its physical address.
static bool is_mapped(const char *what, const char *start, const char *end, unsigned attr)
{
    struct paging_leaf leaf;
    for (uintptr_t virt = (uintptr_t)start; virt < (uintptr_t)end; virt = leaf.virt + leaf.size) {
        if (paging_query(virt, &leaf) < 0 || leaf.attr != attr || leaf.phys.value != leaf.virt) {
            log_error("%s: %#lx is not mapped as it must be", what, virt);
            return false;
        }
    }
    return true;
}

static bool is_absent(const char *what, uintptr_t virt)
{
    bool absent = paging_query(virt, NULL) == -ENOENT;
    if (!absent)
        log_error("%s (%#lx) is mapped", what, virt);
    return absent;
}

int paging_check(void)
{
    const unsigned rw = PAGING_READ | PAGING_WRITE;
    bool sound = all_leaves_sound() && is_absent("page zero", 0) &&
                 is_absent("the stack's guard page", (uintptr_t)stack_guard) &&
                 is_absent("the trap stack's guard page", (uintptr_t)trap_guard) &&
                 is_mapped("text", image_start, rodata_start, PAGING_READ | PAGING_EXEC) &&
                 is_mapped("read-only data", rodata_start, data_start, PAGING_READ) &&
                 is_mapped("data", data_start, trap_guard, rw) &&
                 is_mapped("trap stack", trap_stack_bottom, trap_stack_top, rw) &&
                 is_mapped("stack", stack_bottom, stack_top, rw);
    return sound ? 0 : -EFAULT;
}
