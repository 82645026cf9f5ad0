/* SPDX-License-Identifier: MIT */
/* The device: configuration, worker threads, the life of a launch, counters. */
#include "device.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "jit_seam.h"
#include "trace.h"

#define DEFAULT_CUS          4
#define DEFAULT_WARPS_PER_CU 4
#define DEFAULT_SHARED       0x10000
#define DEFAULT_PRIVATE      0x4000
#define MAX_CUS              64
#define MAX_WARPS_PER_CU     32
#define MAX_SHARED           (SIMT_PRIVATE_BASE - SIMT_SHARED_BASE)
#define MAX_PRIVATE          0x100000
#define SPIN_NS              50000
#define CACHED_PROGRAMS      8

struct cached_program {
    struct simt_program *prog;
    uint64_t used; /* launch number, for replacement */
};

struct worker {
    pthread_t thread;
    struct simt_cu cu;
};

struct simt {
    struct simt_config config;
    struct simt_code code;
    struct simt_trace trace;
    struct simt_timeline timeline;
    struct jit *jit;          /* NULL: interpret only */
    struct simt_check *check; /* engine=check */
    struct simt_witness *witness;
    bool may_spin; /* there is more than one processor */
    struct worker *workers[MAX_CUS];
    uint32_t worker_count;

    pthread_mutex_t lock; /* the fields down to base */
    pthread_cond_t work;  /* slots became non-zero, or quit */
    pthread_cond_t idle;  /* no launch in flight and no callback running */
    bool quit, in_flight, faulted, aborted;
    bool spinning;      /* a worker looks for work without sleeping */
    uint32_t slots;     /* workers still wanted by the launch */
    uint32_t active;    /* workers in the launch */
    uint32_t callbacks; /* done callbacks running */
    struct simt_launch launch;
    uint64_t blocks;
    struct simt_fault fault;
    simt_done_fn done;
    void *opaque;
    uint64_t started_ns;
    uint64_t timeline_begin;
    struct simt_counters base; /* values when the counters were last cleared */

    _Atomic uint64_t next_block;
    atomic_bool stop, busy;
    _Atomic uint64_t deadline_ns; /* 0: none */
    _Atomic uint64_t launches, busy_ns;

    pthread_mutex_t program_lock; /* the program of the launch and the cache */
    struct simt_program *prog;    /* newest one; NULL until a worker needs it */
    unsigned nearby; /* simt_program_reads_nearby() before any thread ran: threads write there, too */
    struct cached_program cache[CACHED_PROGRAMS];
};

uint64_t simt_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void simt_log(const struct simt *s, const char *format, ...)
{
    char line[256];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (s->config.log) {
        s->config.log(s->config.log_opaque, line);
    } else {
        fprintf(stderr, "%s\n", line);
    }
}

void simt_set_witness(struct simt *s, struct simt_witness *witness)
{
    s->witness = witness;
}

enum simt_poll simt_poll(const struct simt_cu *cu)
{
    struct simt *s = cu->dev;
    uint64_t deadline = atomic_load_explicit(&s->deadline_ns, memory_order_relaxed);

    if (atomic_load_explicit(&s->stop, memory_order_relaxed)) {
        return SIMT_POLL_STOP;
    }
    return deadline != 0 && simt_now_ns() >= deadline ? SIMT_POLL_TIMEOUT : SIMT_POLL_GO;
}

static bool product(const uint32_t dim[3], uint64_t *out)
{
    return dim[0] && dim[1] && dim[2] && !__builtin_mul_overflow((uint64_t)dim[0] * dim[1], dim[2], out);
}

/* ---- programs ---- */

/* A cached program of this kernel whose code is still what VRAM holds, or NULL. */
static struct cached_program *cache_find(struct simt *s, uint32_t pc)
{
    for (unsigned i = 0; i < CACHED_PROGRAMS; i++) {
        struct simt_program *p = s->cache[i].prog;
        if (p && p->roots[0] == pc && simt_program_matches(p, &s->code)) {
            return &s->cache[i];
        }
    }
    return NULL;
}

