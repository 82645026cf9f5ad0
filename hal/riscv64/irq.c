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

static struct spinlock users;    // one attaches or detaches at a time; taken before `handlers`
static struct spinlock handlers; // the lists, against irq_deliver()

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

void irq_init(void)
{
    controller();
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

static int add_handler(struct line *line, unsigned irq, irq_handler_t fn, void *arg)
{
    struct handler **end = find(line, fn, arg);
    if (*end)
        return -EEXIST;
    struct handler *handler = malloc(sizeof(*handler));
    if (!handler)
        return -ENOMEM;
    *handler = (struct handler){.fn = fn, .arg = arg};
    bool first = !line->handlers;
    unsigned long flags = spin_lock_irq(&handlers);
    *end = handler;
    spin_unlock_irq(&handlers, flags);
    if (first)
        chip->enable(irq);
    return 0;
}

static int remove_handler(struct line *line, unsigned irq, irq_handler_t fn, void *arg)
{
    struct handler **link = find(line, fn, arg);
    struct handler *handler = *link;
    if (!handler)
        return -ENOENT;
    if (line->handlers == handler && !handler->next)
        chip->disable(irq);
    unsigned long flags = spin_lock_irq(&handlers);
    *link = handler->next;
    spin_unlock_irq(&handlers, flags);
    free(handler);
    return 0;
}

int irq_attach(unsigned irq, irq_handler_t fn, void *arg)
{
    if (!controller())
        return -ENODEV;
    struct line *line = line_of(irq);
    if (!line || !fn || (irq > chip->nwired && !line->reserved))
        return -EINVAL;
    spin_lock(&users);
    int error = add_handler(line, irq, fn, arg);
    spin_unlock(&users);
    return error;
}

int irq_detach(unsigned irq, irq_handler_t fn, void *arg)
{
    struct line *line = line_of(irq);
    if (!line)
        return -EINVAL;
    spin_lock(&users);
    int error = remove_handler(line, irq, fn, arg);
    spin_unlock(&users);
    return error;
}

void irq_deliver(unsigned irq)
{
    struct line *line = line_of(irq);
    if (!line)
        panic("interrupt %u, but there are %u", irq, chip->nirqs);
    line->count++;
    trace_instant("irq", "taken", irq, 0);
    spin_lock(&handlers);
    for (struct handler *handler = line->handlers; handler; handler = handler->next)
        handler->fn(handler->arg);
    spin_unlock(&handlers);
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

// The first message that nobody has, from now on the caller's. 0 when there is none.
static unsigned reserve_message(void)
{
    spin_lock(&users);
    unsigned irq = chip->nwired + 1;
    while (irq <= chip->nirqs && lines[irq].reserved)
        irq++;
    if (irq <= chip->nirqs)
        lines[irq].reserved = true;
    else
        irq = 0;
    spin_unlock(&users);
    return irq;
}

int msi_alloc(struct msi_vector *out)
{
    *out = (struct msi_vector){0};
    if (!msi_available())
        return -ENOTSUP;
    unsigned irq = reserve_message();
    if (!irq)
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
