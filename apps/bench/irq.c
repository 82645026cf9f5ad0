/* SPDX-License-Identifier: MIT */
/* From a device's interrupt to its handler, and from there to the thread that waits for it. */
#include "bench.h"
#include "core/errno.h"
#include "core/test.h"
#include "drivers/edu.h"

#define INTERRUPTS 2000

#ifdef CONFIG_THREADS
#define WITH "threads_"
#else
#define WITH ""
#endif

/* Interrupts are enabled when it comes: how long until the handler begins? */
static int measure_handler(struct device *dev, uint64_t *ns)
{
    const struct edu_ops *edu = dev->ops;
    struct edu_interrupt times;
    int err = 0;
    for (int i = 0; i < INTERRUPTS && !err; i++) {
        err = edu->interrupt(dev, false, &times);
        ns[i] = times.handled - times.raised;
    }
    return err;
}

/* The thread sleeps: how long from the handler's beginning until it goes on? */
static int measure_wakeup(struct device *dev, uint64_t *ns)
{
    const struct edu_ops *edu = dev->ops;
    struct edu_interrupt times;
    int err = 0;
    for (int i = 0; i < INTERRUPTS && !err; i++) {
        err = edu->interrupt(dev, true, &times);
        ns[i] = times.woken - times.handled;
    }
    return err;
}

void bench_interrupts(void)
{
    static uint64_t handler[INTERRUPTS], wakeup[INTERRUPTS];
    struct device *dev = device_get(DEVICE_TUTORIAL, 0);
    if (!dev) {
        fail("no edu device: run with DEVICES='-device edu'");
        return;
    }
    int err = measure_handler(dev, handler);
    if (!err)
        err = measure_wakeup(dev, wakeup);
    if (!check(err == 0, "%d interrupts came: %s", 2 * INTERRUPTS, error_name(err)))
        return;
    report("guest.irq_" WITH "handler_us", median_of_thousandths(handler, INTERRUPTS), "us");
    report("guest.irq_" WITH "wakeup_us", median_of_thousandths(wakeup, INTERRUPTS), "us");
}
