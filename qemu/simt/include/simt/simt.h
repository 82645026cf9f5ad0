/* SPDX-License-Identifier: MIT */
/*
 * simt: a SIMT GPU as a plain C library.
 *
 * It executes RV32IMAF kernels out of a flat block of device memory (VRAM). A warp of up to 32 lanes
 * shares one program counter; blocks of warps are spread over compute units, one host thread each.
 * The QEMU device (qemu/hw) and the in-process simulator (drivers/gpgpu/sim) are two shells around it.
 * docs/device.md is the contract of what a kernel sees.
 *
 * Thread safety: one controlling thread per device calls start/run/wait/destroy; simt_cancel(), simt_busy(),
 * simt_counters_*() and simt_statistics_read() may be called from any thread at any time.
 */
#ifndef SIMT_SIMT_H
#define SIMT_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMT_LANES         32u   /* lanes of a warp; mhartid has five bits for them */
#define SIMT_MAX_BLOCK     1024u /* threads of a block */
#define SIMT_ARG_REGS      8u    /* argument words loaded into a0..a7 */
#define SIMT_MAX_VRAM_SIZE (1ull << 30)
#define SIMT_MAX_COMPILED  64u /* kernels whose compiled code a device keeps */

/* What a kernel sees (32-bit core addresses). VRAM is at 0. */
#define SIMT_CTRL_BASE    0x80000000u /* thread, block and grid indices, read-only */
#define SIMT_SYNC_BASE    0x80001000u /* barrier, ballot, exchange window */
#define SIMT_SHARED_BASE  0x90000000u /* shared memory of the block */
#define SIMT_PRIVATE_BASE 0xA0000000u /* private memory (stack) of the thread */
#define SIMT_EXIT_PC      0xC0000000u /* initial ra: executing here ends the thread */

/* FAULT_CAUSE of the device. */
enum simt_cause {
    SIMT_OK = 0,
    SIMT_ILLEGAL_INSN = 1,
    SIMT_FETCH_FAULT = 2,
    SIMT_ACCESS_FAULT = 3,
    SIMT_MISALIGNED_ATOMIC = 4,
    SIMT_LIMIT = 5, /* instruction budget or time limit */
    SIMT_BARRIER_DEADLOCK = 6,
    SIMT_BAD_LAUNCH = 7,
    SIMT_CANCELLED = 8,       /* not a fault: simt_cancel() ended the launch */
    SIMT_ENGINE_MISMATCH = 9, /* SIMT_ENGINE_CHECK: compiled code and the interpreter disagree */
};

/* The first fault of a launch. */
struct simt_fault {
    enum simt_cause cause;
    uint32_t pc;        /* of the faulting instruction */
    uint32_t addr;      /* of the access, for causes 2, 3 and 4 */
    uint32_t insn;      /* instruction word, 0 if it could not be fetched */
    uint32_t mhartid;   /* of the lowest faulting lane */
    uint32_t mask;      /* lanes active in the warp when it happened */
    uint32_t thread[3]; /* x, y, z in the block */
    uint32_t block[3];  /* x, y, z in the grid */
    uint32_t count;     /* threads that faulted before the launch stopped, at least 1 */
};

/* Counters since creation or simt_counters_clear(); 64-bit, they wrap. */
struct simt_counters {
    uint64_t insns;        /* instructions issued, one per warp */
    uint64_t lane_insns;   /* instructions times active lanes */
    uint64_t divergences;  /* control transfers that split a warp */
    uint64_t transactions; /* 64-byte segments of VRAM touched, summed over memory instructions */
    uint64_t bytes;        /* bytes loaded and stored by lanes */
    uint64_t barriers;     /* block barriers completed */
    uint64_t launches;     /* launches finished, whatever the outcome */
    uint64_t busy_ns;      /* wall-clock nanoseconds with a launch in flight */
};

/* Where the time of launches went, and how much of them compiled code did. Since creation; times in
 * nanoseconds are sums over compute units. */
struct simt_statistics {
    uint64_t compiled;       /* kernels compiled, each variant of one counts */
    uint64_t kept;           /* of these, those whose code is kept for further launches */
    uint64_t refused;        /* kernels that are interpreted as compiled code cannot do them */
    const char *refusal;     /* why the last of these was refused, static; NULL for none */
    uint64_t compile_ns;     /* of the thread that compiles */
    uint64_t wait_ns;        /* compute units waited for it (engine=jit, check) */
    uint64_t interpret_ns;   /* in launches while there was no compiled code for them */
    uint64_t execute_ns;     /* in launches with compiled code, what it leaves to the interpreter included */
    uint64_t compiled_insns; /* of simt_counters.insns, those that compiled code issued */
};

/* AUTO interprets, and compiles in the background what runs for long; JIT compiles before it runs; CHECK is
 * JIT in the deterministic schedule, every launch repeated by the interpreter on a copy of VRAM and compared.
 * Kernels that compiled code cannot do are interpreted, said once in the log. */
enum simt_engine { SIMT_ENGINE_AUTO, SIMT_ENGINE_INTERP, SIMT_ENGINE_JIT, SIMT_ENGINE_CHECK };

