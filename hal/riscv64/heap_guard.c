// SPDX-License-Identifier: MIT
#include "heap_guard.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/list.h"
#include "core/math.h"
#include "hal/trap.h"

#define RED_ZONE   16
#define RED        0xfd              // in the red zones
#define FRESH      0xcd              // in a block that was not written yet
#define DEAD       0xdd              // in a freed block
#define KEPT_BYTES ((size_t)1 << 20) // of freed blocks that are kept, with their guards

enum state { LIVE = 0x4c495645, FREED = 0x46524545 };

// Before each block, with a red zone between: unused bytes for alignment, this, the red zone, the block, the
// other red zone.
struct guard {
    struct list_node node; // in `live` or `kept`
    void *chunk;           // what heap_alloc() gave
    const void *caller;
    size_t size; // of the block
    uint32_t state;
    unsigned char red[RED_ZONE + 4];
};

_Static_assert(sizeof(struct guard) % 16 == 0, "a block follows its guard, aligned");

static struct list_node live = LIST_INIT(live);
static struct list_node kept = LIST_INIT(kept); // the oldest first
static size_t kept_bytes;

static unsigned char *block_of(struct guard *guard)
{
    return (unsigned char *)(guard + 1);
}

__attribute__((format(printf, 3, 4))) static void broken(struct heap *heap, struct guard *guard,
                                                         const char *format, ...)
{
    static char text[192];
    size_t offset = 0;
    const char *name = symbol_lookup((uintptr_t)guard->caller, &offset);
    int n = snprintf(text, sizeof(text), "%zu bytes, allocated in %s: ", guard->size, name ? name : "?");
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
    va_end(args);
    heap->broken(text, block_of(guard));
}

// The `count` bytes from byte `first` of the block on are `value`.
static void expect(struct heap *heap, struct guard *guard, ptrdiff_t first, size_t count, unsigned char value,
                   const char *otherwise)
{
    const unsigned char *bytes = block_of(guard) + first;
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            broken(heap, guard, "%s: byte %td is %#x", otherwise, first + (ptrdiff_t)i, bytes[i]);
}

static void check_red_zones(struct heap *heap, struct guard *guard)
{
    expect(heap, guard, -(ptrdiff_t)sizeof(guard->red), sizeof(guard->red), RED, "underrun");
    expect(heap, guard, (ptrdiff_t)guard->size, RED_ZONE, RED, "overrun");
}

static struct guard *guard_of(struct heap *heap, void *pointer)
{
    struct guard *guard = (struct guard *)pointer - 1;
    if (!is_aligned((uintptr_t)pointer, 16) || (guard->state != LIVE && guard->state != FREED))
        heap->broken("not a heap pointer, or an underrun", pointer);
    if (guard->state == FREED)
        broken(heap, guard, "freed twice");
    check_red_zones(heap, guard);
    return guard;
}

void *guard_alloc(struct heap *heap, size_t size, size_t align, const void *caller)
{
    size_t front = align_up(sizeof(struct guard), align > 16 ? align : 16), bytes;
    if (add_overflows(size, front + RED_ZONE, &bytes))
        return NULL;
    char *chunk = heap_alloc(heap, bytes, align);
    if (!chunk)
        return NULL;
    struct guard *guard = (struct guard *)(chunk + front) - 1;
    *guard = (struct guard){.chunk = chunk, .caller = caller, .size = size, .state = LIVE};
    memset(guard->red, RED, sizeof(guard->red));
    memset(block_of(guard), FRESH, size);
    memset(block_of(guard) + size, RED, RED_ZONE);
    list_add_tail(&live, &guard->node);
    return block_of(guard);
}

static void let_go_oldest(struct heap *heap)
{
    struct guard *guard = list_first(&kept, struct guard, node);
    expect(heap, guard, 0, guard->size, DEAD, "used after it was freed");
    check_red_zones(heap, guard);
    list_remove(&guard->node);
    kept_bytes -= sizeof(*guard) + guard->size;
    heap_free(heap, guard->chunk);
}

void guard_free(struct heap *heap, void *pointer)
{
    if (!pointer)
        return;
    struct guard *guard = guard_of(heap, pointer);
    guard->state = FREED;
    memset(pointer, DEAD, guard->size);
    list_remove(&guard->node);
    list_add_tail(&kept, &guard->node);
    kept_bytes += sizeof(*guard) + guard->size;
    while (kept_bytes > KEPT_BYTES)
        let_go_oldest(heap);
}

size_t guard_usable(struct heap *heap, void *pointer)
{
    return guard_of(heap, pointer)->size;
}

size_t guard_check(struct heap *heap)
{
    size_t count = 0;
    list_for_each (node, &live) {
        check_red_zones(heap, list_entry(node, struct guard, node));
        count++;
    }
    while (!list_empty(&kept))
        let_go_oldest(heap);
    return count;
}
