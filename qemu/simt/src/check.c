/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "witness.h"

enum { BEFORE, OWN, EXPECTED, COPIES };

struct simt_check {
    struct simt *reference;
    uint8_t *vram, *copies[COPIES]; /* as it was, as the device works on it, as the reference does */
    uint64_t vram_size;
    struct simt_witness own, expected; /* registers of the device and of the reference */
};

int simt_check_create(struct simt_check **out, const struct simt_config *config, uint8_t *vram,
                      uint64_t vram_size)
{
    struct simt_check *c = calloc(1, sizeof(*c));
    struct simt_config interpret = *config;
    int r = -ENOMEM;

    interpret.engine = SIMT_ENGINE_INTERP;
    interpret.deterministic = true;
    interpret.num_cus = 1;
    interpret.trace_path = interpret.timeline_path = NULL;
    if (c) {
        c->vram = vram;
        c->vram_size = vram_size;
        for (unsigned i = 0; i < COPIES; i++) {
            c->copies[i] = aligned_alloc(4096, vram_size);
        }
        if (c->copies[BEFORE] && c->copies[OWN] && c->copies[EXPECTED]) {
            r = simt_create(&c->reference, &interpret, c->copies[EXPECTED], vram_size);
        }
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
        for (unsigned i = 0; i < COPIES; i++) {
            free(c->copies[i]);
        }
        free(c);
    }
}

struct simt_witness *simt_check_witness(struct simt_check *c)
{
    return &c->own;
}

uint8_t *simt_check_vram(struct simt_check *c)
{
    return c->copies[OWN];
}

void simt_check_begin(struct simt_check *c)
{
    simt_witness_begin(&c->own, false);
    memcpy(c->copies[BEFORE], c->vram, c->vram_size);
    memcpy(c->copies[OWN], c->copies[BEFORE], c->vram_size);
    memcpy(c->copies[EXPECTED], c->copies[BEFORE], c->vram_size);
}

void simt_check_commit(struct simt_check *c)
{
    enum { PAGE = 4096 };
    const uint8_t *before = c->copies[BEFORE], *own = c->copies[OWN];

    for (uint64_t page = 0; page < c->vram_size; page += PAGE) {
        if (memcmp(own + page, before + page, PAGE) == 0) {
            continue;
        }
        for (uint64_t i = page; i < page + PAGE; i++) {
            if (own[i] != before[i]) {
                c->vram[i] = own[i];
            }
        }
    }
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

bool simt_check_end(struct simt_check *c, const struct simt_launch *launch, const struct simt_fault *fault,
                    uint32_t *addr, char *why, size_t len)
{
    const uint8_t *own_vram = c->copies[OWN], *expected_vram = c->copies[EXPECTED];
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
    if (fault->cause != SIMT_OK || memcmp(own_vram, expected_vram, c->vram_size) == 0) {
        return true;
    }
    *addr = first_difference(own_vram, expected_vram);
    snprintf(why, len, "VRAM at 0x%x holds 0x%02x, the interpreter: 0x%02x", *addr, own_vram[*addr],
             expected_vram[*addr]);
    return false;
}
