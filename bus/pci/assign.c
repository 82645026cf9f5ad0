// SPDX-License-Identifier: MIT
/*
 * Addresses for everything behind a host bridge. First the bridges' windows are sized from the leaves up,
 * then addresses are given from the root down: a bridge's window is one more request on the bus the bridge is
 * on, and what it gets is all that the bus behind it has.
 */
#define LOG_MODULE "bus"
#include "internal.h"
#include "core/errno.h"
#include "core/format.h"
#include "core/log.h"
#include "core/math.h"
#include <stdlib.h>

/* `index` of a request: a BAR's number, or that of a window of the bridge that owns the request. */
#define WINDOW_INDEX(kind) (PCI_BARS + (unsigned)(kind))

/* At most this many requests come from one device. */
#define REQUESTS_PER_DEVICE (PCI_BARS + BRIDGE_WINDOWS)

static const char *const request_names[REQUESTS_PER_DEVICE] = {
    "BAR0", "BAR1", "BAR2", "BAR3", "BAR4", "BAR5", "I/O window", "memory window", "prefetchable window"};

/* The devices of one bus, out of all of them: the first for NULL, then the one after `previous`. */
static struct pci_device *next_on_bus(const struct pci_bus *bus, const struct pci_device *previous)
{
    struct list_node *head = &bus->root->devices;

    for (struct list_node *node = previous ? previous->node.next : head->next; node != head;
         node = node->next) {
        struct pci_device *pdev = list_entry(node, struct pci_device, node);

        if (pdev->bus == bus)
            return pdev;
    }
    return NULL;
}

#define for_each_on_bus(pdev, bus)                                                                           \
    for (struct pci_device *pdev = next_on_bus(bus, NULL); pdev; pdev = next_on_bus(bus, pdev))

static size_t add_bars(struct pci_device *pdev, struct pci_request *requests)
{
    size_t count = 0;

    for (unsigned i = 0; i < PCI_BARS; i++) {
        const struct pci_bar *bar = &pdev->bars[i];

        if (bar->size != 0)
            requests[count++] = (struct pci_request){
                .size = bar->size, .align = bar->size, .flags = bar->flags, .owner = pdev, .index = i};
    }
    return count;
}

static size_t add_windows(struct pci_device *bridge, struct pci_request *requests)
{
    size_t count = 0;

    for (unsigned kind = 0; bridge->secondary && kind < BRIDGE_WINDOWS; kind++) {
        const struct bridge_window *window = &bridge->secondary->windows[kind];

        if (window->size != 0)
            requests[count++] = (struct pci_request){.size = window->size,
                                                     .align = window->align,
                                                     .flags = window->flags,
                                                     .owner = bridge,
                                                     .index = WINDOW_INDEX(kind)};
    }
    return count;
}

/* All requests of the devices on `bus`, for free(); NULL when there is no memory (logged). */
static struct pci_request *collect(struct pci_bus *bus, size_t *count)
{
    size_t ndevices = 0;
    struct pci_request *requests;

    for_each_on_bus (pdev, bus)
        ndevices++;
    requests = calloc(ndevices * REQUESTS_PER_DEVICE + 1, sizeof(*requests));
    if (!requests) {
        log_error("pci: no memory to assign the addresses of bus %02x", bus->number);
        return NULL;
    }
    *count = 0;
    for_each_on_bus (pdev, bus) {
        *count += add_bars(pdev, &requests[*count]);
        *count += add_windows(pdev, &requests[*count]);
    }
    return requests;
}

/*
 * The window that a request goes through. A prefetchable window may end up above 4 GiB, so only what can
 * follow it there may be in it; ordinary memory windows take everything else, prefetchable or not.
 */
static enum bridge_window_kind window_of(const struct pci_bus *bus, const struct pci_request *request)
{
    const struct bridge_window *prefetch = &bus->windows[BRIDGE_PREFETCH];
    unsigned needed = prefetch->flags & (PCI_BAR_PREFETCH | PCI_BAR_64);

    if (request->flags & PCI_BAR_IO)
        return BRIDGE_IO;
    return prefetch->present && (request->flags & needed) == needed ? BRIDGE_PREFETCH : BRIDGE_MEM;
}

/* Sizes one window for those of the requests that go through it; `some` has room for all of them. */
static void size_window(struct pci_bus *bus, enum bridge_window_kind kind, const struct pci_request *requests,
                        size_t count, struct pci_request *some)
{
    struct bridge_window *window = &bus->windows[kind];
    size_t nsome = 0;
    int error;

    for (size_t i = 0; i < count; i++)
        if (window_of(bus, &requests[i]) == kind)
            some[nsome++] = requests[i];
    if (!window->present)
        return;
    error = pci_window_size(some, nsome, kind == BRIDGE_IO ? PCI_BRIDGE_IO_GRAIN : PCI_BRIDGE_MEM_GRAIN,
                            &window->size, &window->align);
    if (error)
        log_error("pci %s: cannot size its %s: %s", bus->bridge->dev.address,
                  request_names[WINDOW_INDEX(kind)], error_name(error));
}

static void size_windows(struct pci_bus *bus)
{
    size_t count = 0;
    struct pci_request *requests;
    struct pci_request *some;

    for_each_on_bus (pdev, bus)
        if (pdev->secondary)
            size_windows(pdev->secondary);
    if (!bus->bridge)
        return;
    pci_bridge_probe(bus);
    requests = collect(bus, &count);
    some = calloc(count + 1, sizeof(*some));
    for (unsigned kind = 0; requests && some && kind < BRIDGE_WINDOWS; kind++)
        size_window(bus, kind, requests, count, some);
    free(some);
    free(requests);
}

