// SPDX-License-Identifier: MIT
#include "resource.h"
#include "bus/pci.h"
#include "core/errno.h"
#include "core/math.h"
#include "core/util.h"
#include <stdlib.h>
#include <string.h>

#define PCI_IO_SPACE UINT64_C(0x10000)

/* Room for one more range. */
static int pool_reserve(struct resource_pool *pool)
{
    size_t capacity = MAX(pool->capacity * 2, (size_t)8);
    struct resource_range *grown;

    if (pool->count < pool->capacity)
        return 0;
    grown = realloc(pool->free, capacity * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    pool->free = grown;
    pool->capacity = capacity;
    return 0;
}

static void pool_insert(struct resource_pool *pool, size_t at, uint64_t base, uint64_t size)
{
    memmove(&pool->free[at + 1], &pool->free[at], (pool->count - at) * sizeof(*pool->free));
    pool->free[at] = (struct resource_range){base, size};
    pool->count++;
}

static void pool_delete(struct resource_pool *pool, size_t at)
{
    pool->count--;
    memmove(&pool->free[at], &pool->free[at + 1], (pool->count - at) * sizeof(*pool->free));
}

int resource_pool_add(struct resource_pool *pool, uint64_t base, uint64_t size)
{
    size_t at = 0; /* first range above */
    uint64_t last;
    int error;

    if (size == 0 || add_overflows(base, size - 1, &last))
        return -EINVAL;
    while (at < pool->count && pool->free[at].base < base)
        at++;
    if (at > 0 && base - pool->free[at - 1].base < pool->free[at - 1].size)
        return -EEXIST;
    if (at < pool->count && pool->free[at].base <= last)
        return -EEXIST;
    error = pool_reserve(pool);
    if (error)
        return error;
    pool_insert(pool, at, base, size);
    if (at + 1 < pool->count && pool->free[at + 1].base - base == size) {
        pool->free[at].size += pool->free[at + 1].size;
        pool_delete(pool, at + 1);
    }
    if (at > 0 && base - pool->free[at - 1].base == pool->free[at - 1].size) {
        pool->free[at - 1].size += pool->free[at].size;
        pool_delete(pool, at);
    }
    return 0;
}

/* Cuts [base, base + size), which lies inside range `at`, out of it. There is room for one more range. */
static void pool_cut(struct resource_pool *pool, size_t at, uint64_t base, uint64_t size)
{
    struct resource_range whole = pool->free[at];
    uint64_t below = base - whole.base;
    uint64_t above = whole.size - below - size;

    pool_delete(pool, at);
    if (above > 0)
        pool_insert(pool, at, base + size, above);
    if (below > 0)
        pool_insert(pool, at, whole.base, below);
}

int resource_pool_take(struct resource_pool *pool, uint64_t size, uint64_t align, uint64_t *base)
{
    for (size_t i = 0; i < pool->count; i++) {
        struct resource_range range = pool->free[i];
        uint64_t start;
        int error;

        if (align_up_overflows(range.base, align, &start) ||
            !range_inside(start, size, range.base, range.size))
            continue;
        error = pool_reserve(pool);
        if (error)
            return error;
        pool_cut(pool, i, start, size);
        *base = start;
        return 0;
    }
    return -ENOSPC;
}

uint64_t resource_pool_largest(const struct resource_pool *pool)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < pool->count; i++)
        largest = MAX(largest, pool->free[i].size);
    return largest;
}

void resource_pool_destroy(struct resource_pool *pool)
{
    free(pool->free);
    *pool = (struct resource_pool){0};
}

/* Adds what of [base, base + size) lies in [from, from + room). */
static int add_clipped(struct resource_pool *pool, uint64_t base, uint64_t size, uint64_t from, uint64_t room)
{
    uint64_t first = MAX(base, from);
    uint64_t last = MIN(base + (size - 1), from + (room - 1));

    return first <= last ? resource_pool_add(pool, first, last - first + 1) : 0;
}

/* A page, because a bridge's I/O window cannot start lower anyway. */
#define PCI_FIRST_ADDRESS UINT64_C(0x1000)

static bool bad_window(uint64_t base, uint64_t size)
{
    uint64_t last;

    return size == 0 || add_overflows(base, size - 1, &last);
}

int pci_resources_add_memory(struct pci_resources *resources, uint64_t base, uint64_t size, int prefetchable)
{
    struct resource_pool *pools = resources->pools;
    int error;

    if (bad_window(base, size))
        return -EINVAL;
    error = add_clipped(&pools[prefetchable ? PCI_POOL_MEM32_PREFETCH : PCI_POOL_MEM32], base, size,
                        PCI_FIRST_ADDRESS, PCI_4GIB - PCI_FIRST_ADDRESS);
    if (error)
        return error;
    return add_clipped(&pools[prefetchable ? PCI_POOL_MEM64_PREFETCH : PCI_POOL_MEM64], base, size, PCI_4GIB,
                       UINT64_MAX - PCI_4GIB + 1);
}

