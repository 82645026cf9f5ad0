// SPDX-License-Identifier: MIT
#define LOG_MODULE "trace"
#include "core/trace.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/math.h"
#include "core/util.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BUSY UINT64_MAX

struct event {
    uint64_t number; /* of all events, from 1; BUSY while it is written */
    uint64_t ticks;
    const char *category;
    const char *name;
    uint64_t value[2];
    uint32_t cpu;
    uint32_t kind;
};

/* Memory that nobody clears: what it holds before an event is written there does not have the number of one.
 */
static struct event ring[CONFIG_TRACE_EVENTS] __attribute__((section(".noinit")));
static uint64_t recorded; /* events so far */
static uint64_t dumped;   /* of them written out, or lost */
static const struct trace_host *host;

void trace_start(const struct trace_host *h)
{
    host = h;
}

/* An interrupt, or another hart, may come in anywhere: it takes the next place. When the ring comes round to
 * a place that is still being written, the later event is the one that is lost. */
void trace_record(enum trace_kind kind, const char *category, const char *name, uint64_t a, uint64_t b)
{
    uint64_t ticks, number;
    struct event *e;

    if (!host)
        return;
    ticks = host->ticks();
    number = __atomic_add_fetch(&recorded, 1, __ATOMIC_RELAXED);
    e = &ring[number % CONFIG_TRACE_EVENTS];
    if (__atomic_exchange_n(&e->number, BUSY, __ATOMIC_ACQ_REL) == BUSY && number > CONFIG_TRACE_EVENTS)
        return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    e->ticks = ticks;
    e->category = category;
    e->name = name;
    e->value[0] = a;
    e->value[1] = b;
    e->cpu = host->cpu();
    e->kind = kind;
    __atomic_store_n(&e->number, number, __ATOMIC_RELEASE);
}

/* The text goes along, as the thread may be gone when the event is written out. */
void trace_switch(const char *name)
{
    uint64_t text[2];

    memcpy(text, name, sizeof(text));
    trace_record(TRACE_SWITCH, "thread", name, text[0], text[1]);
}

/* Copies event `number`. False if it is no longer there, or not yet. */
static bool copy(uint64_t number, struct event *out)
{
    const struct event *e = &ring[number % CONFIG_TRACE_EVENTS];

    if (__atomic_load_n(&e->number, __ATOMIC_ACQUIRE) != number)
        return false;
    *out = *e;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&e->number, __ATOMIC_RELAXED) == number;
}

static int write_event(const struct event *e)
{
    char line[256], id[20];
    int length;

    snprintf(id, sizeof(id), "%" PRIxPTR, (uintptr_t)e->name);
    length = snprintf(line, sizeof(line),
                      "%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%c\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\n",
                      e->number, e->ticks, e->cpu, (char)e->kind, e->category,
                      e->kind == TRACE_SWITCH ? id : e->name, e->value[0], e->value[1]);
    return host->write(line, MIN((size_t)length, sizeof(line) - 1));
}

static int write_events(uint64_t *lost)
{
    uint64_t end = __atomic_load_n(&recorded, __ATOMIC_RELAXED);
    uint64_t first = end - dumped > CONFIG_TRACE_EVENTS ? end - CONFIG_TRACE_EVENTS : dumped;
    struct event event;
    int error = 0;

    *lost = first - dumped;
    for (dumped = first; dumped < end && !error; dumped++)
        if (copy(dumped + 1, &event))
            error = write_event(&event);
        else
            ++*lost;
    return error;
}

int trace_dump(void)
{
    static bool busy; /* a panic comes here, and may come from here */
    uint64_t before = dumped, lost;
    char line[32];
    int error;

    if (!host)
        return -ENODEV;
    if (busy)
        return -EBUSY;
    busy = true;
    error = write_events(&lost);
    if (!error)
        error = host->write(line, (size_t)snprintf(line, sizeof(line), "lost\t%" PRIu64 "\n", lost));
    busy = false;
    if (lost && !error)
        log_warn("the oldest %" PRIu64 " of %" PRIu64 " events were lost: CONFIG_TRACE_EVENTS=%d", lost,
                 dumped - before, CONFIG_TRACE_EVENTS);
    return error;
}
