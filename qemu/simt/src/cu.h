/* SPDX-License-Identifier: MIT */
/*
 * A compute unit at work: its warps, memory windows and counters, and the seam between scheduling (sched.c)
 * and the engines that execute instructions.
 */
#ifndef SIMT_CU_H
#define SIMT_CU_H

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "path.h"
#include "program.h"
#include "simt/simt.h"
#include "timeline.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the device is little-endian and shares memory with its host"
#endif

#define SIMT_MAX_WARPS (SIMT_MAX_BLOCK / 1u) /* warp_size may be 1 */

/* Lanes of a mask, lowest first. */
#define EACH_LANE(mask, l)                                                                                   \
    for (uint32_t todo_ = (mask), l; todo_ != 0 && (l = (uint32_t)__builtin_ctz(todo_), true);               \
         todo_ &= todo_ - 1)

typedef uint32_t simt_row[SIMT_LANES]; /* one register of all lanes */

/* Rounding modes as the interpreter sees them: 0..3 host-roundable, or per-lane software arithmetic. */
#define SIMT_RM_SOFT 0xffu

struct simt_warp {
    alignas(64) simt_row x[33]; /* x[32] takes results for x0 */
    simt_row f[32];
    uint32_t scalars[64]; /* the JIT's, with lean: of x, then f */
    simt_row lanes;       /* all ones in the running path's lanes, else 0 */
    simt_row addr;        /* addresses of the memory instruction being executed */
    simt_row target;      /* of the jalr being executed */
    simt_row fflags, frm;
    simt_row ballot;    /* last value stored to the ballot word */
    simt_row exchange;  /* exchange window */
    simt_row thread[3]; /* indices in a block of the first two dimensions thread_dim */
    uint32_t thread_dim[2];
    simt_row reserved_addr, reserved_value; /* lr.w */
    uint32_t reserved;                      /* lanes holding a reservation */
    uint8_t rm_mode[8];                     /* by rm field of an instruction: 0..3 or SIMT_RM_SOFT */
    uint32_t index;                         /* in the block */
    bool begun;                             /* in this block: all that follows is of it, and registers */
    uint32_t lean;                          /* rows are as compiled code left them for itself; the JIT's */
    uint32_t turns;                         /* it has had in this block */
    struct simt_tree tree;
    uint32_t *priv;      /* private memory: word w of lane l at [w * SIMT_LANES + l] */
    uint32_t priv_dirty; /* lowest private word that may be non-zero */
};

/* Registers of a warp as a kernel sees them. */
struct simt_registers {
    simt_row x[32], f[32];
};

/* Lanes that go on at pc. */
struct simt_place {
    uint32_t pc, mask;
    int32_t depth;
};

/* Written by one worker, read by anyone. */
struct simt_cu_counters {
    _Atomic uint64_t insns, lane_insns, divergences, transactions, bytes, barriers;
    _Atomic uint64_t compiled_insns, wait_ns, interpret_ns, execute_ns; /* struct simt_statistics */
};

struct simt_cu {
    struct simt *dev;
    uint32_t number;
    struct simt_program *prog; /* snapshot in use */
    uint8_t *vram;
    uint64_t vram_size;
    uint8_t *shared;
    uint32_t shared_size; /* of the launch */
    uint32_t private_size;
    uint32_t warp_size;
    unsigned reads;   /* SIMT_READS_* of the program at the launch's start and of code near it */
    bool track_flags; /* fflags are observed: software arithmetic */
    struct simt_launch launch;
    uint64_t block_linear;
    uint32_t block[3];
    uint32_t warp_count;                     /* of the block */
    struct simt_warp *warps[SIMT_MAX_WARPS]; /* allocated when first needed */

    uint32_t args[SIMT_ARG_REGS]; /* words that the block's threads begin with */
    int64_t poll;                 /* instructions until warps that begin look at the clock */

    /* In and out of struct simt_executor's run(). */
    int64_t fuel;            /* in: start no block when it is 0 or less */
    uint32_t frontier;       /* in: but for the first, start no block of this order or a higher one */
    struct simt_fault fault; /* out, with SIMT_STOP_FAULT */
    uint32_t split_lanes;    /* out: lanes that take the branch, or that stored to the barrier */
    const struct simt_block *split_block; /* out: the block that ends in the branch or jalr */