/* Keep the launch's program, in place of an older one of the same kernel or the least recently used. */
static void cache_keep(struct simt *s, struct simt_program *prog)
{
    struct cached_program *slot = &s->cache[0];

    for (unsigned i = 0; i < CACHED_PROGRAMS; i++) {
        struct cached_program *c = &s->cache[i];
        if (c->prog && c->prog->roots[0] == prog->roots[0]) {
            slot = c;
            break;
        }
        if (!c->prog || (slot->prog && c->used < slot->used)) {
            slot = c;
        }
    }
    if (slot->prog != prog) {
        simt_program_unref(slot->prog);
        slot->prog = simt_program_ref(prog);
    }
    slot->used = atomic_load_explicit(&s->launches, memory_order_relaxed);
}

static int make_program(struct simt *s, uint32_t pc)
{
    struct cached_program *hit = cache_find(s, pc);
    if (hit) {
        s->prog = simt_program_ref(hit->prog);
        return 0;
    }
    return simt_program_build(&s->prog, &s->code, pc, s->trace.file ? 1 : SIMT_BLOCK_MAX_INSNS);
}

/* Take a reference to the launch's program, which the first worker makes. */
static int get_program(struct simt_cu *cu)
{
    struct simt *s = cu->dev;
    int r = 0;

    pthread_mutex_lock(&s->program_lock);
    if (!s->prog) {
        r = make_program(s, (uint32_t)cu->launch.kernel);
        s->nearby = r == 0 ? simt_program_reads_nearby(s->prog, &s->code) : 0;
    }
    if (r == 0) {
        cu->prog = simt_program_ref(s->prog);
        cu->reads = cu->prog->reads | s->nearby;
        cu->track_flags = cu->reads & SIMT_READS_FLAGS;
    }
    pthread_mutex_unlock(&s->program_lock);
    return r;
}

static void use_program(struct simt_cu *cu, struct simt_program *prog)
{
    if (cu->prog != prog) {
        simt_program_unref(cu->prog);
        cu->prog = simt_program_ref(prog);
    }
}

static void replace_program(struct simt *s, struct simt_program *prog)
{
    simt_program_unref(s->prog);
    s->prog = prog;
}

int simt_learn_pc(struct simt_cu *cu, uint32_t pc)
{
    struct simt *s = cu->dev;
    struct simt_program *bigger;
    uint32_t offset;
    int r = 0;

    pthread_mutex_lock(&s->program_lock);
    if (!simt_program_find(s->prog, pc, &offset)) {
        r = simt_program_extend(&bigger, s->prog, &s->code, pc, NULL, 0);
        if (r == 0) {
            replace_program(s, bigger);
        }
    }
    use_program(cu, s->prog);
    pthread_mutex_unlock(&s->program_lock);
    return r;
}

/* Learning costs a rebuild, so a program that is large or has many edges does without. */
static bool worth_learning(const struct simt_program *p, const struct simt_edge *edges, uint32_t count)
{
    if (p->edge_count + count > SIMT_PROGRAM_MAX_EDGES || p->word_count > SIMT_PROGRAM_MAX_INSNS / 8) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!simt_program_has_edge(p, edges[i].from, edges[i].to)) {
            return true;
        }
    }
    return false;
}

void simt_learn_edges(struct simt_cu *cu, const struct simt_edge *edges, uint32_t count)
{
    struct simt *s = cu->dev;
    struct simt_program *bigger;
    uint32_t offset;

    pthread_mutex_lock(&s->program_lock);
    if (worth_learning(s->prog, edges, count) &&
        simt_program_extend(&bigger, s->prog, &s->code, SIMT_NO_PC, edges, count) == 0) {
        replace_program(s, bigger);
    }
    if (simt_program_find(s->prog, edges[0].from, &offset)) { /* not if it was started afresh elsewhere */
        use_program(cu, s->prog);
    }
    pthread_mutex_unlock(&s->program_lock);
}

/* ---- workers ---- */

static void report_fault(struct simt *s, const struct simt_fault *fault)
{
    pthread_mutex_lock(&s->lock);
    if (!s->faulted) {
        s->faulted = true;
        s->fault = *fault;
    } else {
        s->fault.count += fault->count;
    }
    atomic_store(&s->stop, true);
    pthread_mutex_unlock(&s->lock);
}