/* The CPU's address for a bus address: windows may translate. */
static phys_addr_t cpu_address(const struct pci_host *host, unsigned flags, uint64_t base)
{
    bool io = flags & PCI_BAR_IO;

    for (unsigned i = 0; i < host->nwindows; i++) {
        const struct pci_window *window = &host->windows[i];

        if ((window->type == PCI_WINDOW_IO) == io && range_inside(base, 1, window->pci, window->size))
            return phys_addr(window->cpu + (base - window->pci));
    }
    return phys_addr(0);
}

static void report(const struct pci_request *request)
{
    const struct pci_device *pdev = request->owner;
    const char *name = request_names[request->index];
    bool wanted_high = request->flags & PCI_BAR_64 && request->flags & PCI_BAR_PREFETCH;

    if (request->error == -ENOSPC)
        log_error("pci %s: %s needs %s, window has %s left", pdev->dev.address, name,
                  format_size(request->size).text, format_size(request->left).text);
    else if (request->error)
        log_error("pci %s: %s of %s: %s", pdev->dev.address, name, format_size(request->size).text,
                  error_name(request->error));
    else if (!pdev->bus->bridge && wanted_high && request->base < PCI_4GIB)
        log_info("pci %s: %s of %s lies below 4 GiB: no room above", pdev->dev.address, name,
                 format_size(request->size).text);
}

/* Writes what a request got. Returns 0 or the error that it ended with. */
static int apply(struct pci_request *request)
{
    struct pci_device *pdev = request->owner;
    struct bridge_window *window;

    report(request);
    if (request->error)
        return request->error;
    log_debug("pci %s: %s of %s at %#llx", pdev->dev.address, request_names[request->index],
              format_size(request->size).text, (unsigned long long)request->base);
    if (request->index < PCI_BARS) {
        pdev->bars[request->index].phys = cpu_address(pdev->bus->root->host, request->flags, request->base);
        return pci_bar_set(pdev, request->index, request->base);
    }
    window = &pdev->secondary->windows[request->index - PCI_BARS];
    window->base = request->base;
    window->open = true;
    return 0;
}

static size_t assign_bus(struct pci_bus *bus, struct pci_resources *resources);

/*
 * What the bus behind a bridge can give: its windows. A wide prefetchable window is the pool of wide
 * prefetchable requests wherever it lies, since it was sized for them alone.
 */
static int window_resources(struct pci_bus *bus, struct pci_resources *resources)
{
    enum pci_pool pools[BRIDGE_WINDOWS] = {PCI_POOL_IO, PCI_POOL_MEM32, PCI_POOL_MEM32_PREFETCH};
    int error = 0;

    if (bus->windows[BRIDGE_PREFETCH].flags & PCI_BAR_64)
        pools[BRIDGE_PREFETCH] = PCI_POOL_MEM64_PREFETCH;
    for (unsigned kind = 0; !error && kind < BRIDGE_WINDOWS; kind++) {
        const struct bridge_window *window = &bus->windows[kind];

        if (!window->open)
            continue;
        pci_bridge_open(bus, kind);
        error = resource_pool_add(&resources->pools[pools[kind]], window->base, window->size);
    }
    return error;
}

static size_t assign_behind(struct pci_device *bridge)
{
    struct pci_resources resources = {0};
    size_t failed;
    int error = pci_enable(bridge, PCI_IO | PCI_MEMORY | PCI_MASTER);

    /* A bridge that cannot be turned on gives nothing. */
    if (!error)
        error = window_resources(bridge->secondary, &resources);
    if (error)
        log_error("pci %s: bus %02x behind it is unreachable: %s", bridge->dev.address,
                  bridge->secondary->number, error_name(error));
    failed = assign_bus(bridge->secondary, &resources);
    pci_resources_destroy(&resources);
    return failed;
}

static size_t assign_bus(struct pci_bus *bus, struct pci_resources *resources)
{
    size_t count = 0;
    size_t failed = 0;
    struct pci_request *requests = collect(bus, &count);

    if (!requests)
        return 1;
    pci_resources_assign(resources, requests, count);
    for (size_t i = 0; i < count; i++)
        failed += apply(&requests[i]) != 0;
    free(requests);
    for_each_on_bus (pdev, bus)
        if (pdev->secondary)
            failed += assign_behind(pdev);
    return failed;
}

static int host_resources(const struct pci_host *host, struct pci_resources *resources)
{
    int error = 0;

    for (unsigned i = 0; !error && i < host->nwindows; i++) {
        const struct pci_window *window = &host->windows[i];

        if (window->type == PCI_WINDOW_IO)
            error = pci_resources_add_io(resources, window->pci, window->size);
        else
            error = pci_resources_add_memory(resources, window->pci, window->size, window->prefetchable);
        if (error)
            log_error("pci: window of %s at %#llx: %s", format_size(window->size).text,
                      (unsigned long long)window->pci, error_name(error));
    }
    return error;
}

size_t pci_assign(struct pci_root *root)
{
    struct pci_resources resources = {0};
    size_t failed;

    size_windows(root->bus);
    failed = host_resources(root->host, &resources) != 0;
    failed += assign_bus(root->bus, &resources);
    pci_resources_destroy(&resources);
    return failed;
}
