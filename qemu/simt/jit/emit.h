/* SPDX-License-Identifier: MIT */
/*
 * Compiling a graph to one LLVM function.
 *
 * Each node has two bodies. The full body runs when all 32 lanes of the warp are at the node: no masks, and
 * registers that are uniform or affine are scalars. The masked body runs for the lanes of a bit mask: every
 * node has a mask of lanes that wait to execute it (pend); masked bodies are visited in graph order, a loop
 * again and again until no lane waits at its header, so lanes meet again at the first node they share. Every
 * live lane is in exactly one pend mask or in the mask of the running body. When a branch in a full body
 * splits the warp, masked bodies take over; where a masked body finds the full mask at a join and the
 * registers are as uniform as the full body wants them, the full body takes over.
 *
 * Compiled code can be left before any instruction (a check failed, fuel used up): registers go to the warp's
 * rows (rows.h) and the interpreter goes on, so rare cases and faults need no code here.
 */
#ifndef SIMT_JIT_EMIT_H
#define SIMT_JIT_EMIT_H

#include <llvm-c/Core.h>

#include "abs.h"
#include "frame.h"
#include "host.h"
#include "rows.h"

#define JIT_MAX_LANES  16u /* of one LLVM vector */
#define JIT_MAX_CHUNKS (SIMT_LANES / 8u)

/* A register's value: a scalar s (the value or the affine base) or vectors v, made from s or loaded when
 * asked. */
struct jit_value {
    struct jit_abs a;
    LLVMValueRef s;
    LLVMValueRef v[JIT_MAX_CHUNKS];
    bool stored; /* s and v are loaded from the register's variables when asked */
};

/* Registers inside a node. */
struct jit_regs {
    struct jit_value cur[JIT_REGS];
    uint64_t have, written;
};

/* A place to go back to when a later check of the node fails: nothing observable has happened since. */
struct jit_checkpoint {
    struct jit_regs regs;
    uint32_t insn;          /* index in the node */
    uint64_t bytes;         /* moved by each lane in the node before it */
    LLVMBasicBlockRef exit; /* where leaving code is, made when first asked */
};

/* Memory instructions of a node that share a base register value, checked at once. */
struct jit_group {
    int32_t low, high; /* bytes touched relative to the base register: [low, high) */
    LLVMValueRef host; /* host address of base + low once checked */
    bool stores, checked;
    bool words; /* all are of 4 bytes, as far apart as words are */
};

struct jit_emit {
    const struct jit_host *host;
    const struct jit_graph *g;
    const struct jit_variant *variant;
    const struct jit_state *full; /* at the entry of full bodies */
    const struct jit_masked *masked;

    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef fn, frame;
    unsigned lanes, chunks;                                            /* of a vector; vectors of a warp */
    LLVMTypeRef i1, i8, i16, i32, i64, lane_bits, f32, ptr, vec, fvec; /* vec: lanes x i32 */
    LLVMValueRef vram, shared, vram_size, shared_size, private_size, mask_in, entry, alone, stream;
    LLVMValueRef warp, priv, x_rows, f_rows, scalars; /* of the warp that runs */
    LLVMValueRef scalar_var[JIT_REGS], pend_var[JIT_MAX_NODES];
    LLVMValueRef vector_var[2][JIT_REGS][JIT_MAX_CHUNKS]; /* of full bodies, of masked ones: the same, or */
    bool masked_in_rows;                                  /* masked bodies keep theirs in the rows */
    LLVMValueRef limit_var, insns_var, masked_insns_var, masked_lanes_var, divergences_var, transactions_var,
        bytes_var, barriers_var, begun_var, index_var, blocks_var;
    LLVMBasicBlockRef full_bb[JIT_MAX_NODES]; /* how a full body is entered: by slices, or */
    LLVMBasicBlockRef body_bb[JIT_MAX_NODES]; /* for all lanes at once */
    LLVMBasicBlockRef test_bb[JIT_MAX_NODES], masked_bb[JIT_MAX_NODES], after_bb[JIT_MAX_NODES],
        fuel_bb[JIT_MAX_NODES];
    LLVMBasicBlockRef warp_bb;            /* a warp is entered, the first or one of a sweep */
    LLVMBasicBlockRef done_bb;            /* it has ended */
    LLVMBasicBlockRef return_bb, dump_bb; /* dump_bb: write pend masks out, then return */
    LLVMValueRef return_phi, dump_phi;
    unsigned guess, nontemporal; /* metadata: branch weights for a branch expected to be taken; stores */
    LLVMValueRef likely, yes;
    uint32_t streamed; /* stores that can go past the caches */
    bool helps;        /* jit_help is called somewhere */
    bool dirties;      /* private memory is written somewhere */
    struct jit_exits *exits;