static enum simt_stop run_path(struct simt_cu *cu, struct simt_warp *w, struct simt_path *p)
{
    return simt_trace_run(&cu->dev->trace, simt_interpreter(), cu, w, p);
}

static const struct simt_executor tracing = {.name = "trace", .run = run_path};

/* A unit takes so many blocks at once: a small share of the grid, and no more than this. */
#define BLOCK_SHARES 64u
#define MOST_BLOCKS  1024u

static int run_blocks(struct simt *s, struct simt_cu *cu)
{
    const struct simt_executor *engine = s->trace.file ? &tracing
                                         : cu->jit     ? jit_executor()
                                                       : simt_interpreter();

    /* Few at a time, lest one unit is left with much when the others have done. */
    uint64_t share = s->blocks / (BLOCK_SHARES * s->config.num_cus);
    uint64_t take = share < 1 ? 1 : share < MOST_BLOCKS ? share : MOST_BLOCKS;

    for (;;) {
        uint64_t block = atomic_fetch_add_explicit(&s->next_block, take, memory_order_relaxed);
        if (block >= s->blocks) {
            return 0;
        }
        uint64_t left = s->blocks - block;
        int r = simt_run_blocks(cu, engine, block, left < take ? left : take);
        if (r != 0) {
            return r;
        }
    }
}

/* A compute unit joined a launch at begun, ran its blocks from joined on, and has done. */
static void note_times(struct simt_cu *cu, uint64_t begun, uint64_t joined)
{
    uint64_t end = simt_now_ns(), ready = jit_ready_ns(cu->jit);

    ready = ready < joined ? joined : ready < end ? ready : end;
    simt_count(&cu->counters.wait_ns, joined - begun);
    simt_count(&cu->counters.interpret_ns, ready - joined);
    simt_count(&cu->counters.execute_ns, end - ready);
}

/* Run the blocks that no other unit takes, in compiled code if there is some. */
static int take_blocks(struct simt *s, struct simt_cu *cu)
{
    uint64_t begun = simt_now_ns();
    cu->jit = jit_join(s->jit, cu, s->config.engine != SIMT_ENGINE_AUTO);
    uint64_t joined = simt_now_ns();
    int r = run_blocks(s, cu);

    note_times(cu, begun, joined);
    jit_part(cu->jit);
    cu->jit = NULL;
    return r;
}

/* Take part in the launch in flight. 0, -EFAULT (reported) or -ECANCELED. */
static int join_launch(struct simt *s, struct simt_cu *cu)
{
    int r;

    cu->launch = s->launch;
    cu->witness = s->witness;
    cu->shared_size = s->launch.shared_size;
    cu->poll = 0;
    r = get_program(cu);
    if (r != 0) {
        simt_log(s, "simt: no memory for the program at 0x%llx", (unsigned long long)s->launch.kernel);
        cu->fault = (struct simt_fault){.cause = SIMT_BAD_LAUNCH, .count = 1};
        r = -EFAULT;
    } else {
        simt_timeline_join(cu);
        r = take_blocks(s, cu);
        simt_timeline_part(cu);
        simt_program_unref(cu->prog);
        cu->prog = NULL;
    }
    if (r == -EFAULT) {
        report_fault(s, &cu->fault);
    }
    return r;
}

static void retire_program(struct simt *s)
{
    pthread_mutex_lock(&s->program_lock);
    if (s->prog) {
        cache_keep(s, s->prog);
        simt_program_unref(s->prog);
        s->prog = NULL;
    }
    pthread_mutex_unlock(&s->program_lock);
}

/* The interpreter runs the launch too; ending otherwise than it is a fault. Called and returns with the lock
 * held; as the launch is still in flight, nothing but cancelling it can happen meanwhile. */
static void compare_with_interpreter(struct simt *s)
{
    struct simt_fault fault = s->fault;
    bool same;
    uint32_t addr;
    char why[160];

    pthread_mutex_unlock(&s->lock);
    same = simt_check_end(s->check, &s->launch, s->faulted ? &fault : NULL, &addr, why, sizeof(why));
    if (!same) {
        simt_log(s, "simt: kernel at 0x%llx: compiled code and interpreter disagree: %s",
                 (unsigned long long)s->launch.kernel, why);
    }
    pthread_mutex_lock(&s->lock);
    if (!same) {
        s->faulted = true;
        s->fault = (struct simt_fault){.cause = SIMT_ENGINE_MISMATCH, .addr = addr, .count = 1};
    }
}

