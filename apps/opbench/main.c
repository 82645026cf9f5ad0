/* SPDX-License-Identifier: MIT */
/* Time of every operator of the catalogue at its three real shapes, or of those that arguments name: NAME, or
 * NAME=PARAMETERS for a shape of one's own (docs/operators.md has their order). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/test.h"
#include "gpgpu/catalogue.h"
#include "gpgpu/operators.h"
#include "hal/time.h"

#define LEAST_NS    20000000ull /* a measurement lasts at least this long ... */
#define LEAST_CALLS 3u          /* ... and this many calls ... */
#define MOST_CALLS  1000u       /* ... but no more than these */

struct operands {
    struct catalogue_io io;
    struct tensor in[CATALOGUE_INPUTS];
    struct tensor out[CATALOGUE_OUTPUTS];
};

/* Floats are 0.5, integers 0: harmless labels, lengths and indices. */
static int make(struct tensor_context *tc, struct tensor *t, const struct catalogue_tensor *spec)
{
    int err = tensor_create(tc, t, spec->type, spec->rank, spec->dims);
    if (err || spec->type == TENSOR_F32)
        return err ? err : tensor_fill(t, 0.5f);
    void *zeros = calloc(1, tensor_bytes(t));
    err = zeros ? tensor_write(t, zeros) : -1;
    free(zeros);
    return err;
}

static int make_all(struct tensor_context *tc, struct operands *o)
{
    int err = 0;
    for (unsigned i = 0; i < o->io.ninputs && !err; i++)
        err = make(tc, &o->in[i], &o->io.in[i]);
    for (unsigned i = 0; i < o->io.noutputs && !err; i++)
        err = make(tc, &o->out[i], &o->io.out[i]);
    return err ? err : tensor_sync(tc);
}

static void destroy_all(struct operands *o)
{
    for (unsigned i = 0; i < CATALOGUE_INPUTS; i++)
        tensor_destroy(&o->in[i]);
    for (unsigned i = 0; i < CATALOGUE_OUTPUTS; i++)
        tensor_destroy(&o->out[i]);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Median nanoseconds of a call, the device's work included; the first call, which compiles, is not counted.
 */
static int time_calls(struct tensor_context *tc, const struct catalogue_entry *entry, const uint32_t *p,
                      struct operands *o, uint64_t *ns)
{
    static uint64_t took[MOST_CALLS];
    int err = entry->run(p, o->in, o->out);
    err = err ? err : tensor_sync(tc);
    uint64_t elapsed = 0;
    unsigned calls = 0;
    while (!err && calls < MOST_CALLS && (elapsed < LEAST_NS || calls < LEAST_CALLS)) {
        uint64_t start = time_now_ns();
        err = entry->run(p, o->in, o->out);
        err = err ? err : tensor_sync(tc);
        took[calls] = time_now_ns() - start;
        elapsed += took[calls++];
    }
    qsort(took, calls, sizeof took[0], by_value);
    *ns = calls ? took[calls / 2] : 0;
    return err;
}

static void measure(struct tensor_context *tc, const struct catalogue_entry *entry,
                    const struct catalogue_case *c)
{
    struct operands o = {0};
    uint64_t ns = 0;
    entry->io(c->p, &o.io);
    int err = make_all(tc, &o);
    err = err ? err : time_calls(tc, entry, c->p, &o, &ns);
    destroy_all(&o);
    if (err)
        fail("%s, %s: error %d: %s", entry->name, c->where, err, tensor_error(tc));
    else
        printf("OP %s, %s: %llu ns, %.0f bytes, %.0f flops\n", entry->name, c->where, (unsigned long long)ns,
               gpgpu_catalogue_bytes(entry, c->p), entry->flops(c->p));
}

static void measure_shapes(struct tensor_context *tc, const struct catalogue_entry *entry)
{
    for (size_t k = 0; k < CATALOGUE_BENCH; k++)
        measure(tc, entry, &entry->bench[k]);
}

/* Parameters with commas between them; false when they are no numbers or too many. */
static bool parse(const char *text, uint32_t p[CATALOGUE_PARAMS])
{
    char *end = NULL;
    for (size_t i = 0; i < CATALOGUE_PARAMS; i++, text = end + 1) {
        p[i] = (uint32_t)strtoul(text, &end, 0);
        if (end == text || (*end != ',' && *end != '\0'))
            return false;
        if (*end == '\0')
            return true;
    }
    return false;
}

static void measure_named(struct tensor_context *tc, char *argument)
{
    char *shape = strchr(argument, '=');
    struct catalogue_case c = {.where = shape ? shape + 1 : ""};
    if (shape)
        *shape = '\0';
    const struct catalogue_entry *entry = gpgpu_catalogue_find(argument);
    if (!entry || (shape && !parse(c.where, c.p)))
        fail("%s: no such operator, or no numbers: \"%s\"", argument, c.where);
    else if (shape)
        measure(tc, entry, &c);
    else
        measure_shapes(tc, entry);
}

int main(int argc, char **argv)
{
    struct tensor_context tc;
    struct gpgpu_device *device = gpgpu_device_get(0);
    if (!check(device != NULL, "a GPU is there"))
        return test_exit_code();
    if (!check(tensor_context_open(&tc, device) == 0, "%s runs the operator module", device->name))
        return test_exit_code();
    for (int i = 1; i < argc; i++)
        measure_named(&tc, argv[i]);
    for (size_t i = 0; i < gpgpu_catalogue_size && argc <= 1; i++)
        measure_shapes(&tc, gpgpu_catalogue[i]);
    tensor_context_close(&tc);
    return test_exit_code();
}
