// SPDX-License-Identifier: MIT
// Harts that have used a mapping see that it changed: their TLBs are flushed.
#include "core/test.h"
#include "hal/cpu.h"
#include "hal/mem.h"
#include "hal/paging.h"
#include "threads.h"

#define VIRT        0x1000000000ul // nothing else is there
#define MAX_READERS 16

static unsigned readers;
static bool remapped;

static int read_twice(void *arg)
{
    volatile int *page = arg;
    int first = *page;
    __atomic_fetch_add(&readers, 1, __ATOMIC_ACQ_REL);
    while (!__atomic_load_n(&remapped, __ATOMIC_ACQUIRE))
        cpu_relax();
    int second = *page;
    return 10 * first + second == 12;
}

static int map(const int *page)
{
    return paging_map(VIRT, phys_addr((uintptr_t)page), PAGE_SIZE, PAGING_READ);
}

static unsigned count_right(unsigned n)
{
    struct thread *threads[MAX_READERS];
    unsigned right = 0;
    for (unsigned i = 0; i < n; i++)
        threads[i] = start("reader", read_twice, (void *)VIRT);
    while (__atomic_load_n(&readers, __ATOMIC_ACQUIRE) < n)
        cpu_relax();
    int error = paging_unmap(VIRT, PAGE_SIZE);
    int *second = page_alloc(1);
    *second = 2;
    if (!error)
        error = map(second);
    __atomic_store_n(&remapped, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < n; i++)
        right += (unsigned)thread_join(threads[i]);
    return error ? 0 : right;
}

void test_remap(void)
{
    unsigned n = thread_processors() - 1;
    int *first = page_alloc(1);
    *first = 1;
    if (n > MAX_READERS)
        n = MAX_READERS;
    int error = map(first);
    unsigned right = error ? 0 : count_right(n);
    check(right == n, "%u other harts saw a page mapped anew", right);
}