/* engine=check */
static void finish_check(struct simt *s)
{
    if (!s->aborted) {
        compare_with_interpreter(s);
    }
    simt_check_commit(s->check);
}

/* The launch in flight is about to be told as ended. */
static void record_launch(struct simt *s, bool failed)
{
    uint64_t threads = 0, warp = s->config.warp_size;

    product(s->launch.block, &threads);
    if (s->timeline.spans) {
        simt_timeline_add(&s->timeline, &(struct simt_span){
                                            .kind = failed ? SIMT_SPAN_FAILED : SIMT_SPAN_LAUNCH,
                                            .launch = s->timeline.launch++,
                                            .begin = s->timeline_begin,
                                            .end = simt_timeline_now(s),
                                            .a = s->blocks,
                                            .b = (threads + warp - 1) / warp,
                                            .c = s->launch.kernel,
                                        });
    }
}

/* The last worker is out: make the device idle and tell. Called and returns with the lock held. */
static void finish_launch(struct simt *s)
{
    if (s->check) {
        finish_check(s);
    }
    struct simt_fault fault = s->fault;
    simt_done_fn done = s->done;
    void *opaque = s->opaque;
    bool failed = s->faulted || s->aborted;

    if (!s->faulted && s->aborted) {
        fault = (struct simt_fault){.cause = SIMT_CANCELLED};
    }
    retire_program(s);
    record_launch(s, failed);
    if (s->trace.file) {
        fflush(s->trace.file);
    }
    atomic_fetch_add(&s->launches, 1);
    atomic_fetch_add(&s->busy_ns, simt_now_ns() - s->started_ns);
    s->in_flight = false;
    atomic_store(&s->busy, false);
    if (done) {
        s->callbacks++;
        pthread_mutex_unlock(&s->lock);
        done(opaque, failed ? &fault : NULL);
        pthread_mutex_lock(&s->lock);
        s->callbacks--;
    }
    pthread_cond_broadcast(&s->idle);
}

/* Look for work for a while, as waking a thread takes longer than a small launch. One worker is enough. */
static void spin(struct simt *s)
{
    if (!s->may_spin || s->spinning) {
        return;
    }
    s->spinning = true;
    pthread_mutex_unlock(&s->lock);
    uint64_t end = simt_now_ns() + SPIN_NS;
    while (!atomic_load_explicit(&s->busy, memory_order_relaxed) && simt_now_ns() < end) {
    }
    pthread_mutex_lock(&s->lock);
    s->spinning = false;
}

static void await_work(struct simt *s)
{
    if (s->slots == 0) {
        spin(s);
    }
    while (!s->quit && s->slots == 0) {
        pthread_cond_wait(&s->work, &s->lock);
    }
}