    /* In and out of begin(). */
    struct {
        uint32_t warp; /* in: to begin; out: the one that begin() came back for, those before it have ended */
        bool many;     /* in: go on with the warps behind it */
        uint64_t blocks; /* in: and with those of so many blocks further on in x, once the block has ended */
    } sweep;

    /* With SIMT_STOP_SCATTER: where lanes of the path go on; its other lanes have ended. */
    struct simt_place places[SIMT_LANES];
    uint32_t place_count;

    struct simt_witness *witness; /* engine=check notes registers here; else NULL */
    struct jit_session *jit;      /* compiled code of the launch, NULL for none */
    uint32_t turn_atomics;        /* atomics since the warp's turn began */
    uint64_t transactions, bytes;
    struct simt_cu_counters counters;

    struct simt_timeline *timeline; /* NULL: none is wanted */
    struct simt_cu_timeline part;
};

/* A warp's turn ends after so many instructions, so that a thread that spins on another one sees it move
 * soon. Lanes that wait in joins are let go, which costs convergence, only after so many turns or, as whoever
 * uses atomics may wait for one of them, after a turn with so many atomics. */
#define SIMT_TURN_INSNS       (1 << 15)
#define SIMT_FAIR_INSNS       (1 << 10)
#define SIMT_TURNS_TO_RELEASE 64u
#define SIMT_TURN_ATOMICS     1024u

/* Why a path stopped. path->pc is where it goes on unless said otherwise. */
enum simt_stop {
    SIMT_STOP_NOT_BEGUN, /* only from begin(): nothing was done */
    SIMT_STOP_JOIN,      /* stands where its join is, or other paths should catch up first */
    SIMT_STOP_BRANCH,    /* pc at a branch that split the warp: split_block, split_lanes */
    SIMT_STOP_INDIRECT,  /* pc at a jalr with several targets: split_block, warp->target */
    SIMT_STOP_EXIT,      /* executed ebreak */
    SIMT_STOP_BARRIER,   /* split_lanes stored to the barrier, pc behind the store */
    SIMT_STOP_SCATTER,   /* lanes are at several places, or some have ended: places */
    SIMT_STOP_FUEL,      /* fuel used up */
    SIMT_STOP_MISS,      /* pc is not in the program */
    SIMT_STOP_FAULT,     /* fault is set, pc at the instruction, no lane has executed it */
};

/* An engine: run() executes path p of warp w until it stops. It adds to path->retired and the instruction
 * counters what it retired. begin(), which may be NULL, does the same for a warp that has not begun, from the
 * kernel's first instruction on, without the cost of registers and a path that no one may ever need: they
 * exist when it returns (simt_begin_path(); the path is number 0), unless it says NOT_BEGUN, or all threads
 * have ended. While they end, it may go on with the next warps (cu->sweep). */
struct simt_executor {
    const char *name;
    enum simt_stop (*run)(struct simt_cu *cu, struct simt_warp *w, struct simt_path *p);
    enum simt_stop (*begin)(struct simt_cu *cu);
};

/* The interpreter built for the best instruction set this host has. */
const struct simt_executor *simt_interpreter(void);

/* The threads of warp w of the block, a bit each. */
uint32_t simt_warp_threads(const struct simt_cu *cu, const struct simt_warp *w);

/* Begin a warp of the block: everything but its registers. */
void simt_begin_path(struct simt_cu *cu, struct simt_warp *w);

/* A sweep has come to this warp, of the block that many further on in x: the warps before it have ended,
 * having issued so many instructions. */
void simt_sweep_to(struct simt_cu *cu, uint64_t blocks, uint32_t warp, uint64_t insns);

/* Add to a counter that only this thread writes. */
static inline void simt_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* Fill cu->fault: lanes (non-empty) of path p fault at pc; addr matters for the lowest of them. */
void simt_raise(struct simt_cu *cu, const struct simt_warp *w, const struct simt_path *p,
                enum simt_cause cause, uint32_t lanes, uint32_t pc, uint32_t insn, uint32_t addr);

static inline void simt_copy_registers(const struct simt_warp *w, struct simt_registers *out)
{
    memcpy(out->x, w->x, sizeof(out->x));
    memcpy(out->f, w->f, sizeof(out->f));
}

/* Run count blocks from first on to their end. 0, or -EFAULT with cu->fault set. */
int simt_run_blocks(struct simt_cu *cu, const struct simt_executor *engine, uint64_t first, uint64_t count);

#endif
