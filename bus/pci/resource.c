// SPDX-License-Identifier: MIT
#include "resource.h"
#include "core/math.h"
#include "core/util.h"

/* A page, because a bridge's I/O window cannot start lower anyway. */
#define FIRST_ADDRESS UINT64_C(0x1000)
#define LOW_MEMORY    FIRST_ADDRESS, PCI_4GIB - FIRST_ADDRESS
#define HIGH_MEMORY   PCI_4GIB, UINT64_MAX - PCI_4GIB
#define PORTS         FIRST_ADDRESS, 0x10000 - FIRST_ADDRESS

static unsigned window_flags(const struct pci_window *window)
{
    if (window->type == PCI_WINDOW_IO)
        return PCI_BAR_IO;
    return window->prefetchable ? PCI_BAR_PREFETCH : 0;
}

size_t pci_host_spaces(const struct pci_host *host, struct pci_space spaces[PCI_HOST_SPACES])
{
    static const struct pci_space limits[] = {
        {HIGH_MEMORY, PCI_BAR_64 | PCI_BAR_PREFETCH, 0},
        {HIGH_MEMORY, PCI_BAR_64, 0},
        {LOW_MEMORY, PCI_BAR_PREFETCH, 0},
        {LOW_MEMORY, 0, 0},
        {PORTS, PCI_BAR_IO, 0},
    };
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
        for (unsigned w = 0; w < host->nwindows; w++) {
            const struct pci_window *window = &host->windows[w];
            uint64_t base = MAX(window->pci, limits[i].base);
            uint64_t end;

            if (add_overflows(window->pci, window->size, &end))
                end = UINT64_MAX;
            end = MIN(end, limits[i].base + limits[i].size);
            if (window_flags(window) == (limits[i].flags & ~PCI_BAR_64) && base < end)
                spaces[count++] =
                    (struct pci_space){base, end - base, limits[i].flags, window->cpu - window->pci};
        }
    return count;
}

/* Does `a` get its address before `b`? Each flag but PCI_BAR_IO doubles the kinds of space to choose from. */
static bool goes_first(const struct pci_bar *a, const struct pci_bar *b)
{
    int choice_a = __builtin_popcount(a->flags & (PCI_BAR_64 | PCI_BAR_PREFETCH));
    int choice_b = __builtin_popcount(b->flags & (PCI_BAR_64 | PCI_BAR_PREFETCH));

    if (choice_a != choice_b)
        return choice_a < choice_b;
    return a->align != b->align ? a->align > b->align : a->size > b->size;
}

void pci_queue(struct pci_bar **list, struct pci_bar *bar)
{
    while (*list && !goes_first(bar, *list))
        list = &(*list)->next;
    bar->next = *list;
    *list = bar;
}

static bool suits(const struct pci_space *space, const struct pci_bar *bar)
{
    return ((space->flags ^ bar->flags) & PCI_BAR_IO) == 0 && (space->flags & ~bar->flags) == 0;
}

/* The lowest of the BARs before `bar` in the list that end above `at`; NULL when there is none. */
static const struct pci_bar *next_taken(const struct pci_bar *list, const struct pci_bar *bar, uint64_t at)
{
    const struct pci_bar *next = NULL;

    for (const struct pci_bar *other = list; other != bar; other = other->next)
        if (other->space && ((other->flags ^ bar->flags) & PCI_BAR_IO) == 0 &&
            other->address + other->size > at && (!next || other->address < next->address))
            next = other;
    return next;
}

/* First fit: looks at each free range of the space. */
static void place(const struct pci_bar *list, struct pci_bar *bar, const struct pci_space *space)
{
    uint64_t end = space->base + space->size;

    for (uint64_t at = space->base; at < end && !bar->space;) {
        const struct pci_bar *taken = next_taken(list, bar, at);
        uint64_t room = MAX(taken ? MIN(taken->address, end) : end, at) - at;
        uint64_t address;

        if (!align_up_overflows(at, bar->align, &address) && range_inside(address, bar->size, at, room)) {
            bar->address = address;
            bar->space = space;
        }
        bar->left = MAX(bar->left, room);
        at = taken ? taken->address + taken->size : end;
    }
}

void pci_place(struct pci_bar *list, const struct pci_space *spaces, size_t count)
{
    for (struct pci_bar *bar = list; bar; bar = bar->next) {
        bar->space = NULL;
        bar->left = 0;
        for (size_t i = 0; i < count && !bar->space; i++)
            if (suits(&spaces[i], bar))
                place(list, bar, &spaces[i]);
    }
}
