/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <string.h>

#include "disasm.h"

struct snapshot {
    struct simt_registers r;
    simt_row fflags, frm;
};

static void save(struct snapshot *s, const struct simt_warp *w)
{
    simt_copy_registers(w, &s->r);
    memcpy(s->fflags, w->fflags, sizeof(s->fflags));
    memcpy(s->frm, w->frm, sizeof(s->frm));
}

static bool uniform(const uint32_t *row, uint32_t mask)
{
    uint32_t first = row[__builtin_ctz(mask)];
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        if ((mask >> l & 1) && row[l] != first) {
            return false;
        }
    }
    return true;
}

/* " a0=00000001", or " a0=[0:00000001 1:00000002]" when lanes differ; nothing when the row did not change. */
static void print_row(FILE *f, const char *name, const uint32_t *before, const uint32_t *after, uint32_t mask)
{
    if (memcmp(before, after, sizeof(simt_row)) == 0) {
        return;
    }
    if (uniform(after, mask)) {
        fprintf(f, " %s=%08x", name, after[__builtin_ctz(mask)]);
        return;
    }
    const char *separator = "";
    fprintf(f, " %s=[", name);
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        if (mask >> l & 1) {
            fprintf(f, "%s%u:%08x", separator, l, after[l]);
            separator = " ";
        }
    }
    fprintf(f, "]");
}

static void print_changes(FILE *f, const struct snapshot *before, const struct simt_warp *w, uint32_t mask)
{
    for (unsigned i = 1; i < 32; i++) {
        print_row(f, simt_x_name(i), before->r.x[i], w->x[i], mask);
    }
    for (unsigned i = 0; i < 32; i++) {
        print_row(f, simt_f_name(i), before->r.f[i], w->f[i], mask);
    }
    print_row(f, "fflags", before->fflags, w->fflags, mask);
    print_row(f, "frm", before->frm, w->frm, mask);
}

static void print_insn(FILE *f, const struct simt_program *prog, uint32_t pc, uint32_t mask)
{
    char text[64];
    uint32_t offset;
    const struct simt_block *blk = simt_program_find(prog, pc, &offset);

    simt_disasm(pc, prog->insns[blk->first + offset].word, text, sizeof(text));
    fprintf(f, "%08x %-32s %08x", pc, text, mask);
}

enum simt_stop simt_trace_run(const struct simt_trace *trace, const struct simt_executor *engine,
                              struct simt_cu *cu, struct simt_warp *w, struct simt_path *p)
{
    struct snapshot before;
    uint32_t pc = p->pc, mask = p->mask;
    uint64_t retired = p->retired;

    if (cu->block_linear != trace->block || w->index != trace->warp) {
        return engine->run(cu, w, p);
    }
    save(&before, w);
    cu->fuel = 1;
    enum simt_stop stop = engine->run(cu, w, p);
    if (p->retired != retired || stop == SIMT_STOP_FAULT) {
        print_insn(trace->file, cu->prog, pc, mask);
        print_changes(trace->file, &before, w, mask);
        fprintf(trace->file, "%s\n",
                stop == SIMT_STOP_FAULT     ? " fault"
                : stop == SIMT_STOP_BARRIER ? " barrier"
                                            : "");
    }
    return stop;
}
