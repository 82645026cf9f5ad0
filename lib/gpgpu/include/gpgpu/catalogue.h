/* SPDX-License-Identifier: MIT */
/*
 * Every float operator as data: what it takes and gives for a set of parameters, how to run it on a device
 * and on the CPU, what it costs, how far the two may differ and why. Tests, measurements and
 * docs/operators.md are loops over this table.
 */
#ifndef GPGPU_CATALOGUE_H
#define GPGPU_CATALOGUE_H

#include "gpgpu/tensor.h"

#define CATALOGUE_PARAMS  20u
#define CATALOGUE_INPUTS  6u
#define CATALOGUE_OUTPUTS 4u

/* One operand. Inputs are filled with values from low to high (int32: both included). */
struct catalogue_tensor {
    const char *name;
    enum tensor_type type;
    uint32_t rank;
    uint32_t dims[TENSOR_MAX_RANK];
    float low, high;
    int starts_as; /* outputs the operator changes in place: the input they begin as a copy of; else -1 */
};

struct catalogue_io {
    unsigned ninputs, noutputs;
    struct catalogue_tensor in[CATALOGUE_INPUTS];
    struct catalogue_tensor out[CATALOGUE_OUTPUTS];
};

/* Parameters, in the order their names have in the entry. */
struct catalogue_case {
    const char *where; /* what has this shape: "recogniser, stem" */
    uint32_t p[CATALOGUE_PARAMS];
};

struct catalogue_entry {
    const char *name;
    const char *summary;
    const char *params;                 /* names, separated by spaces */
    const struct catalogue_case *bench; /* three shapes of a text-recognition network */
    const struct catalogue_case *test;  /* small shapes that are no multiple of anything */
    size_t ntests;
    void (*io)(const uint32_t *p, struct catalogue_io *io);
    int (*run)(const uint32_t *p, const struct tensor *in, struct tensor *out);
    void (*reference)(const uint32_t *p, const void *const *in, void *const *out);
    double (*flops)(const uint32_t *p); /* additions and multiplications; a transcendental counts as one */
    /* |device - reference| <= 2^-24 (terms * magnitude + ulps |reference|) */
    double (*terms)(const uint32_t *p); /* length of the longest sum behind one result; NULL: 1 */
    double magnitude;                   /* of one term, at most */
    double ulps;
    const char *reason;
};

#define CATALOGUE_BENCH 3u /* shapes in bench */

extern const struct catalogue_entry *const gpgpu_catalogue[];
extern const size_t gpgpu_catalogue_size;

/* NULL when there is none of that name. */
const struct catalogue_entry *gpgpu_catalogue_find(const char *name);

/* Bytes read and written by one call: every operand once. */
double gpgpu_catalogue_bytes(const struct catalogue_entry *entry, const uint32_t *p);

/* What the device may be off by for that reference value. */
double gpgpu_catalogue_tolerance(const struct catalogue_entry *entry, const uint32_t *p, double reference);

/*
 * Run one case on the device and on the CPU with inputs from `seed`, compare. 0: equal within tolerance;
 * -EDOM: not, and `why` (len bytes) says where: "y[17]: expected 0.25, got 0.5, tolerance 1e-07"; other
 * errors: it did not run.
 */
int gpgpu_catalogue_check(struct tensor_context *tc, const struct catalogue_entry *entry,
                          const struct catalogue_case *c, uint64_t seed, char *why, size_t len);

#endif