    /* The node being compiled. */
    uint32_t node;
    bool is_masked;
    bool to_masked;                /* jit_convert() is for a masked body */
    const struct jit_state *state; /* of the variables */
    struct jit_state here;         /* before the instruction being compiled */
    LLVMValueRef mask;             /* i32, all ones in full bodies */
    struct jit_regs regs;
    struct jit_checkpoint checkpoint;
    bool effects; /* something observable happened since the checkpoint */
    struct jit_group groups[JIT_REGS + 1];
    uint32_t *group_of; /* instruction of the node -> group */
    uint32_t group_count;
    uint64_t bytes; /* moved by each lane in the node */

    /* A loop compiled a slice of lanes at a time. */
    unsigned chunk0, chunk1;      /* chunks to compile code for: all, or the slice */
    LLVMBasicBlockRef slice_exit; /* a check failed: back to before the loop, all lanes at once */
    LLVMBasicBlockRef slice_next; /* the next slice, NULL in the last */
    LLVMBasicBlockRef *slice_bb;  /* nodes of the slice, by node */
    uint32_t slice_loop;
    uint8_t slice_chunks[JIT_MAX_NODES]; /* by loop: chunks of a slice, 0 for all lanes at once */
    LLVMValueRef slice_insns_var;        /* issued by the slice */
};

/* ---- emit.c: values, registers, leaving ---- */

LLVMValueRef jit_i32(struct jit_emit *e, uint32_t v);
LLVMValueRef jit_i64(struct jit_emit *e, uint64_t v);
LLVMValueRef jit_splat(struct jit_emit *e, LLVMValueRef scalar);
LLVMValueRef jit_splat_const(struct jit_emit *e, uint32_t v);
LLVMBasicBlockRef jit_bb(struct jit_emit *e, const char *name);
LLVMValueRef jit_frame_field(struct jit_emit *e, size_t offset);
LLVMValueRef jit_warp_field(struct jit_emit *e, size_t offset); /* of the warp that runs */
LLVMValueRef jit_intrinsic(struct jit_emit *e, const char *name, LLVMTypeRef overload, LLVMValueRef *args,
                           unsigned nargs);

struct jit_value jit_scalar(struct jit_abs a, LLVMValueRef s);
struct jit_value jit_const(struct jit_emit *e, uint32_t v);

/* The value's scalar (CONST, UNIFORM, AFFINE base). */
LLVMValueRef jit_value_scalar(struct jit_emit *e, unsigned r, struct jit_value *v);
/* The value's lanes in chunk c. */
LLVMValueRef jit_value_chunk(struct jit_emit *e, unsigned r, struct jit_value *v, unsigned c);

/* Register r (0..31 integer, 32..63 float) as it is now. */
struct jit_value *jit_get(struct jit_emit *e, unsigned r);
/* All parts of register r in hand, so that the value may be put into another register. */
struct jit_value jit_get_copy(struct jit_emit *e, unsigned r);
void jit_put(struct jit_emit *e, unsigned r, const struct jit_value *v);
LLVMValueRef jit_chunk(struct jit_emit *e, unsigned r, unsigned c);
LLVMValueRef jit_scalar_of(struct jit_emit *e, unsigned r);

/* Float bits as the guest would see them. */
LLVMValueRef jit_canonical(struct jit_emit *e, LLVMValueRef bits);