int pci_resources_add_io(struct pci_resources *resources, uint64_t base, uint64_t size)
{
    if (bad_window(base, size))
        return -EINVAL;
    return add_clipped(&resources->pools[PCI_POOL_IO], base, size, PCI_FIRST_ADDRESS,
                       PCI_IO_SPACE - PCI_FIRST_ADDRESS);
}

void pci_resources_destroy(struct pci_resources *resources)
{
    for (unsigned i = 0; i < PCI_POOLS; i++)
        resource_pool_destroy(&resources->pools[i]);
}

/* The pools that may hold a request, the best first. */
struct candidates {
    unsigned count;
    enum pci_pool pools[4];
};

static const struct candidates *candidates_of(unsigned flags)
{
    static const struct candidates io = {1, {PCI_POOL_IO}};
    static const struct candidates mem32 = {1, {PCI_POOL_MEM32}};
    static const struct candidates mem32_prefetch = {2, {PCI_POOL_MEM32_PREFETCH, PCI_POOL_MEM32}};
    static const struct candidates mem64 = {2, {PCI_POOL_MEM64, PCI_POOL_MEM32}};
    static const struct candidates mem64_prefetch = {
        4, {PCI_POOL_MEM64_PREFETCH, PCI_POOL_MEM64, PCI_POOL_MEM32_PREFETCH, PCI_POOL_MEM32}};

    if (flags & PCI_BAR_IO)
        return &io;
    if (flags & PCI_BAR_64)
        return flags & PCI_BAR_PREFETCH ? &mem64_prefetch : &mem64;
    return flags & PCI_BAR_PREFETCH ? &mem32_prefetch : &mem32;
}

/* Does `a` get its address before `b`? */
static bool goes_first(const struct pci_request *a, const struct pci_request *b)
{
    unsigned choices_a = candidates_of(a->flags)->count;
    unsigned choices_b = candidates_of(b->flags)->count;

    if (choices_a != choices_b)
        return choices_a < choices_b;
    return a->align != b->align ? a->align > b->align : a->size > b->size;
}

/* Stable insertion sort: equals keep their order, so that addresses do not depend on a library's qsort. */
static void sort(struct pci_request *requests, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct pci_request request = requests[i];
        size_t at = i;

        for (; at > 0 && goes_first(&request, &requests[at - 1]); at--)
            requests[at] = requests[at - 1];
        requests[at] = request;
    }
}

static void assign_one(struct pci_resources *resources, struct pci_request *request)
{
    const struct candidates *candidates = candidates_of(request->flags);

    request->pool = candidates->pools[0];
    request->left = 0;
    for (unsigned i = 0; i < candidates->count; i++) {
        enum pci_pool kind = candidates->pools[i];
        struct resource_pool *pool = &resources->pools[kind];
        uint64_t left = resource_pool_largest(pool);

        request->error = resource_pool_take(pool, request->size, request->align, &request->base);
        if (request->error == 0 || left > request->left)
            request->pool = kind;
        if (request->error != -ENOSPC)
            return;
        request->left = MAX(request->left, left);
    }
}

size_t pci_resources_assign(struct pci_resources *resources, struct pci_request *requests, size_t count)
{
    size_t failed = 0;

    sort(requests, count);
    for (size_t i = 0; i < count; i++) {
        assign_one(resources, &requests[i]);
        failed += requests[i].error != 0;
    }
    return failed;
}

/* Lays the sorted requests out from address 0 on, as the assignment will from the window's base. */
static int lay_out(const struct pci_request *requests, size_t count, uint64_t *end, uint64_t *align)
{
    struct resource_pool pool = {0};
    int error = resource_pool_add(&pool, 0, UINT64_C(1) << 63);

    for (size_t i = 0; !error && i < count; i++) {
        uint64_t base = 0;

        error = resource_pool_take(&pool, requests[i].size, requests[i].align, &base);
        if (error)
            break;
        *end = MAX(*end, base + requests[i].size);
        *align = MAX(*align, requests[i].align);
    }
    resource_pool_destroy(&pool);
    return error == -ENOSPC ? -EOVERFLOW : error;
}

int pci_window_size(const struct pci_request *requests, size_t count, uint64_t grain, uint64_t *size,
                    uint64_t *align)
{
    struct pci_request *sorted;
    uint64_t end = 0;
    int error;

    *size = 0;
    *align = grain;
    if (count == 0)
        return 0;
    sorted = calloc(count, sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    memcpy(sorted, requests, count * sizeof(*sorted));
    sort(sorted, count);
    error = lay_out(sorted, count, &end, align);
    free(sorted);
    if (!error)
        *size = align_up(end, grain);
    return error;
}
