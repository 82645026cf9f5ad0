/* SPDX-License-Identifier: MIT */
/*
 * Runs operators of the catalogue for another process, on the CPU reference and on sim. A request on stdin is
 * a line "NAME parameters..." and the inputs' raw elements in the catalogue's order; outputs that start as a
 * copy of an input do so. The reply on stdout is "ok BYTES" and, for each output, the reference's and then
 * the device's raw elements, or "error MESSAGE".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpgpu/catalogue.h"
#include "hal/machine.h"
#include "sim/sim.h"

/* No hal is started here: its lines would get between the replies. */
bool machine_bootarg(const char *key, char *out, size_t size)
{
    (void)key, (void)out, (void)size;
    return false;
}

struct request {
    const struct catalogue_entry *entry;
    struct catalogue_case parameters;
    struct catalogue_io io;
    void *in[CATALOGUE_INPUTS];
    void *reference[CATALOGUE_OUTPUTS];
    void *device[CATALOGUE_OUTPUTS];
    struct tensor din[CATALOGUE_INPUTS];
    struct tensor dout[CATALOGUE_OUTPUTS];
};

static size_t bytes_of(const struct catalogue_tensor *t)
{
    size_t n = 4;
    for (uint32_t i = 0; i < t->rank; i++)
        n *= t->dims[i];
    return n;
}

static void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p)
        abort();
    return p;
}

/* "NAME p0 p1 ..." */
static bool parse(struct request *r, char *line)
{
    const char *name = strtok(line, " \n");
    r->entry = name ? gpgpu_catalogue_find(name) : NULL;
    for (unsigned i = 0; i < CATALOGUE_PARAMS; i++) {
        const char *word = strtok(NULL, " \n");
        if (!word)
            break;
        r->parameters.p[i] = (uint32_t)strtoul(word, NULL, 10);
    }
    return r->entry != NULL;
}

static int read_inputs(struct tensor_context *tc, struct request *r)
{
    int err = 0;
    for (unsigned i = 0; i < r->io.ninputs; i++) {
        const struct catalogue_tensor *t = &r->io.in[i];
        r->in[i] = allocate(bytes_of(t));
        if (fread(r->in[i], 1, bytes_of(t), stdin) != bytes_of(t))
            exit(1);
        err = err ? err : tensor_from_host(tc, &r->din[i], t->type, t->rank, t->dims, r->in[i]);
    }
    return err;
}

static int run(struct tensor_context *tc, struct request *r)
{
    int err = 0;
    for (unsigned i = 0; i < r->io.noutputs && !err; i++) {
        const struct catalogue_tensor *t = &r->io.out[i];
        r->reference[i] = allocate(bytes_of(t));
        r->device[i] = allocate(bytes_of(t));
        if (t->starts_as >= 0)
            memcpy(r->reference[i], r->in[t->starts_as], bytes_of(t));
        err = tensor_from_host(tc, &r->dout[i], t->type, t->rank, t->dims, r->reference[i]);
    }
    err = err ? err : r->entry->run(r->parameters.p, r->din, r->dout);
    for (unsigned i = 0; i < r->io.noutputs && !err; i++)
        err = tensor_read(&r->dout[i], r->device[i]);
    if (!err)
        r->entry->reference(r->parameters.p, (const void *const *)r->in, r->reference);
    return err;
}

static FILE *replies; /* stdout; log lines go to stderr instead */

static void reply(const struct tensor_context *tc, const struct request *r, int err)
{
    if (err) {
        fprintf(replies, "error %s\n", tensor_error(tc));
        return;
    }
    size_t total = 0;
    for (unsigned i = 0; i < r->io.noutputs; i++)
        total += 2 * bytes_of(&r->io.out[i]);
    fprintf(replies, "ok %zu\n", total);
    for (unsigned i = 0; i < r->io.noutputs; i++) {
        fwrite(r->reference[i], 1, bytes_of(&r->io.out[i]), replies);
        fwrite(r->device[i], 1, bytes_of(&r->io.out[i]), replies);
    }
}

static void serve(struct tensor_context *tc, char *line)
{
    struct request r = {0};
    if (!parse(&r, line)) {
        fprintf(replies, "error no such operator\n");
        return;
    }
    r.entry->io(r.parameters.p, &r.io);
    int err = read_inputs(tc, &r);
    err = err ? err : run(tc, &r);
    reply(tc, &r, err);
    for (unsigned i = 0; i < r.io.ninputs; i++) {
        tensor_destroy(&r.din[i]);
        free(r.in[i]);
    }
    for (unsigned i = 0; i < r.io.noutputs; i++) {
        tensor_destroy(&r.dout[i]);
        free(r.reference[i]);
        free(r.device[i]);
    }
}

static void list_tensors(const char *what, const struct catalogue_tensor *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        printf("%s\t%s\t%s", what, t[i].name, t[i].type == TENSOR_I32 ? "int32 " : "");
        for (uint32_t d = 0; d < t[i].rank; d++)
            printf(d ? "x%u" : "%u", t[i].dims[d]);
        printf("\n");
    }
}

static void list_bench(const struct catalogue_entry *e, const struct catalogue_case *c)
{
    unsigned words = 1;
    for (const char *p = e->params; *p; p++)
        words += *p == ' ';
    printf("bench\t%s\t", c->where);
    for (unsigned i = 0; i < words; i++)
        printf(i ? " %u" : "%u", c->p[i]);
    printf("\t%.0f\t%.0f\t%.2g\n", gpgpu_catalogue_bytes(e, c->p), e->flops(c->p),
           gpgpu_catalogue_tolerance(e, c->p, 1));
}

static void list_entry(const struct catalogue_entry *e)
{
    struct catalogue_io io = {0};
    e->io(e->bench[0].p, &io);
    printf("op\t%s\t%s\t%s\t%s\n", e->name, e->summary, e->params, e->reason);
    list_tensors("in", io.in, io.ninputs);
    list_tensors("out", io.out, io.noutputs);
    for (size_t i = 0; i < CATALOGUE_BENCH; i++)
        list_bench(e, &e->bench[i]);
    for (size_t i = 0; i < e->ntests; i++)
        printf("test\t%s\n", e->test[i].where);
}

static int list_catalogue(void)
{
    for (size_t i = 0; i < gpgpu_catalogue_size; i++)
        list_entry(gpgpu_catalogue[i]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list_catalogue();
    struct gpgpu_device *sim;
    struct tensor_context tc;
    char line[512];
    replies = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (!replies ||
        gpgpu_sim_create(&(struct gpgpu_sim_config){.vram_bytes = 64 << 20, .timeout_ms = 60000}, &sim) ||
        tensor_context_open(&tc, sim))
        return 1;
    while (fgets(line, sizeof line, stdin)) {
        serve(&tc, line);
        fflush(replies);
    }
    tensor_context_close(&tc);
    gpgpu_sim_destroy(sim);
    return 0;
}
