/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "witness.h"

struct simt_check {
    struct simt *reference;
    uint8_t *vram;
    uint64_t vram_size;
    struct simt_witness own, expected; /* registers of the device and of the reference */
};

int simt_check_create(struct simt_check **out, const struct simt_config *config, uint64_t vram_size)
{
    struct simt_check *c = calloc(1, sizeof(*c));
    struct simt_config interpret = *config;
    int r = -ENOMEM;

    interpret.engine = SIMT_ENGINE_INTERP;
    interpret.deterministic = true;
    interpret.num_cus = 1;
    interpret.trace_path = interpret.timeline_path = NULL;
    if (c) {
        c->vram_size = vram_size;
        c->vram = aligned_alloc(4096, vram_size);
        r = c->vram ? simt_create(&c->reference, &interpret, c->vram, vram_size) : -ENOMEM;
    }
    if (r == 0) {
        simt_set_witness(c->reference, &c->expected);
    }
    if (r != 0) {
        simt_check_destroy(c);
        return r;
    }
    *out = c;
    return 0;
}

void simt_check_destroy(struct simt_check *c)
{
    if (c) {
        simt_destroy(c->reference);
        free(c->vram);
        free(c);
    }
}

struct simt_witness *simt_check_witness(struct simt_check *c)
{
    return &c->own;
}

void simt_check_begin(struct simt_check *c, const uint8_t *vram)
{
    simt_witness_begin(&c->own, false);
    memcpy(c->vram, vram, c->vram_size);
}

static bool same_end(const struct simt_fault *a, const struct simt_fault *b)
{
    return a->cause == b->cause && a->pc == b->pc;
}

/* Of two ends that are the same. When another thread was the first to fault, the runs differ in how far the
 * others had come. */
static bool same_registers(const struct simt_check *c, const struct simt_fault *a, const struct simt_fault *b)
{
    if (a->cause == SIMT_OK) {
        return c->own.barriers == c->expected.barriers;
    }
    return a->mhartid != b->mhartid || c->own.fault == c->expected.fault;
}

static uint32_t first_difference(const uint8_t *a, const uint8_t *b)
{
    uint32_t at = 0;
    while (a[at] == b[at]) {
        at++;
    }
    return at;
}

bool simt_check_end(struct simt_check *c, const struct simt_launch *launch, const uint8_t *vram,
                    const struct simt_fault *fault, uint32_t *addr, char *why, size_t len)
{
    const struct simt_fault none = {.cause = SIMT_OK};
    struct simt_fault expected = none;
    bool timed = simt_get_config(c->reference)->timeout_ms != 0;

    c->expected = c->own;
    simt_witness_begin(&c->expected, true);
    simt_run(c->reference, launch, &expected);
    fault = fault ? fault : &none;
    *addr = 0;
    if (timed && (fault->cause == SIMT_LIMIT || expected.cause == SIMT_LIMIT)) {
        return true;
    }
    if (!same_end(fault, &expected)) {
        snprintf(why, len, "%s at pc 0x%x, the interpreter: %s at pc 0x%x", simt_cause_name(fault->cause),
                 fault->pc, simt_cause_name(expected.cause), expected.pc);
        return false;
    }
    if (!same_registers(c, fault, &expected)) {
        snprintf(why, len, "registers at %s differ",
                 fault->cause == SIMT_OK ? "a barrier" : "the faulting instruction");
        return false;
    }
    if (fault->cause != SIMT_OK || memcmp(vram, c->vram, c->vram_size) == 0) {
        return true;
    }
    *addr = first_difference(vram, c->vram);
    snprintf(why, len, "VRAM at 0x%x holds 0x%02x, the interpreter: 0x%02x", *addr, vram[*addr],
             c->vram[*addr]);
    return false;
}
