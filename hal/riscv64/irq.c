// SPDX-License-Identifier: MIT
// Interrupt lines and their handlers, whatever the controller.
#define LOG_MODULE "irq"
#include "boot.h"
#include "csr.h"
#include "irq_chip.h"

#include <errno.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/trace.h"
#include "hal/irq.h"
#include "hal/panic.h"
#include "hal/spinlock.h"

struct handler {
    struct handler *next;
    irq_handler_t fn;
    void *arg;
};

struct line {
    struct handler *handlers;
    uint64_t count;
    bool reserved; // by msi_alloc()
};

static const struct irq_chip *chip;
static struct line *lines; // indexed by interrupt number; [0] is not used

static struct spinlock lock; // of the lines; irq_deliver() holds it while handlers run

// Finds and sets up the controller when the first interrupt is asked for: a program that needs none pays
// nothing at boot. NULL when there is none we know.
static const struct irq_chip *controller(void)
{
    static bool searched;
    if (searched)
        return chip;
    searched = true;
    const struct irq_chip *found = aia_init();
    if (!found)
        found = plic_init();
    if (!found) {
        log_warn("no PLIC and no APLIC with IMSIC: no device interrupts");
        return NULL;
    }
    lines = calloc((size_t)found->nirqs + 1, sizeof(*lines));
    if (!lines)
        panic("no memory for %u interrupt lines", found->nirqs);
    chip = found;
    log_debug("%s, %u lines, %u messages", chip->name, chip->nwired, chip->nirqs - chip->nwired);
    csr_set(CSR_SIE, SIE_SEIE);
    return chip;
}

static struct line *line_of(unsigned irq)
{
    return chip && irq >= 1 && irq <= chip->nirqs ? &lines[irq] : NULL;
}

// The link that points to (fn, arg), or to the end of the list.
static struct handler **find(struct line *line, irq_handler_t fn, void *arg)
{
    struct handler **link = &line->handlers;
    while (*link && ((*link)->fn != fn || (*link)->arg != arg))
        link = &(*link)->next;
    return link;
}

int irq_attach(unsigned irq, irq_handler_t fn, void *arg)
{
    if (!controller())
        return -ENODEV;
    struct line *line = line_of(irq);
    if (!line || !fn || (irq > chip->nwired && !line->reserved))
        return -EINVAL;
    struct handler *handler = malloc(sizeof(*handler));
    if (!handler)
        return -ENOMEM;
    *handler = (struct handler){.fn = fn, .arg = arg};
    unsigned long flags = spin_lock_irq(&lock);
    struct handler **end = find(line, fn, arg);
    bool first = !line->handlers, twice = *end;
    if (!twice)
        *end = handler;
    if (first)
        chip->enable(irq, true);
    spin_unlock_irq(&lock, flags);
    if (twice)
        free(handler);
    return twice ? -EEXIST : 0;
}

int irq_detach(unsigned irq, irq_handler_t fn, void *arg)
{
    struct line *line = line_of(irq);
    if (!line)
        return -EINVAL;
    unsigned long flags = spin_lock_irq(&lock);
    struct handler **link = find(line, fn, arg), *handler = *link;
    if (handler)
        *link = handler->next;
    if (handler && !line->handlers)
        chip->enable(irq, false);
    spin_unlock_irq(&lock, flags);
    free(handler);
    return handler ? 0 : -ENOENT;
}

void irq_deliver(unsigned irq)
{
    struct line *line = line_of(irq);
    if (!line)
        panic("interrupt %u, but there are %u", irq, chip->nirqs);
    line->count++;
    trace_instant("irq", "taken", irq, 0);
    spin_lock(&lock);
    for (struct handler *handler = line->handlers; handler; handler = handler->next)
        handler->fn(handler->arg);
    spin_unlock(&lock);
}

void irq_dispatch(void)
{
    chip->dispatch();
}

uint64_t irq_count(unsigned irq)
{
    struct line *line = line_of(irq);
    return line ? line->count : 0;
}

bool msi_available(void)
{
    return controller() && chip->message;
}

int msi_alloc(struct msi_vector *out)
{
    *out = (struct msi_vector){0};
    if (!msi_available())
        return -ENOTSUP;
    unsigned long flags = spin_lock_irq(&lock);
    unsigned irq = chip->nwired + 1;
    while (irq <= chip->nirqs && lines[irq].reserved)
        irq++;
    if (irq <= chip->nirqs)
        lines[irq].reserved = true;
    spin_unlock_irq(&lock, flags);
    if (irq > chip->nirqs)
        return -ENOSPC;
    out->irq = irq;
    chip->message(irq, &out->address, &out->data);
    return 0;
}

void msi_free(struct msi_vector *v)
{
    if (!v->irq)
        return;
    struct line *line = line_of(v->irq);
    if (!line || !line->reserved || line->handlers)
        panic("msi_free: interrupt %u is not reserved, or has handlers", v->irq);
    line->reserved = false;
    *v = (struct msi_vector){0};
}
