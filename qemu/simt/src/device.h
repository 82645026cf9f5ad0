/* SPDX-License-Identifier: MIT */
/* The device: workers, the launch in flight, and what compute units ask of them. */
#ifndef SIMT_DEVICE_H
#define SIMT_DEVICE_H

#include "cu.h"

/* What a compute unit that polls is told. */
enum simt_poll {
    SIMT_POLL_GO,
    SIMT_POLL_STOP,    /* cancelled, or another unit faulted */
    SIMT_POLL_TIMEOUT, /* the launch's time is up */
};

enum simt_poll simt_poll(const struct simt_cu *cu);

/* Make the compute unit see code at pc (a legal fetch address): the newest program of the launch, extended if
 * it must be. 0 or -ENOMEM. */
int simt_learn_pc(struct simt_cu *cu, uint32_t pc);

/* Make the program know more targets of an indirect jump, so that its lanes meet again in the right place.
 * Not knowing them is harmless, so this fails silently. */
void simt_learn_edges(struct simt_cu *cu, const struct simt_edge *edges, uint32_t count);

/* Note registers of further launches here (witness.h), NULL: do not. Only on a device with one worker. */
void simt_set_witness(struct simt *s, struct simt_witness *witness);

/* Monotonic clock. */
uint64_t simt_now_ns(void);

/* Send one line to the configured log. */
void simt_log(const struct simt *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