/* Zero-initialise, then set what differs; simt_create() replaces 0 by the default in brackets. */
struct simt_config {
    uint32_t num_cus;      /* compute units = worker threads, 1..64 [4] */
    uint32_t warps_per_cu; /* informational, 1..32 [4] */
    uint32_t warp_size;    /* threads put into a warp, 1..32 [32] */
    uint32_t shared_max;   /* largest shared memory of a block, bytes [64 KiB] */
    uint32_t private_size; /* private bytes of a thread, multiple of 16 [16 KiB] */
    enum simt_engine engine;
    /* Vectors of compiled code: 128, 256 or 512 [0: the host's widest]. Wider ones than the host's are put
     * together from several, narrower ones use no instruction that a host of that width lacks. */
    uint32_t vector_bits;
    uint64_t max_insns;     /* per-thread instruction budget of a launch [0: none] */
    uint32_t timeout_ms;    /* wall-clock limit of a launch [0: none] */
    bool deterministic;     /* run blocks in order on one worker, the reference schedule */
    const char *trace_path; /* write a trace of one warp here [NULL: none]; copied */
    uint64_t trace_block;   /* linear index of the traced block */
    uint32_t trace_warp;    /* warp of that block */
    /* Write here when launches, blocks and warps ran, and the front end's transfers [NULL: none]; copied. */
    const char *timeline_path;
    const char *name;                /* of the device in the timeline ["simt"]; copied */
    uint64_t (*clock)(void *opaque); /* ns, for the timeline; from any thread [CLOCK_MONOTONIC] */
    void *clock_opaque;
    void (*log)(void *opaque, const char *msg); /* one line, no newline [NULL: stderr] */
    void *log_opaque;
};

struct simt_launch {
    uint64_t kernel;      /* VRAM offset of the first instruction, multiple of 4 */
    uint64_t args;        /* VRAM offset of the argument words */
    uint32_t grid[3];     /* blocks, x y z, each at least 1; any product that fits 64 bits */
    uint32_t block[3];    /* threads, x y z, each at least 1; product at most SIMT_MAX_BLOCK */
    uint32_t shared_size; /* bytes of shared memory per block, at most shared_max */
};

struct simt;

/* Called once per started launch, on a worker thread, after the device has become idle: a new launch may
 * be started from within, and its callback may then begin before this one has returned. fault is NULL when
 * every thread ended normally; it is valid during the call. */
typedef void (*simt_done_fn)(void *opaque, const struct simt_fault *fault);

/* Create a device over vram (vram_size bytes, a multiple of 4096, at most SIMT_MAX_VRAM_SIZE; owned by the
 * caller, must outlive the device). 0 and *out, or -EINVAL, -ENOMEM, -EAGAIN (threads). */
int simt_create(struct simt **out, const struct simt_config *config, void *vram, uint64_t vram_size);

/* Cancel what runs, join the workers, free. NULL is allowed. */
void simt_destroy(struct simt *s);

/* The configuration in force, defaults filled in. */
const struct simt_config *simt_get_config(const struct simt *s);

/* Check a launch without running it. 0, or -EINVAL with a reason of at most len bytes in why. */
int simt_check_launch(const struct simt *s, const struct simt_launch *launch, char *why, size_t len);

/* Start a launch and return at once. 0, -EBUSY (one is in flight) or -EINVAL (simt_check_launch). */
int simt_start(struct simt *s, const struct simt_launch *launch, simt_done_fn done, void *opaque);

/* Wait until no launch is in flight and its done callback has returned. Not from the callback. */
void simt_wait(struct simt *s);

/* simt_wait(), and until nothing is being compiled in the background. For whoever ends the process without
 * simt_destroy(): exit() takes down libraries under the threads that still use them. */
void simt_drain(struct simt *s);

/* Start and wait. 0; -EFAULT with *fault set; -EINVAL; -EBUSY; -ECANCELED. */
int simt_run(struct simt *s, const struct simt_launch *launch, struct simt_fault *fault);

/* Ask the launch in flight to stop: it ends within about a millisecond with cause SIMT_CANCELLED. Does not
 * wait; no effect when idle. */
void simt_cancel(struct simt *s);

bool simt_busy(const struct simt *s);

void simt_counters_read(const struct simt *s, struct simt_counters *out);
void simt_counters_clear(struct simt *s);

/* Exact when no launch is in flight; one in flight adds its times when it ends. */
void simt_statistics_read(const struct simt *s, struct simt_statistics *out);

/* ---- timeline; without simt_config.timeline_path these do nothing ---- */

enum simt_direction { SIMT_TO_DEVICE, SIMT_FROM_DEVICE, SIMT_WITHIN_DEVICE };

/* The timeline's clock, 0 without a timeline. */
uint64_t simt_timeline_now(const struct simt *s);

/* A transfer of `bytes` that began then has ended. From any thread. */
void simt_timeline_transfer(struct simt *s, enum simt_direction direction, uint64_t begin, uint64_t bytes);

/* Append to the file what was recorded since the last call; the device is idle. simt_destroy() does it, too.
 */
void simt_timeline_write(struct simt *s);

/* Static name of a cause ("illegal instruction"). */
const char *simt_cause_name(enum simt_cause cause);

/* Write the fault as people read it into buf: cause, pc, disassembled instruction, address, thread, mask.
 * Returns what snprintf would. */
int simt_fault_describe(const struct simt_fault *fault, char *buf, size_t len);

#endif
