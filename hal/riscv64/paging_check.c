// SPDX-License-Identifier: MIT
// Looking at the page table as a whole: is it what it must be, and what is it.
#define LOG_MODULE "paging"
#include "boot.h"
#include "page_table.h"

#include <errno.h>

#include "core/log.h"

static const uintptr_t halves[][2] = {{0, SV39_LOW_END}, {SV39_HIGH_START, 0}};

// Calls fn with each leaf of the address space in order until it returns non-zero, which is returned.
static int for_each_leaf(int (*fn)(const struct paging_leaf *leaf, uint64_t raw, void *arg), void *arg)
{
    for (unsigned half = 0; half < 2; half++) {
        for (uintptr_t virt = halves[half][0], step; virt != halves[half][1]; virt += step) {
            struct paging_leaf leaf;
            uint64_t raw;
            step = paging_probe(virt, &leaf, &raw);
            int result = raw ? fn(&leaf, raw, arg) : 0;
            if (result)
                return result;
        }
    }
    return 0;
}

static int bad(const struct paging_leaf *leaf, uint64_t raw, const char *why)
{
    log_error("entry %#lx of %#lx: %s", raw, leaf->virt, why);
    return -EFAULT;
}

static int check_leaf(const struct paging_leaf *leaf, uint64_t raw, void *arg)
{
    (void)arg;
    if (!(raw & PTE_V))
        return bad(leaf, raw, "not valid, but not zero");
    if ((raw & PTE_W) && (raw & PTE_X))
        return bad(leaf, raw, "writable and executable");
    if (!(raw & PTE_R))
        return bad(leaf, raw, "a leaf that cannot be read");
    if (raw & PTE_U)
        return bad(leaf, raw, "open to user mode");
    if (raw & PTE_RESERVED)
        return bad(leaf, raw, "reserved bits set");
    if (leaf->phys.value % leaf->size)
        return bad(leaf, raw, "superpage not aligned");
    return 0;
}

// Every page of [start, end) has exactly the attributes `attr`, and RAM is at its physical address.
static int check_range(const char *what, const char *start, const char *end, unsigned attr)
{
    struct paging_leaf leaf;
    for (uintptr_t virt = (uintptr_t)start; virt < (uintptr_t)end; virt = leaf.virt + leaf.size) {
        if (paging_query(virt, &leaf) < 0 || leaf.attr != attr || leaf.phys.value != leaf.virt) {
            log_error("%s: %#lx is not mapped as it must be", what, virt);
            return -EFAULT;
        }
    }
    return 0;
}

static int check_absent(const char *what, uintptr_t virt)
{
    if (paging_query(virt, NULL) == -ENOENT)
        return 0;
    log_error("%s (%#lx) is mapped", what, virt);
    return -EFAULT;
}

int paging_check(void)
{
    const unsigned rw = PAGING_READ | PAGING_WRITE;
    bool broken = for_each_leaf(check_leaf, NULL) || check_absent("page zero", 0) ||
                  check_absent("the stack's guard page", (uintptr_t)stack_guard) ||
                  check_absent("the trap stack's guard page", (uintptr_t)trap_guard) ||
                  check_range("text", image_start, rodata_start, PAGING_READ | PAGING_EXEC) ||
                  check_range("read-only data", rodata_start, data_start, PAGING_READ) ||
                  check_range("data", data_start, trap_guard, rw) ||
                  check_range("trap stack", trap_stack_bottom, trap_stack_top, rw) ||
                  check_range("stack", stack_bottom, stack_top, rw);
    return broken ? -EFAULT : 0;
}

static void print_run(const struct paging_leaf *run)
{
    if (run->size)
        log_info("%#18lx .. %#18lx -> %#12lx %c%c%c", run->virt, run->virt + run->size - 1, run->phys.value,
                 run->attr & PAGING_READ ? 'r' : '-', run->attr & PAGING_WRITE ? 'w' : '-',
                 run->attr & PAGING_EXEC ? 'x' : '-');
}

static int extend_run(const struct paging_leaf *leaf, uint64_t raw, void *arg)
{
    (void)raw;
    struct paging_leaf *run = arg;
    if (leaf->attr == run->attr && leaf->virt == run->virt + run->size &&
        leaf->phys.value == run->phys.value + run->size) {
        run->size += leaf->size;
        return 0;
    }
    print_run(run);
    *run = *leaf;
    return 0;
}

void paging_dump(void)
{
    struct paging_leaf run = {.size = 0};
    for_each_leaf(extend_run, &run);
    print_run(&run);
}
