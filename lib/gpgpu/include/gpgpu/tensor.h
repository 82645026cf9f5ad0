/* SPDX-License-Identifier: MIT */
/*
 * Tensors on the device: a dense array with its shape, row-major, the last dimension contiguous. They stay on
 * the device between operators (gpgpu/operators.h); only tensor_write() and tensor_read() copy.
 *
 *     struct tensor_context tc;
 *     tensor_context_open(&tc, device);
 *     TENSOR(x);
 *     tensor_create(&tc, &x, TENSOR_F32, 4, (const uint32_t[]){1, 3, 48, 320});
 *     tensor_write(&x, pixels);
 *     tensor_relu(&x, &x);
 *     tensor_read(&x, pixels);             waits for the operators
 *
 * Functions return 0 or a negative errno (drivers/gpgpu.h). A message with the values has then been logged
 * and is kept: tensor_error().
 */
#ifndef GPGPU_TENSOR_H
#define GPGPU_TENSOR_H

#include "drivers/gpgpu.h"
#include "gpgpu/pool.h"

#define TENSOR_MAX_RANK 5u

enum tensor_type { TENSOR_F32, TENSOR_I32 };

struct tensor_graph;

/* Every kernel of the operator module, in the order of ops/kernel_names.h. */
#define TENSOR_MAX_KERNELS 64u

/* A device prepared for operators: kernels looked up, one stream, pooled memory. */
struct tensor_context {
    struct gpgpu_device *device; /* NULL: closed */
    struct gpgpu_caps caps;
    gpgpu_module_t module;
    gpgpu_stream_t stream;
    gpgpu_kernel_t kernels[TENSOR_MAX_KERNELS];
    struct gpgpu_pool pool;
    struct tensor_graph *recording; /* launches are appended here too while it is set */
    char error[160];                /* last message, "" when none */
};

/* Load the operator module on the device. -ENOEXEC: no variant of it runs there. */
int tensor_context_open(struct tensor_context *tc, struct gpgpu_device *device);

/* Wait, free the pool, unload the module. Tensors must have been destroyed. */
void tensor_context_close(struct tensor_context *tc);

/* Wait for every operator called so far; reports their first error. */
int tensor_sync(struct tensor_context *tc);

/* The last error's message: "conv2d: weight expects 64 input channels, input has 32". */
const char *tensor_error(const struct tensor_context *tc);

struct tensor {
    struct tensor_context *tc; /* NULL: empty */
    gpgpu_addr_t addr;
    enum tensor_type type;
    uint32_t rank;
    uint32_t dims[TENSOR_MAX_RANK];
    bool owned; /* tensor_destroy() frees the memory; false in a view */
};

/* Declare an empty tensor that is destroyed when it leaves scope. */
#define TENSOR(t) __attribute__((cleanup(tensor_destroy))) struct tensor t = {0}

/* Memory for the shape, contents undefined. Dimensions are at least 1 and their product below 2^31: else
 * -EINVAL, as for a tensor that is not empty. */
int tensor_create(struct tensor_context *tc, struct tensor *t, enum tensor_type type, uint32_t rank,
                  const uint32_t *dims);

/* Create and fill from host memory. */
int tensor_from_host(struct tensor_context *tc, struct tensor *t, enum tensor_type type, uint32_t rank,
                     const uint32_t *dims, const void *src);

/* Give the memory back to the pool; does not wait. No effect on an empty tensor. */
void tensor_destroy(struct tensor *t);

/* The same memory under another shape of as many elements. Valid as long as `of` is. */
int tensor_view(const struct tensor *of, struct tensor *view, uint32_t rank, const uint32_t *dims);

/* Elements, and their bytes (both types take four an element). */
uint32_t tensor_elements(const struct tensor *t);
size_t tensor_bytes(const struct tensor *t);

/* Copy all elements from or to host memory; done when it returns. */
int tensor_write(struct tensor *t, const void *src);
int tensor_read(const struct tensor *t, void *dst);

/* Copy from or to host memory in stream order. Host memory must stay as it is until tensor_sync(). */
int tensor_write_async(struct tensor *t, const void *src);
int tensor_read_async(const struct tensor *t, void *dst);

/* "2x3x4": the shape as messages show it, into buf. */
const char *tensor_shape_text(const struct tensor *t, char *buf, size_t len);

/* ---- events ---------------------------------------------------------------------------------------------
 */

/*
 * A point in the work of a context's stream. A context has a stream of its own, so work of two contexts on
 * one device may overlap where the device can (GPGPU_FEATURE_STREAMS); tensor_event_sync() makes the host
 * wait for one of them.
 */
struct tensor_event {
    struct tensor_context *tc; /* NULL: not made */
    gpgpu_event_t handle;
};

int tensor_event_create(struct tensor_context *tc, struct tensor_event *event);

/* Mark the point after everything called so far; again: move the mark. */
int tensor_event_record(struct tensor_event *event);

/* Wait until the work before the mark is done. -EINVAL when it was never recorded. */
int tensor_event_sync(const struct tensor_event *event);

/* Nanoseconds of the device's work between two recorded events that have been waited for. */
int tensor_event_elapsed_ns(const struct tensor_event *start, const struct tensor_event *end, uint64_t *out);

/* No effect on one that was not made. */
void tensor_event_destroy(struct tensor_event *event);

/* ---- a recorded sequence --------------------------------------------------------------------------------
 */

/*
 * A sequence of operators that can be run again without checking shapes or building arguments anew: what a
 * network does for every batch. Recording runs nothing. Tensors used by it, also temporary ones, keep their
 * memory until the graph is destroyed.
 */
struct tensor_graph {
    struct tensor_context *tc;
    struct tensor_graph_step *steps;
    size_t nsteps, capacity;
    gpgpu_addr_t *kept; /* pool blocks freed while recording */
    size_t nkept, kept_capacity;
    int error; /* first error while recording */
};

/* Record what operators do on tc from now on into graph (empty). -EBUSY: already recording. */
int tensor_graph_begin(struct tensor_context *tc, struct tensor_graph *graph);

/* Stop recording. Returns the first error of any operator since the beginning. */
int tensor_graph_end(struct tensor_graph *graph);

/* Queue the whole sequence. */
int tensor_graph_run(const struct tensor_graph *graph);

void tensor_graph_destroy(struct tensor_graph *graph);

#endif
