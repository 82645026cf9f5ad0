// SPDX-License-Identifier: MIT
/*
 * Several threads use one disk at the same time, each a part of its own: random writes and reads, many small
 * requests in flight, while the main thread resets the device now and then. What a sector must hold is known
 * from how often it was written, so an exchanged, lost or torn request is noticed.
 */
#include "disk.h"
#include "core/errno.h"
#include "core/test.h"
#include "core/util.h"
#include "hal/thread.h"
#include "hal/time.h"
#include <stdlib.h>

#define THREADS     8
#define PIECES      32 /* of a batch; all threads' together are more than the queue holds */
#define PIECE       8u /* sectors of a piece at most */
#define ROUNDS      40
#define RESETS      5
#define RESET_EVERY UINT64_C(5000000) /* ns */
#define WORDS       (BLOCK_SECTOR / sizeof(uint64_t))

struct sharer {
    struct device *dev;
    struct range range;
    uint64_t random;    /* state of the generator, and what tells this thread's data from others' */
    uint32_t *versions; /* of each sector of the range: how often it was written */
    uint64_t *data;     /* as long as the range */
    unsigned cancelled; /* requests, which were started again */
    int error;
    struct thread *thread;
};

/* splitmix64 */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint32_t below(struct sharer *s, uint64_t limit)
{
    s->random += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mix(s->random) % limit);
}

/* Word `i` of the disk in that version. */
static uint64_t word(uint64_t i, uint32_t version)
{
    return mix(i << 32 | version);
}

static void fill(const struct sharer *s, const struct block_request *request)
{
    uint64_t *words = request->data;

    for (uint64_t i = 0; i < request->nsectors * WORDS; i++) {
        uint64_t sector = request->sector + i / WORDS;

        words[i] = word(request->sector * WORDS + i, s->versions[sector - s->range.sector]);
    }
}

static bool holds(const struct sharer *s, const struct block_request *request)
{
    const uint64_t *words = request->data;

    for (uint64_t i = 0; i < request->nsectors * WORDS; i++) {
        uint64_t sector = request->sector + i / WORDS;
        uint64_t expected = word(request->sector * WORDS + i, s->versions[sector - s->range.sector]);

        if (words[i] != expected) {
            fail("sector %llu, word %llu: expected %#llx, got %#llx", (unsigned long long)sector,
                 (unsigned long long)(i % WORDS), (unsigned long long)expected, (unsigned long long)words[i]);
            return false;
        }
    }
    return true;
}

/* Pieces of random lengths, one behind the other, in an order that jumps about. */
static void make_batch(struct sharer *s, struct block_request *batch, enum block_operation operation)
{
    uint32_t at = below(s, s->range.nsectors - PIECES * PIECE + 1), begin = at;

    for (unsigned i = 0; i < PIECES; i++) {
        uint32_t n = 1 + below(s, PIECE);

        batch[i * 5 % PIECES] = (struct block_request){.operation = operation,
                                                       .sector = s->range.sector + at,
                                                       .nsectors = n,
                                                       .data = s->data + (at - begin) * WORDS};
        at += n;
    }
}

/* A reset ends requests; what a write has done until then does not matter, as it is done again. */
static int wait_for(struct sharer *s, struct block_request *request)
{
    int error = block_wait(s->dev, request);

    while (error == -ECANCELED) {
        s->cancelled++;
        error = block_submit(s->dev, request);
        if (!error)
            error = block_wait(s->dev, request);
    }
    return error;
}

static int run(struct sharer *s, struct block_request *requests, unsigned count)
{
    unsigned started = 0;
    int error = 0;

    while (started < count && (error = block_submit(s->dev, &requests[started])) == 0)
        started++;
    for (unsigned i = 0; i < started; i++) {
        int result = wait_for(s, &requests[i]);

        error = error ? error : result;
    }
    return error;
}

static void write_batch(struct sharer *s, struct block_request *batch)
{
    make_batch(s, batch, BLOCK_WRITE);
    for (unsigned i = 0; i < PIECES; i++) {
        for (uint32_t k = 0; k < batch[i].nsectors; k++)
            s->versions[batch[i].sector - s->range.sector + k]++;
        fill(s, &batch[i]);
    }
    s->error = run(s, batch, PIECES);
}

static void read_batch(struct sharer *s, struct block_request *batch)
{
    make_batch(s, batch, BLOCK_READ);
    s->error = run(s, batch, PIECES);
    for (unsigned i = 0; i < PIECES && !s->error; i++)
        if (!holds(s, &batch[i]))
            s->error = -EIO;
}

static int use_part(void *arg)
{
    struct sharer *s = arg;
    struct block_request batch[PIECES];
    struct block_request all = {
        .sector = s->range.sector, .nsectors = (uint32_t)s->range.nsectors, .data = s->data};

    all.operation = BLOCK_WRITE;
    fill(s, &all);
    s->error = run(s, &all, 1);
    for (unsigned round = 0; round < ROUNDS && !s->error; round++)
        (below(s, 2) ? write_batch : read_batch)(s, batch);
    all.operation = BLOCK_READ;
    if (!s->error)
        s->error = run(s, &all, 1);
    if (!s->error && !holds(s, &all))
        s->error = -EIO;
    return 0;
}

static bool start(struct sharer *s, uint64_t seed, unsigned i)
{
    s->random = mix(seed) + i;
    s->versions = calloc(s->range.nsectors, sizeof(*s->versions));
    s->data = malloc(s->range.nsectors * BLOCK_SECTOR);
    if (s->versions && s->data)
        s->thread = thread_create("sharer", use_part, s, 0);
    return s->thread;
}

static void finish(struct sharer *s)
{
    if (s->thread)
        thread_join(s->thread);
    free(s->versions);
    free(s->data);
}

static unsigned reset_now_and_then(struct device *dev)
{
    unsigned resets = 0;

    for (unsigned i = 0; i < RESETS; i++) {
        thread_sleep_ns(RESET_EVERY);
        resets += block_reset(dev) == 0;
    }
    return resets;
}

void command_share(struct device *dev, struct range range)
{
    static struct sharer sharers[THREADS];
    uint64_t seed = range.seed, part = range.nsectors / THREADS;
    unsigned cancelled = 0, resets;

    if (!check(part >= PIECES * PIECE, "%s: %llu sectors for each of %d threads, seed %llu", dev->name,
               (unsigned long long)part, THREADS, (unsigned long long)seed))
        return;
    for (unsigned i = 0; i < THREADS; i++) {
        sharers[i] =
            (struct sharer){.dev = dev, .range = {.sector = range.sector + i * part, .nsectors = part}};
        if (!start(&sharers[i], seed, i))
            fail("no memory for thread %u", i);
    }
    resets = reset_now_and_then(dev);
    for (unsigned i = 0; i < THREADS; i++) {
        finish(&sharers[i]);
        check(sharers[i].error == 0, "%s: thread %u: %s", dev->name, i, error_name(sharers[i].error));
        cancelled += sharers[i].cancelled;
    }
    check(resets == RESETS, "%s: %u resets cancelled %u requests", dev->name, resets, cancelled);
}
