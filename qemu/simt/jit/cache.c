/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../src/device.h"
#include "jit.h"

#define FEW_LEFTS 64u /* prove nothing */

struct jit {
    const struct simt *dev;
    struct jit_compiler *compiler; /* the thread's */
    bool broken;                   /* there can be no compiler */
    pthread_t thread;
    bool started;

    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool quit, compiling;
    struct simt_statistics statistics; /* what the compiler did */
    struct jit_entry *entries;
    unsigned count;
    uint64_t clock;
    struct jit_entry *queue, **queue_end;
};

static bool same_variant(const struct jit_variant *a, const struct jit_variant *b)
{
    return a->linear_x == b->linear_x && a->full_warps == b->full_warps && a->exact == b->exact &&
           a->hopes == b->hopes && a->private_top == b->private_top;
}

static bool same_program(const struct simt_program *a, const struct simt_program *b)
{
    return a == b || (a->roots[0] == b->roots[0] && a->word_count == b->word_count &&
                      a->range_count == b->range_count && a->edge_count == b->edge_count &&
                      memcmp(a->ranges, b->ranges, a->range_count * sizeof(*a->ranges)) == 0 &&
                      memcmp(a->words, b->words, a->word_count * sizeof(*a->words)) == 0 &&
                      memcmp(a->edges, b->edges, a->edge_count * sizeof(*a->edges)) == 0);
}

static void free_entry(struct jit *j, struct jit_entry *entry)
{
    jit_compiled_free(j->compiler, &entry->code);
    simt_program_unref(entry->prog);
    free(entry);
}

/* Make room: the least recently used entry that nobody uses goes. */
static void evict(struct jit *j)
{
    struct jit_entry **oldest = NULL;

    for (struct jit_entry **e = &j->entries; *e; e = &(*e)->next) {
        if ((*e)->users == 0 && (!oldest || (*e)->used < (*oldest)->used)) {
            oldest = e;
        }
    }
    if (oldest) {
        struct jit_entry *victim = *oldest;
        *oldest = victim->next;
        j->count--;
        free_entry(j, victim);
    }
}

static struct jit_entry *find(struct jit *j, const struct simt_program *prog, const struct jit_variant *v)
{
    for (struct jit_entry *e = j->entries; e; e = e->next) {
        if (same_variant(&e->variant, v) && same_program(e->prog, prog)) {
            return e;
        }
    }
    return NULL;
}

static struct jit_entry *add(struct jit *j, struct simt_program *prog, const struct jit_variant *v)
{
    struct jit_entry *e = calloc(1, sizeof(*e));
    if (!e) {
        return NULL;
    }
    if (j->count >= SIMT_MAX_COMPILED) {
        evict(j);
    }
    e->prog = simt_program_ref(prog);
    e->variant = *v;
    e->next = j->entries;
    j->entries = e;
    j->count++;
    return e;
}

struct jit_entry *jit_entry_get(struct jit *j, struct simt_program *prog, const struct jit_variant *v)
{
    pthread_mutex_lock(&j->lock);
    struct jit_entry *e = find(j, prog, v);
    e = e ? e : add(j, prog, v);
    if (e) {
        e->users++;
        e->used = ++j->clock;
    }
    pthread_mutex_unlock(&j->lock);
    return e;
}

void jit_entry_put(struct jit *j, struct jit_entry *entry)
{
    pthread_mutex_lock(&j->lock);
    entry->users--;
    pthread_mutex_unlock(&j->lock);
}

void jit_entry_note(struct jit *j, struct jit_entry *entry, uint64_t runs, uint64_t lefts)
{
    pthread_mutex_lock(&j->lock);
    entry->runs += runs;
    entry->lefts += lefts;
    if (entry->lefts >= FEW_LEFTS && entry->lefts * 4 > entry->runs) {
        entry->misfit = true;
    }
    pthread_mutex_unlock(&j->lock);
}

void jit_entry_request(struct jit *j, struct jit_entry *entry, bool wait)
{
    pthread_mutex_lock(&j->lock);
    if (entry->state == JIT_ENTRY_NEW) {
        entry->state = JIT_ENTRY_QUEUED;
        entry->users++; /* until it is compiled */
        entry->next_queued = NULL;
        *j->queue_end = entry;
        j->queue_end = &entry->next_queued;
        pthread_cond_signal(&j->work);
    }
    while (wait && entry->state == JIT_ENTRY_QUEUED) {
        pthread_cond_wait(&j->done, &j->lock);
    }
    pthread_mutex_unlock(&j->lock);
}

