/* SPDX-License-Identifier: MIT */
#include "compile.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "host.h"

/* Registers become SSA values, then redundancy goes: checks of the same address, masks, conversions. */
#define PASSES                                                                                               \
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"                           \
    "loop-mssa(licm),gvn,simplifycfg,instcombine<no-verify-fixpoint>)"

struct jit_compiler {
    struct jit_host host;
    LLVMOrcLLJITRef jit;
    LLVMTargetMachineRef machine; /* for the passes; the JIT has its own */
    unsigned serial;
};

static const char *note_error(LLVMErrorRef error, const char *why)
{
    LLVMConsumeError(error);
    return why;
}

/* Code generation may call functions of the C library (fmaf on hosts without the instruction). */
static LLVMErrorRef find_host_symbols(LLVMOrcLLJITRef jit)
{
    LLVMOrcDefinitionGeneratorRef generator;
    LLVMErrorRef error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
        &generator, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL);
    if (!error) {
        LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
    }
    return error;
}

struct jit_compiler *jit_compiler_create(unsigned vector_bits, const char **why)
{
    struct jit_compiler *c = calloc(1, sizeof(*c));
    LLVMTargetMachineRef machine;

    if (!c) {
        *why = "out of memory";
        return NULL;
    }
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    if (!jit_host_init(&c->host, vector_bits)) {
        *why = "out of memory";
        jit_compiler_destroy(c);
        return NULL;
    }
    c->machine = jit_host_machine(&c->host);
    machine = jit_host_machine(&c->host);
    if (!c->machine || !machine) {
        *why = "LLVM does not know this host";
        jit_compiler_destroy(c);
        return NULL;
    }
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&c->jit, builder);
    error = error ? error : find_host_symbols(c->jit);
    if (error) {
        *why = note_error(error, "LLVM cannot start its JIT");
        jit_compiler_destroy(c);
        return NULL;
    }
    return c;
}

void jit_compiler_destroy(struct jit_compiler *c)
{
    if (!c) {
        return;
    }
    if (c->jit) {
        LLVMConsumeError(LLVMOrcDisposeLLJIT(c->jit));
    }
    if (c->machine) {
        LLVMDisposeTargetMachine(c->machine);
    }
    jit_host_free(&c->host);
    free(c);
}

/* ---- what to compile ---- */

/* Why compiled code could not do what an instruction does, NULL if it can. */
static const char *unfit(const struct simt_insn *in)
{
    enum simt_format format = simt_op_format(in->op);
    bool csr = format == SIMT_FMT_CSR || format == SIMT_FMT_CSRI;

    if (csr && in->imm != SIMT_CSR_MHARTID && !simt_reads_counters(in)) {
        return "it uses floating-point CSRs";
    }
    return NULL;
}

static const char *check_insns(const struct simt_program *prog)
{
    for (uint32_t b = 0; b < prog->block_count; b++) {
        for (uint32_t i = 0; i < prog->blocks[b].count; i++) {
            const char *why = unfit(&prog->insns[prog->blocks[b].first + i]);
            if (why) {
                return why;
            }
        }
    }
    return NULL;
}

/* Stores whose address is the barrier word whatever happens. Returns how many pcs are in out. */
static uint32_t find_barriers(const struct jit_graph *g, const struct jit_variant *v,
                              const struct jit_state *full, uint32_t *out, uint32_t room)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        struct jit_state s = full[i];
        for (uint32_t k = 0; k < g->nodes[i].count && n < room; k++) {
            const struct simt_insn *in = &g->prog->insns[g->nodes[i].first + k];
            struct jit_abs base = s.reg[in->rs1];
            if (in->op == SIMT_OP_SW && base.kind == JIT_CONST &&
                (uint32_t)base.value + (uint32_t)in->imm == SIMT_SYNC_BASE) {
                out[n++] = g->nodes[i].pc + 4 * k;
            }
            jit_abs_step(v, &s, in, g->nodes[i].pc + 4 * k, false);
        }
    }
    return n;
}

/* Returns whose link register is known, which need no test. */
static void find_returns(struct jit_graph *g, const struct jit_variant *v, const struct jit_state *full)
{
    for (uint32_t i = 0; i < g->n; i++) {
        struct jit_state s = full[i];
        jit_state_through(g, v, i, false, &s);
        g->nodes[i].returns_home = g->nodes[i].end == JIT_END_RETURN && s.reg[1].kind == JIT_CONST &&
                                   (uint32_t)s.reg[1].value == g->nodes[i].return_pc;
    }
}

/* The graph with barriers cut out, and the states of full bodies. */
static struct jit_graph *make_graph(const struct simt_program *prog, const struct jit_variant *v,
                                    struct jit_state **full, const char **why)
{
    uint32_t barriers[64];
    struct jit_graph *g = jit_graph_build(prog, NULL, 0, why);

    if (!g || !(*full = jit_analyse_full(g, v))) {
        jit_graph_free(g);
        return NULL;
    }
    uint32_t n = find_barriers(g, v, *full, barriers, 64);
    if (n > 0) {
        free(*full);
        *full = NULL;
        jit_graph_free(g);
        g = jit_graph_build(prog, barriers, n, why);
        if (!g || !(*full = jit_analyse_full(g, v))) {
            jit_graph_free(g);
            return NULL;
        }
    }
    find_returns(g, v, *full);
    jit_graph_liveness(g);
    return g;
}

