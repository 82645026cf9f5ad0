// SPDX-License-Identifier: MIT
// Work on all processors at the same time.
#include <stdio.h>

#include "core/test.h"
#include "hal/time.h"
#include "threads.h"

#define COUNT 100003

static unsigned char visits[COUNT];

static void visit(size_t begin, size_t end, void *arg)
{
    (void)arg;
    for (size_t i = begin; i < end; i++)
        visits[i]++;
}

static void test_cover(void)
{
    size_t once = 0;
    parallel_for(COUNT, visit, NULL);
    for (size_t i = 0; i < COUNT; i++)
        once += visits[i] == 1;
    parallel_for(0, visit, NULL);
    check(once == COUNT, "parallel_for visited %zu of %d once", once, COUNT);
}

static unsigned arrived, together;

// Each part holds its processor until all parts are there: one after the other they never would be.
static void meet(size_t begin, size_t end, void *arg)
{
    uint64_t deadline = deadline_in_ms(20000);
    (void)begin, (void)end, (void)arg;
    __atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < thread_processors())
        if (deadline_passed(deadline))
            return;
    __atomic_fetch_add(&together, 1, __ATOMIC_RELAXED);
}

static void test_at_the_same_time(void)
{
    parallel_for(thread_processors(), meet, NULL);
    check(together == thread_processors(), "%u processors worked at the same time", together);
}

static void print_lines(size_t begin, size_t end, void *arg)
{
    (void)begin, (void)end, (void)arg;
    for (int i = 0; i < 25; i++)
        printf("line %2d of one writer, which is whole\n", i);
}

void test_parallel(void)
{
    test_cover();
    test_at_the_same_time();
    parallel_for(thread_processors(), print_lines, NULL);
}
