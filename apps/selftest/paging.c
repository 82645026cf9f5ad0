// SPDX-License-Identifier: MIT
// The page table: attributes of every kind of memory, mapping, unmapping, and what is refused.
#include <errno.h>

#include "core/test.h"
#include "hal/machine.h"
#include "hal/mem.h"
#include "hal/mmio.h"
#include "hal/paging.h"
#include "selftest.h"

#define RW  (PAGING_READ | PAGING_WRITE)
#define MIB ((size_t)1 << 20)

// A virtual address far from everything that is mapped.
#define FREE_VIRT 0x2000000000ul

static int written = 1;
static const int constant = 1;

static void check_attr(const char *what, const volatile void *address, unsigned attr)
{
    struct paging_leaf leaf = {0};
    int error = paging_query((uintptr_t)address, &leaf);
    check(error == 0 && leaf.attr == attr, "%s at %p is %c%c%c", what, (const void *)address,
          leaf.attr & PAGING_READ ? 'r' : '-', leaf.attr & PAGING_WRITE ? 'w' : '-',
          leaf.attr & PAGING_EXEC ? 'x' : '-');
}

static void test_attributes(void)
{
    int local;
    check(paging_check() == 0, "the page table is sound");
    check_attr("text", (const void *)(uintptr_t)test_paging, PAGING_READ | PAGING_EXEC);
    check_attr("read-only data", &constant, PAGING_READ);
    check_attr("data", &written, RW);
    check_attr("the stack", &local, RW);
    check(paging_query(0, NULL) == -ENOENT, "page zero is not mapped");
    check(paging_query(machine()->ram[0].base.value, NULL) == -ENOENT, "the firmware's memory is not mapped");
    check(paging_query(machine()->uart.regs.base.value, NULL) == -ENOENT,
          "devices are not mapped one to one");
}

static void test_mapping(void)
{
    char *page = page_alloc(1);
    struct paging_leaf leaf;
    if (!check(page != NULL, "a page"))
        return;
    phys_addr_t phys = phys_addr((uintptr_t)page);
    page[0] = 42;
    check(paging_map(FREE_VIRT, phys, PAGE_SIZE, PAGING_READ) == 0, "a page is mapped a second time");
    check(*(volatile char *)FREE_VIRT == 42, "and reads the same");
    check(paging_map(FREE_VIRT, phys, PAGE_SIZE, RW) == -EEXIST, "not over an existing mapping");
    check(paging_unmap(FREE_VIRT, PAGE_SIZE) == 0 && paging_query(FREE_VIRT, NULL) == -ENOENT, "unmapped");
    check(paging_unmap(FREE_VIRT, PAGE_SIZE) == -ENOENT, "not unmapped twice");
    page_free(page, 1);

    struct mem_stats before, after;
    mem_get_stats(&before);
    check(paging_map(FREE_VIRT, phys_addr(0x40000000), 6 * MIB, RW) == 0, "6 MiB");
    check(paging_query(FREE_VIRT, &leaf) == 0 && leaf.size == 2 * MIB, "use pages of %zu KiB",
          leaf.size >> 10);
    check(paging_unmap(FREE_VIRT + MIB, 4 * MIB) == 0, "the middle 4 MiB are unmapped");
    check(paging_query(FREE_VIRT + MIB - PAGE_SIZE, &leaf) == 0 && leaf.phys.value == 0x400ff000,
          "what is left below is where it was");
    check(paging_query(FREE_VIRT + MIB, NULL) == -ENOENT && paging_query(FREE_VIRT + 5 * MIB, &leaf) == 0,
          "with pages of %zu KiB now", leaf.size >> 10);
    check(paging_check() == 0, "the page table is still sound");
    check(paging_unmap(FREE_VIRT, MIB) == 0 && paging_unmap(FREE_VIRT + 5 * MIB, MIB) == 0, "all unmapped");
    mem_get_stats(&after);
    check(before.pages_free == after.pages_free, "no page is lost to tables");
}

static void test_refusals(void)
{
    const phys_addr_t phys = phys_addr(0x40000000);
    check(paging_map(FREE_VIRT, phys, PAGE_SIZE, RW | PAGING_EXEC) == -EINVAL, "not writable and executable");
    check(paging_map(0, phys, PAGE_SIZE, RW) == -EINVAL, "not page zero");
    check(paging_map(FREE_VIRT + 1, phys, PAGE_SIZE, RW) == -EINVAL, "not off a page boundary");
    check(paging_map(1ul << 40, phys, PAGE_SIZE, RW) == -EINVAL, "not outside of 39 bits");
    check(paging_map(FREE_VIRT, phys, 0, RW) == -EINVAL, "not nothing");
}

static void test_mmio(void)
{
    const struct machine *m = machine();
    struct mmio uart = {0}, again = {0}, ecam = {0};
    struct paging_leaf leaf;
    check(mmio_map(&uart, phys_add(m->uart.regs.base, 1), 7) == 0, "device memory of 7 bytes off a boundary");
    check(mmio_map(&again, m->uart.regs.base, m->uart.regs.size) == 0 && again.base != uart.base,
          "and again, elsewhere");
    check_attr("device memory", uart.base, RW);
    check(mmio_read8(&uart, 4) == mmio_read8(&again, 5), "both show the same register");
    if (m->pci.present) {
        check(mmio_map(&ecam, m->pci.ecam, m->pci.ecam_size) == 0, "configuration space");
        check(paging_query((uintptr_t)ecam.base, &leaf) == 0 && leaf.size >= 2 * MIB, "in pages of %zu KiB",
              leaf.size >> 10);
    }
    const volatile uint8_t *gone = uart.base;
    mmio_unmap(&uart);
    mmio_unmap(&uart);
    mmio_unmap(&ecam);
    check(!uart.base && paging_query((uintptr_t)gone, NULL) == -ENOENT, "unmapped device memory is gone");
    check(mmio_map(&uart, m->uart.regs.base, 8) == 0 && mmio_read8(&uart, 5) != 0xff,
          "its place is used again");
    mmio_unmap(&uart);
    mmio_unmap(&again);
    check(mmio_map(&uart, phys_addr(0x1000), 0) == -EINVAL && !uart.base, "not 0 bytes");
    check(mmio_map(&uart, phys_addr(UINT64_MAX - 4), 16) == -EINVAL, "not past the end of the address space");
}

void test_paging(void)
{
    test_attributes();
    test_mapping();
    test_refusals();
    test_mmio();
}