static bool is_entry(const struct jit_graph *g, uint32_t i)
{
    bool header = g->nodes[i].loop != JIT_NO_NODE && g->loops[g->nodes[i].loop].header == i;
    bool behind_barrier = false;

    for (uint32_t k = 0; k < g->n; k++) {
        behind_barrier |= g->nodes[k].end == JIT_END_BARRIER && g->nodes[k].succ[0] == i;
    }
    return i == 0 || header || behind_barrier;
}

static bool find_entries(struct jit_compiled *out)
{
    const struct jit_graph *g = out->graph;
    out->entries = calloc(g->n, sizeof(*out->entries));
    for (uint32_t i = 0; out->entries && i < g->n; i++) {
        out->longest += g->nodes[i].count;
        if (is_entry(g, i)) {
            out->entries[out->entry_count++] = i;
        }
    }
    return out->entries != NULL;
}

/* ---- LLVM ---- */

static const char *optimise(struct jit_compiler *c, LLVMModuleRef module)
{
    char *message = NULL;

    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message)) {
        LLVMDisposeMessage(message);
        return "LLVM finds the code malformed";
    }
    LLVMDisposeMessage(message);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, PASSES, c->machine, options);
    LLVMDisposePassBuilderOptions(options);
    return error ? note_error(error, "LLVM's passes failed") : NULL;
}

/* Give the module to the JIT; *fn is its function. Takes ownership of both. */
static const char *link_module(struct jit_compiler *c, LLVMOrcThreadSafeContextRef context,
                               LLVMModuleRef module, const char *name, struct jit_compiled *out)
{
    LLVMOrcJITDylibRef dylib = LLVMOrcLLJITGetMainJITDylib(c->jit);
    LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(dylib);
    LLVMOrcThreadSafeModuleRef safe = LLVMOrcCreateNewThreadSafeModule(module, context);
    LLVMOrcExecutorAddress address = 0;
    LLVMErrorRef error = LLVMOrcLLJITAddLLVMIRModuleWithRT(c->jit, tracker, safe);

    if (error) {
        LLVMOrcDisposeThreadSafeModule(safe);
    } else {
        error = LLVMOrcLLJITLookup(c->jit, &address, name);
    }
    if (error) {
        LLVMOrcReleaseResourceTracker(tracker);
        return note_error(error, "LLVM cannot generate code");
    }
    out->tracker = tracker;
    out->fn = (jit_code_fn)(uintptr_t)address;
    return NULL;
}

static const char *generate(struct jit_compiler *c, const struct jit_variant *v, const struct jit_state *full,
                            const struct jit_masked *masked, struct jit_compiled *out)
{
    LLVMOrcThreadSafeContextRef context = LLVMOrcCreateNewThreadSafeContext();
    LLVMContextRef llvm = LLVMOrcThreadSafeContextGetContext(context);
    struct jit_emit *e = calloc(1, sizeof(*e));
    const char *why = "out of memory";
    char name[32];

    snprintf(name, sizeof(name), "kernel%u", c->serial++);
    if (e) {
        e->host = &c->host;
        e->g = out->graph;
        e->variant = v;
        e->full = full;
        e->masked = masked;
        e->exits = &out->exits;
        e->context = llvm;
        e->module = LLVMModuleCreateWithNameInContext(name, llvm);
        LLVMSetDataLayout(e->module, LLVMOrcLLJITGetDataLayoutStr(c->jit));
        LLVMSetTarget(e->module, LLVMOrcLLJITGetTripleString(c->jit));
        e->b = LLVMCreateBuilderInContext(llvm);
        why = jit_emit_function(e, name, out->entries, out->entry_count) ? NULL : why;
        out->streamed = e->streamed;
        out->helps = e->helps;
        out->dirties = e->dirties;
        LLVMDisposeBuilder(e->b);
        why = why ? why : optimise(c, e->module);
        if (why) {
            LLVMDisposeModule(e->module);
        } else {
            why = link_module(c, context, e->module, name, out);
        }
    }
    free(e);
    LLVMOrcDisposeThreadSafeContext(context);
    return why;
}

int jit_compile(struct jit_compiler *c, const struct simt_program *prog, const struct jit_variant *v,
                struct jit_compiled *out, const char **why)
{
    struct jit_state *full = NULL;
    struct jit_masked *masked = NULL;

    memset(out, 0, sizeof(*out));
    *why = check_insns(prog);
    if (!*why) {
        *why = "out of memory";
        out->graph = make_graph(prog, v, &full, why);
    }
    if (out->graph && find_entries(out) && (masked = jit_analyse_masked(out->graph, v, full))) {
        *why = generate(c, v, full, masked, out);
    }
    out->full = full;
    out->masked = masked;
    if (!out->fn) {
        jit_compiled_free(c, out);
        return -1;
    }
    return 0;
}

void jit_compiled_free(struct jit_compiler *c, struct jit_compiled *code)
{
    (void)c;
    if (code->tracker) {
        LLVMConsumeError(LLVMOrcResourceTrackerRemove(code->tracker));
        LLVMOrcReleaseResourceTracker(code->tracker);
    }
    jit_graph_free((struct jit_graph *)code->graph);
    free(code->entries);
    free((struct jit_state *)code->full);
    free((struct jit_masked *)code->masked);
    jit_exits_free(&code->exits);
    memset(code, 0, sizeof(*code));
}