LLVMValueRef jit_lane_index(struct jit_emit *e, unsigned c); /* constant vector of lane numbers */
LLVMValueRef jit_mask_chunk(struct jit_emit *e, LLVMValueRef mask, unsigned c);
/* Bit c * lanes + i of the result = lane's bit; cond[c] for chunks of the slice. */
LLVMValueRef jit_ballot(struct jit_emit *e, LLVMValueRef const cond[JIT_MAX_CHUNKS]);

/* Every lane of the vector of bits is 1. */
LLVMValueRef jit_all_lanes(struct jit_emit *e, LLVMValueRef bits);

void jit_add_counter(struct jit_emit *e, LLVMValueRef var, LLVMValueRef amount);
void jit_count_insns(struct jit_emit *e, uint32_t n);
void jit_count_bytes(struct jit_emit *e, uint64_t of_lane);

/* Branch to ok when cond holds (likely), else to other; go on in ok. */
void jit_branch_likely(struct jit_emit *e, LLVMValueRef cond, LLVMBasicBlockRef ok, LLVMBasicBlockRef other);
/* Leave at the checkpoint unless cond holds. */
void jit_require(struct jit_emit *e, LLVMValueRef cond);
LLVMBasicBlockRef jit_leave(struct jit_emit *e);
/* Before an instruction that may fail: make the present the checkpoint when something has happened. */
void jit_before(struct jit_emit *e, uint32_t insn);

/* Store registers of set to the rows, for the lanes of the body. */
void jit_spill(struct jit_emit *e, uint64_t set);
/* Leave registers of set in the rows, lean, with an entry in the table of exits; node as there. */
void jit_leave_rows(struct jit_emit *e, const struct jit_regs *regs, uint64_t set, uint32_t node);
/* Take registers of set, lean as state has them, from the rows into the variables of full or masked bodies.
 */
void jit_take_rows(struct jit_emit *e, const struct jit_state *state, uint64_t set, bool masked);
/* Register r's lanes of chunk c in its row. */
LLVMValueRef jit_row_chunk(struct jit_emit *e, unsigned r, unsigned c);
void jit_return(struct jit_emit *e, enum jit_status status);
/* Register r in the variables, as the node's code finds it when it has not touched it. */
struct jit_value jit_stored(const struct jit_emit *e, unsigned r);

/* Put register r's value into the variables as state `to` wants it; guards are and-ed into *ok (may be NULL
 * when none can be needed). False when it never fits. */
bool jit_convert(struct jit_emit *e, unsigned r, struct jit_value v, struct jit_abs to, LLVMValueRef *ok);

/* Where a lane's word of a slot is; those of the lanes behind it follow. */
LLVMValueRef jit_slot_word(struct jit_emit *e, unsigned slot, unsigned lane);
/* What is in a slot, known as `from`, fits `to`: and-ed into *ok unless it is certain. */
void jit_slot_guard(struct jit_emit *e, unsigned slot, struct jit_abs from, struct jit_abs to,
                    LLVMValueRef *ok);

/* ---- emit_alu.c, emit_mem.c ---- */

/* Compile an instruction that is no terminator. insn: index in the node. */
void jit_emit_alu(struct jit_emit *e, const struct simt_insn *in, uint32_t pc);
LLVMValueRef jit_emit_compare(struct jit_emit *e, enum simt_op op, LLVMValueRef a, LLVMValueRef b);
void jit_emit_memory(struct jit_emit *e, const struct simt_insn *in, uint32_t insn);
void jit_emit_help(struct jit_emit *e, const struct simt_insn *in, uint32_t insn);
void jit_group_accesses(struct jit_emit *e);
bool jit_is_memory(const struct simt_insn *in);
unsigned jit_access_size(enum simt_op op);

/* ---- emit_flow.c ---- */

/* Build the function; false when out of memory. Entry point i starts at node entries[i]. */
bool jit_emit_function(struct jit_emit *e, const char *name, const uint32_t *entries, uint32_t entry_count);

#endif
