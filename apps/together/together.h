// SPDX-License-Identifier: MIT
#ifndef APPS_TOGETHER_TOGETHER_H
#define APPS_TOGETHER_TOGETHER_H

#include "bus/device.h"
#include "gpgpu/runtime.h"

/* A device and what is done with it. */
struct job {
    struct device *dev;
    struct gpgpu_context gpu; /* of a GPU */
    unsigned rounds;          /* done so far, all of them right */
    int error;                /* what ended it early; -EILSEQ: a wrong result */
    struct thread *thread;
};

/* work.c: one round; waits for an interrupt at least once. Returns 0, -EILSEQ, or the device's negative
 * errno. */
typedef int (*work_t)(struct job *job);

/* The work for the devices of that class; NULL: they interrupt nobody. */
work_t work_of(enum device_class class);

#endif