static void *worker_main(void *arg)
{
    struct simt_cu *cu = arg;
    struct simt *s = cu->dev;

    fesetenv(FE_DFL_ENV); /* round to nearest, keep subnormals, whatever the creating thread had */
    pthread_mutex_lock(&s->lock);
    for (;;) {
        await_work(s);
        if (s->quit) {
            break;
        }
        s->slots--;
        s->active++;
        pthread_mutex_unlock(&s->lock);
        int r = join_launch(s, cu);
        pthread_mutex_lock(&s->lock);
        s->aborted |= r == -ECANCELED;
        s->slots = 0; /* no block is left for anyone who has not come yet */
        if (--s->active == 0) {
            finish_launch(s);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- creation ---- */

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value ? value : fallback;
}

static int fill_config(struct simt_config *c, const struct simt_config *given)
{
    *c = given ? *given : (struct simt_config){0};
    c->num_cus = or_default(c->num_cus, DEFAULT_CUS);
    c->warps_per_cu = or_default(c->warps_per_cu, DEFAULT_WARPS_PER_CU);
    c->warp_size = or_default(c->warp_size, SIMT_LANES);
    c->shared_max = or_default(c->shared_max, DEFAULT_SHARED);
    c->private_size = or_default(c->private_size, DEFAULT_PRIVATE);
    if (c->num_cus > MAX_CUS || c->warps_per_cu > MAX_WARPS_PER_CU || c->warp_size > SIMT_LANES ||
        c->shared_max > MAX_SHARED || c->private_size > MAX_PRIVATE || c->private_size % 16 != 0 ||
        c->engine > SIMT_ENGINE_CHECK ||
        (c->vector_bits != 0 && c->vector_bits != 128 && c->vector_bits != 256 && c->vector_bits != 512)) {
        return -EINVAL;
    }
    return 0;
}

static int open_trace(struct simt *s)
{
    if (!s->config.trace_path) {
        return 0;
    }
    s->config.trace_path = strdup(s->config.trace_path);
    if (!s->config.trace_path) {
        return -ENOMEM;
    }
    s->trace =
        (struct simt_trace){fopen(s->config.trace_path, "w"), s->config.trace_block, s->config.trace_warp};
    if (!s->trace.file) {
        simt_log(s, "simt: cannot write trace file %s: %s", s->config.trace_path, strerror(errno));
        return -EINVAL;
    }
    return 0;
}

static int open_timeline(struct simt *s)
{
    int r = simt_timeline_create(&s->timeline, &s->config);
    if (r != 0) {
        simt_log(s, "simt: cannot write timeline %s: %s", s->config.timeline_path, strerror(-r));
        r = r == -ENOMEM ? r : -EINVAL;
    }
    s->config.timeline_path = s->timeline.path;
    s->config.name = s->timeline.name;
    return r;
}

static void free_worker(struct worker *w)
{
    for (uint32_t i = 0; i < SIMT_MAX_WARPS && w->cu.warps[i]; i++) {
        free(w->cu.warps[i]->priv);
        free(w->cu.warps[i]);
    }
    free(w->cu.shared);
    free(w);
}

static int add_worker(struct simt *s)
{
    struct worker *w = calloc(1, sizeof(*w));
    if (!w) {
        return -ENOMEM;
    }
    w->cu.dev = s;
    w->cu.number = s->worker_count;
    w->cu.timeline = s->timeline.spans ? &s->timeline : NULL;
    w->cu.vram = (uint8_t *)s->code.vram;
    w->cu.vram_size = s->code.vram_size;
    w->cu.private_size = s->config.private_size;
    w->cu.warp_size = s->config.warp_size;
    w->cu.shared = calloc(1, s->config.shared_max);
    if (!w->cu.shared) {
        free_worker(w);
        return -ENOMEM;
    }
    if (pthread_create(&w->thread, NULL, worker_main, &w->cu) != 0) {
        free_worker(w);
        return -EAGAIN;
    }
    s->workers[s->worker_count++] = w;
    return 0;
}

int simt_create(struct simt **out, const struct simt_config *config, void *vram, uint64_t vram_size)
{
    struct simt_config c;
    int r = fill_config(&c, config);

    if (r != 0 || !vram || (uintptr_t)vram % 4 != 0 || vram_size == 0 || vram_size % 4096 != 0 ||
        vram_size > SIMT_MAX_VRAM_SIZE) {
        return -EINVAL;
    }
    struct simt *s = calloc(1, sizeof(*s));
    if (!s) {
        return -ENOMEM;
    }
    s->config = c;
    s->code = (struct simt_code){vram, vram_size};
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->program_lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->idle, NULL);
    s->may_spin = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    r = open_trace(s);
    if (r == 0) {
        r = open_timeline(s);
    }
    if (r == 0 && c.engine != SIMT_ENGINE_INTERP) {
        s->jit = jit_create(s);
    }
    if (r == 0 && c.engine == SIMT_ENGINE_CHECK) {
        r = simt_check_create(&s->check, &c, vram, vram_size);
    }
    if (s->check) {
        s->code.vram = simt_check_vram(s->check);
    }
    for (uint32_t i = 0; r == 0 && i < c.num_cus; i++) {
        r = add_worker(s);
    }
    if (r != 0) {
        simt_destroy(s);
        return r;
    }
    *out = s;
    return 0;
}

void simt_destroy(struct simt *s)
{
    if (!s) {
        return;
    }
    simt_cancel(s);
    simt_wait(s);
    pthread_mutex_lock(&s->lock);
    s->quit = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    for (uint32_t i = 0; i < s->worker_count; i++) {
        pthread_join(s->workers[i]->thread, NULL);
        free_worker(s->workers[i]);
    }
    jit_destroy(s->jit);
    simt_check_destroy(s->check);
    for (unsigned i = 0; i < CACHED_PROGRAMS; i++) {
        simt_program_unref(s->cache[i].prog);
    }
    if (s->trace.file) {
        fclose(s->trace.file);
    }
    simt_timeline_write(s);
    simt_timeline_destroy(&s->timeline);
    free((char *)s->config.trace_path);
    pthread_cond_destroy(&s->idle);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->program_lock);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const struct simt_config *simt_get_config(const struct simt *s)
{
    return &s->config;
}

/* ---- launches ---- */

int simt_check_launch(const struct simt *s, const struct simt_launch *l, char *why, size_t len)
{
    unsigned long long vram = s->code.vram_size;
    uint64_t blocks, threads;

    if (l->kernel % 4 != 0 || l->kernel >= vram) {
        snprintf(why, len, "kernel address 0x%llx is not a multiple of 4 below VRAM size 0x%llx",
                 (unsigned long long)l->kernel, vram);
    } else if (l->args > vram) {
        snprintf(why, len, "argument address 0x%llx is beyond VRAM size 0x%llx", (unsigned long long)l->args,
                 vram);
    } else if (!product(l->grid, &blocks)) {
        snprintf(why, len, "grid %u x %u x %u is empty or has 2^64 blocks or more", l->grid[0], l->grid[1],
                 l->grid[2]);
    } else if (!product(l->block, &threads) || threads > SIMT_MAX_BLOCK) {
        snprintf(why, len, "block %u x %u x %u is empty or has more than %u threads", l->block[0],
                 l->block[1], l->block[2], SIMT_MAX_BLOCK);
    } else if (l->shared_size > s->config.shared_max) {
        snprintf(why, len, "shared memory size %u is more than the device's %u", l->shared_size,
                 s->config.shared_max);
    } else {
        return 0;
    }
    return -EINVAL;
}

static void begin(struct simt *s, const struct simt_launch *launch, simt_done_fn done, void *opaque)
{
    uint32_t wanted = s->config.deterministic || s->trace.file || s->check ? 1 : s->worker_count;

    if (s->check) {
        simt_check_begin(s->check);
        s->witness = simt_check_witness(s->check);
    }
    s->launch = *launch;
    product(launch->grid, &s->blocks);
    s->done = done;
    s->opaque = opaque;
    s->faulted = s->aborted = false;
    s->fault = (struct simt_fault){0};
    s->in_flight = true;
    s->started_ns = simt_now_ns();
    s->timeline_begin = simt_timeline_now(s);
    atomic_store(&s->next_block, 0);
    atomic_store(&s->deadline_ns,
                 s->config.timeout_ms ? s->started_ns + s->config.timeout_ms * 1000000ull : 0);
    atomic_store(&s->stop, false);
    atomic_store(&s->busy, true);
    s->slots = s->blocks < wanted ? (uint32_t)s->blocks : wanted;
    if (s->slots == 1 && !s->spinning) {
        pthread_cond_signal(&s->work);
    } else if (s->slots > 1) {
        pthread_cond_broadcast(&s->work);
    }
}

int simt_start(struct simt *s, const struct simt_launch *launch, simt_done_fn done, void *opaque)
{
    char why[160];
    int r = 0;

    if (simt_check_launch(s, launch, why, sizeof(why)) != 0) {
        simt_log(s, "simt: bad launch: %s", why);
        return -EINVAL;
    }
    pthread_mutex_lock(&s->lock);
    if (s->in_flight) {
        r = -EBUSY;
    } else {
        begin(s, launch, done, opaque);
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

void simt_drain(struct simt *s)
{
    simt_wait(s);
    jit_drain(s->jit);
}

void simt_wait(struct simt *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->in_flight || s->callbacks > 0) {
        pthread_cond_wait(&s->idle, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

struct outcome {
    bool failed;
    struct simt_fault fault;
};

static void note_outcome(void *opaque, const struct simt_fault *fault)
{
    struct outcome *o = opaque;
    o->failed = fault != NULL;
    if (fault) {
        o->fault = *fault;
    }
}

int simt_run(struct simt *s, const struct simt_launch *launch, struct simt_fault *fault)
{
    struct outcome o = {0};
    int r = simt_start(s, launch, note_outcome, &o);

    if (r != 0) {
        return r;
    }
    simt_wait(s);
    if (!o.failed) {
        return 0;
    }
    if (fault) {
        *fault = o.fault;
    }
    return o.fault.cause == SIMT_CANCELLED ? -ECANCELED : -EFAULT;
}

void simt_cancel(struct simt *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->in_flight) {
        atomic_store(&s->stop, true);
    }
    pthread_mutex_unlock(&s->lock);
}

bool simt_busy(const struct simt *s)
{
    return atomic_load(&s->busy);
}

/* ---- counters ---- */

static uint64_t relaxed(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static struct simt_counters totals(const struct simt *s)
{
    struct simt_counters t = {.launches = relaxed(&s->launches), .busy_ns = relaxed(&s->busy_ns)};

    for (uint32_t i = 0; i < s->worker_count; i++) {
        const struct simt_cu_counters *c = &s->workers[i]->cu.counters;
        t.insns += relaxed(&c->insns);
        t.lane_insns += relaxed(&c->lane_insns);
        t.divergences += relaxed(&c->divergences);
        t.transactions += relaxed(&c->transactions);
        t.bytes += relaxed(&c->bytes);
        t.barriers += relaxed(&c->barriers);
    }
    return t;
}

void simt_counters_read(const struct simt *s, struct simt_counters *out)
{
    struct simt *unlocked = (struct simt *)s; /* only the mutex is written */

    pthread_mutex_lock(&unlocked->lock);
    struct simt_counters t = totals(s), *b = &unlocked->base;
    *out = (struct simt_counters){
        .insns = t.insns - b->insns,
        .lane_insns = t.lane_insns - b->lane_insns,
        .divergences = t.divergences - b->divergences,
        .transactions = t.transactions - b->transactions,
        .bytes = t.bytes - b->bytes,
        .barriers = t.barriers - b->barriers,
        .launches = t.launches - b->launches,
        .busy_ns = t.busy_ns - b->busy_ns,
    };
    if (s->in_flight) {
        out->busy_ns += simt_now_ns() - s->started_ns;
    }
    pthread_mutex_unlock(&unlocked->lock);
}

void simt_counters_clear(struct simt *s)
{
    pthread_mutex_lock(&s->lock);
    s->base = totals(s);
    pthread_mutex_unlock(&s->lock);
}

void simt_statistics_read(const struct simt *s, struct simt_statistics *out)
{
    *out = (struct simt_statistics){0};
    jit_statistics(s->jit, out);
    for (uint32_t i = 0; i < s->worker_count; i++) {
        const struct simt_cu_counters *c = &s->workers[i]->cu.counters;
        out->wait_ns += relaxed(&c->wait_ns);
        out->interpret_ns += relaxed(&c->interpret_ns);
        out->execute_ns += relaxed(&c->execute_ns);
        out->compiled_insns += relaxed(&c->compiled_insns);
    }
}

/* ---- timeline ---- */

uint64_t simt_timeline_now(const struct simt *s)
{
    return simt_timeline_clock(&s->timeline);
}

void simt_timeline_transfer(struct simt *s, enum simt_direction direction, uint64_t begin, uint64_t bytes)
{
    if (s->timeline.spans) {
        simt_timeline_add(&s->timeline, &(struct simt_span){
                                            .kind = SIMT_SPAN_TO_DEVICE + direction,
                                            .begin = begin,
                                            .end = simt_timeline_now(s),
                                            .a = bytes,
                                        });
    }
}

void simt_timeline_write(struct simt *s)
{
    int r = simt_timeline_flush(&s->timeline);
    if (r != 0) {
        simt_log(s, "simt: cannot write timeline %s: %s", s->timeline.path, strerror(-r));
    }
}