/* LLVM is started when the first kernel is worth it: many a process never gets there. */
static bool have_compiler(struct jit *j)
{
    const char *why = NULL;

    if (!j->compiler && !j->broken) {
        j->compiler = jit_compiler_create(simt_get_config(j->dev)->vector_bits, &why);
        j->broken = !j->compiler;
        if (j->broken) {
            simt_log(j->dev, "simt: no JIT, all kernels are interpreted: %s", why);
        }
    }
    return !j->broken;
}

static void note_compiled(struct simt_statistics *s, bool ok, const char *refusal, uint64_t ns)
{
    s->compile_ns += ns;
    s->compiled += ok;
    s->refused += !ok;
    s->refusal = ok ? s->refusal : refusal;
}

static void compile(struct jit *j, struct jit_entry *entry)
{
    const char *why = "there is no compiler";
    uint64_t begun = simt_now_ns();
    bool have = have_compiler(j);
    bool ok = have && jit_compile(j->compiler, entry->prog, &entry->variant, &entry->code, &why) == 0;

    if (have && !ok) {
        simt_log(j->dev, "simt: the kernel at 0x%x is interpreted: %s", entry->prog->roots[0], why);
    }
    pthread_mutex_lock(&j->lock);
    entry->ready_ns = simt_now_ns();
    note_compiled(&j->statistics, ok, why, entry->ready_ns - begun);
    atomic_store_explicit(&entry->state, ok ? JIT_ENTRY_READY : JIT_ENTRY_REFUSED, memory_order_release);
    entry->users--;
    j->compiling = false;
    pthread_cond_broadcast(&j->done);
    pthread_mutex_unlock(&j->lock);
}

static void *compiler_main(void *arg)
{
    struct jit *j = arg;

    pthread_mutex_lock(&j->lock);
    for (;;) {
        while (!j->quit && !j->queue) {
            pthread_cond_wait(&j->work, &j->lock);
        }
        if (j->quit) {
            break;
        }
        struct jit_entry *entry = j->queue;
        j->queue = entry->next_queued;
        if (!j->queue) {
            j->queue_end = &j->queue;
        }
        j->compiling = true;
        pthread_mutex_unlock(&j->lock);
        compile(j, entry);
        pthread_mutex_lock(&j->lock);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

struct jit *jit_create(const struct simt *dev)
{
    struct jit *j = calloc(1, sizeof(*j));

    if (j) {
        j->dev = dev;
        j->queue_end = &j->queue;
        pthread_mutex_init(&j->lock, NULL);
        pthread_cond_init(&j->work, NULL);
        pthread_cond_init(&j->done, NULL);
        j->started = pthread_create(&j->thread, NULL, compiler_main, j) == 0;
        if (j->started) {
            return j;
        }
    }
    simt_log(dev, "simt: no JIT, all kernels are interpreted: cannot start its thread");
    jit_destroy(j);
    return NULL;
}

void jit_statistics(struct jit *j, struct simt_statistics *out)
{
    if (j) {
        pthread_mutex_lock(&j->lock);
        *out = j->statistics;
        for (const struct jit_entry *e = j->entries; e; e = e->next) {
            out->kept += e->state == JIT_ENTRY_READY;
        }
        pthread_mutex_unlock(&j->lock);
    }
}

/* What only waits to be compiled is asked for again by the next launch that wants it. */
static void forget_queue(struct jit *j)
{
    while (j->queue) {
        struct jit_entry *e = j->queue;
        j->queue = e->next_queued;
        e->state = JIT_ENTRY_NEW;
        e->users--;
    }
    j->queue_end = &j->queue;
}

void jit_drain(struct jit *j)
{
    if (!j) {
        return;
    }
    pthread_mutex_lock(&j->lock);
    forget_queue(j);
    while (j->compiling) {
        pthread_cond_wait(&j->done, &j->lock);
    }
    pthread_mutex_unlock(&j->lock);
}

void jit_destroy(struct jit *j)
{
    if (!j) {
        return;
    }
    if (j->started) {
        pthread_mutex_lock(&j->lock);
        j->quit = true;
        pthread_cond_signal(&j->work);
        pthread_mutex_unlock(&j->lock);
        pthread_join(j->thread, NULL);
    }
    while (j->entries) {
        struct jit_entry *e = j->entries;
        j->entries = e->next;
        free_entry(j, e);
    }
    jit_compiler_destroy(j->compiler);
    pthread_cond_destroy(&j->done);
    pthread_cond_destroy(&j->work);
    pthread_mutex_destroy(&j->lock);
    free(j);
}
