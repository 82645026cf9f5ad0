/* SPDX-License-Identifier: MIT */
/*
 * The worker threads under ThreadSanitizer (`make tsan`): kernels without data races, spread over compute
 * units, while another thread reads the counters, asks whether the device is busy, and cancels. TSan's own
 * report makes the exit status non-zero.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "simt/simt.h"
#include "code.h"

#define VRAM_SIZE    (1u << 20)
#define KERNEL_ADDR  0x1000u
#define ENDLESS_ADDR 0x2000u
#define ARGS_ADDR    0x100u
#define COUNTER_ADDR 0x8000u
#define OUT_ADDR     0x10000u
#define BLOCKS       64u
#define THREADS      96u
#define ROUNDS       50u

static uint8_t vram[VRAM_SIZE];

struct watcher {
    struct simt *s;
    atomic_bool stop;
};

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "threads: %s\n", what);
        exit(1);
    }
}

/* Each thread: an atomic add to one word by all, a block barrier, its own word by plain stores. */
static void write_kernels(void)
{
    struct code c = {.base = KERNEL_ADDR};
    uint32_t args[SIMT_ARG_REGS] = {COUNTER_ADDR, OUT_ADDR}, self;

    code_li(&c, 5, SIMT_CTRL_BASE);
    code_emit(&c, rv_lw(6, 5, 0));
    code_emit(&c, rv_lw(7, 5, 0x10));
    code_emit(&c, rv_lw(28, 5, 0x20));
    code_emit(&c, rv_mul(7, 7, 28));
    code_emit(&c, rv_add(6, 6, 7));
    code_emit(&c, rv_slli(6, 6, 2));
    code_emit(&c, rv_add(11, 11, 6));
    code_emit(&c, rv_addi(7, 0, 1));
    code_emit(&c, rv_r(OP_AMO, 2, 0, 0, 10, 7)); /* amoadd.w x0, x7, (a0) */
    code_li(&c, 5, SIMT_SYNC_BASE);
    code_emit(&c, rv_sw(0, 5, 0));
    code_emit(&c, rv_lw(28, 11, 0));
    code_emit(&c, rv_addi(28, 28, 1));
    code_emit(&c, rv_sw(28, 11, 0));
    code_emit(&c, rv_jalr(0, 1, 0));
    memcpy(vram + KERNEL_ADDR, c.words, 4 * (size_t)c.count);
    code_free(&c);
    self = rv_jal(0, 0);
    memcpy(vram + ENDLESS_ADDR, &self, 4);
    memcpy(vram + ARGS_ADDR, args, sizeof(args));
}

static void *watch(void *arg)
{
    struct watcher *w = arg;
    struct simt_counters counters;
    uint64_t sink = 0;

    while (!atomic_load(&w->stop)) {
        simt_counters_read(w->s, &counters);
        sink += counters.insns + simt_busy(w->s);
        if (sink % 7 == 0)
            simt_counters_clear(w->s);
    }
    return NULL;
}

static void run_rounds(struct simt *s)
{
    const struct simt_launch launch = {
        .kernel = KERNEL_ADDR, .args = ARGS_ADDR, .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    struct simt_fault fault;
    uint32_t word;

    for (uint32_t round = 0; round < ROUNDS; round++)
        require(simt_run(s, &launch, &fault) == 0, "a launch failed");
    memcpy(&word, vram + COUNTER_ADDR, 4);
    require(word == ROUNDS * BLOCKS * THREADS, "atomic additions were lost");
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
        memcpy(&word, vram + OUT_ADDR + 4 * i, 4);
        require(word == ROUNDS, "a thread's stores were lost");
    }
}

static void cancel_rounds(struct simt *s)
{
    const struct simt_launch launch = {
        .kernel = ENDLESS_ADDR, .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};

    for (uint32_t round = 0; round < 20; round++) {
        struct timespec pause = {.tv_nsec = 100000 * (round % 10)};

        require(simt_start(s, &launch, NULL, NULL) == 0, "a launch did not start");
        require(simt_start(s, &launch, NULL, NULL) == -EBUSY, "a second launch started");
        nanosleep(&pause, NULL);
        simt_cancel(s);
        simt_wait(s);
        require(!simt_busy(s), "busy after simt_wait()");
    }
}

int main(void)
{
    for (uint32_t cus = 1; cus <= 8; cus *= 2) {
        const struct simt_config config = {.num_cus = cus};
        struct watcher w = {0};
        pthread_t thread;

        memset(vram, 0, sizeof(vram));
        write_kernels();
        require(simt_create(&w.s, &config, vram, VRAM_SIZE) == 0, "no device");
        require(pthread_create(&thread, NULL, watch, &w) == 0, "no thread");
        run_rounds(w.s);
        cancel_rounds(w.s);
        atomic_store(&w.stop, true);
        pthread_join(thread, NULL);
        simt_destroy(w.s);
    }
    printf("threads: %u launches on 1, 2, 4 and 8 compute units, every result right\n", 4 * ROUNDS);
    return 0;
}
