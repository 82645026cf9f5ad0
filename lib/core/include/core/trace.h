// SPDX-License-Identifier: MIT
/*
 * Tracepoints (CONFIG_TRACE): what happens when, kept in a ring in memory and written out at the end.
 * docs/trace.md tells how to look at it. Without CONFIG_TRACE all of this compiles to nothing.
 *
 *     trace_begin("copy", "to the device", size, 0);
 *     …
 *     trace_end("copy");
 *
 * A category and a name are strings that live as long as the program, without tabs and newlines. Two numbers
 * go along; tools/trace2perfetto knows what they are in the categories that it knows. Any context may record,
 * interrupt handlers included, on any number of harts: an event takes one atomic addition and no lock. When
 * the ring is full the oldest events go, and are counted.
 */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* The letters are those of the Trace Event Format, but for the last. */
enum trace_kind {
    TRACE_BEGIN = 'B', /* spans of one thread or interrupt handler nest */
    TRACE_END = 'E',
    TRACE_INSTANT = 'i',
    TRACE_COUNTER = 'C',
    TRACE_ASYNC_BEGIN = 'b',
    TRACE_ASYNC_END = 'e',
    TRACE_SWITCH = 'T', /* the processor goes on with another thread */
};

/* What the machine, or process, brings. */
struct trace_host {
    uint64_t (*ticks)(void); /* a clock that never goes back, and that all harts share */
    uint32_t (*cpu)(void);   /* number of the hart, or of the process's thread, that calls */

    /* Takes a part of the trace's text. Returns 0, -ENOENT when nobody wants it, or -EIO. */
    int (*write)(const char *text, size_t length);
};

/* Events are recorded from now on. `host` must stay valid. */
void trace_start(const struct trace_host *host);

/*
 * Writes the events since the last call, oldest first, one a line:
 *
 *     number ⇥ ticks ⇥ cpu ⇥ kind ⇥ category ⇥ name ⇥ a ⇥ b
 *
 * then "lost ⇥ COUNT": how many between the last call and now were overwritten. The hal calls it when the
 * program ends, be it by a panic. Returns 0, -EBUSY (from within itself), -ENODEV (before trace_start()) or
 * the error of the host's write().
 */
int trace_dump(void);

/* Called through the macros below. */
void trace_record(enum trace_kind kind, const char *category, const char *name, uint64_t a, uint64_t b);

/* The calling hart goes on with the thread `name`, an array of 16 bytes, whose address tells it from others.
 */
void trace_switch(const char *name);

#ifdef CONFIG_TRACE
#define TRACE_RECORD(...) trace_record(__VA_ARGS__)
#else
/* The arguments are still type-checked. */
#define TRACE_RECORD(...)                                                                                    \
    do {                                                                                                     \
        if (0)                                                                                               \
            trace_record(__VA_ARGS__);                                                                       \
    } while (0)
#define trace_dump()       ((void)0)
#define trace_switch(name) ((void)(name))
#endif

#define trace_begin(category, name, a, b) TRACE_RECORD(TRACE_BEGIN, category, name, a, b)

/* Ends the innermost span, which is of that category. */
#define trace_end(category) TRACE_RECORD(TRACE_END, category, "", 0, 0)

#define trace_instant(category, name, a, b)  TRACE_RECORD(TRACE_INSTANT, category, name, a, b)
#define trace_counter(category, name, value) TRACE_RECORD(TRACE_COUNTER, category, name, value, 0)

/* What overlaps other things; `id` is an address that tells it apart while it lasts. */
#define trace_async_begin(category, name, id, value)                                                         \
    TRACE_RECORD(TRACE_ASYNC_BEGIN, category, name, (uintptr_t)(id), value)
#define trace_async_end(category, name, id, value)                                                           \
    TRACE_RECORD(TRACE_ASYNC_END, category, name, (uintptr_t)(id), value)

#endif
