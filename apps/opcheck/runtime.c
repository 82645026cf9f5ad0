/* SPDX-License-Identifier: MIT */
/* What operators stand on, on the first GPU: pooled memory, events, recorded sequences, two streams. */
#include "core/errno.h"
#include "core/test.h"
#include "core/util.h"
#include "gpgpu/operators.h"
#include "hal/time.h"
#include "opcheck.h"

#define SIDE     40u
#define ELEMENTS (SIDE * SIDE)

static int make(struct tensor_context *tc, struct tensor *t)
{
    return tensor_create(tc, t, TENSOR_F32, 2, (const uint32_t[]){SIDE, SIDE});
}

static bool holds(const struct tensor *t, float value)
{
    static float host[ELEMENTS];
    if (tensor_read(t, host))
        return false;
    for (size_t i = 0; i < ELEMENTS; i++)
        if (host[i] != value)
            return false;
    return true;
}

/* A block is given out again while the device may still write to it; one tensor too many is refused as such.
 */
static void check_pool(struct tensor_context *tc)
{
    TENSOR(y);
    for (unsigned i = 0; i < 20; i++) {
        TENSOR(x);
        if (make(tc, &x) || tensor_fill(&x, (float)i))
            break;
    }
    size_t held = tc->pool.held;
    bool reused = !make(tc, &y) && !tensor_fill(&y, 5) && tc->pool.held == held;
    check(reused && holds(&y, 5), "pool: memory is used again in stream order");
    TENSOR(huge);
    uint32_t half_of_all = (uint32_t)(tc->caps.vram_bytes / 2 / sizeof(float)), dims[] = {3, half_of_all};
    int err = tensor_create(tc, &huge, TENSOR_F32, ARRAY_SIZE(dims), dims);
    check(gpgpu_is_oom(err) && holds(&y, 5), "pool: three halves of the device's memory are too much");
}

/* What the device says that kernels took lies within what passed here. */
static int time_kernels(struct tensor *x, struct tensor_event *start, struct tensor_event *end)
{
    uint64_t device_ns = 0, begun = time_now_ns();
    int err = tensor_event_record(start);
    for (unsigned i = 0; i < 20 && !err; i++)
        err = tensor_fill(x, (float)i);
    if (!err)
        err = tensor_event_record(end);
    if (!err)
        err = tensor_event_sync(end);
    uint64_t host_ns = time_now_ns() - begun;
    if (!err)
        err = tensor_event_elapsed_ns(start, end, &device_ns);
    if (!err)
        check(device_ns > 0 && device_ns <= host_ns, "events: time of 20 kernels");
    return err;
}

static void check_events(struct tensor_context *tc)
{
    TENSOR(x);
    struct tensor_event start = {0}, end = {0};
    int err = make(tc, &x);
    if (!err)
        err = tensor_event_create(tc, &start);
    if (!err)
        err = tensor_event_create(tc, &end);
    if (!err)
        err = time_kernels(&x, &start, &end);
    if (err)
        fail("events: %s", error_name(err));
    tensor_event_destroy(&end);
    tensor_event_destroy(&start);
}

/* The graph, y = 2 relu(x), on x all of one value. */
static int run_graph(const struct tensor_graph *graph, struct tensor *x, const struct tensor *y, float value,
                     bool *right)
{
    int err = tensor_fill(x, value);
    if (!err)
        err = tensor_graph_run(graph);
    *right = *right && !err && holds(y, value > 0 ? 2 * value : 0);
    return err;
}

static void check_graph(struct tensor_context *tc)
{
    TENSOR(x);
    TENSOR(y);
    struct tensor_graph graph = {0};
    bool right = true;
    int err = make(tc, &x);
    if (!err)
        err = make(tc, &y);
    if (!err)
        err = tensor_graph_begin(tc, &graph);
    if (!err) {
        tensor_relu(&x, &y);
        tensor_add2(&y, &y, &y);
        err = tensor_graph_end(&graph);
    }
    for (float value = -1; value < 3 && !err; value += 1)
        err = run_graph(&graph, &x, &y, value, &right);
    check(!err && right, "graph: recorded once, replayed on four inputs");
    tensor_graph_destroy(&graph);
}

static void check_streams(struct tensor_context *a)
{
    static float got[2][ELEMENTS];
    struct tensor_context b = {0};
    int err = tensor_context_open(&b, a->device);
    {
        TENSOR(x);
        TENSOR(y);
        if (!err)
            err = make(a, &x);
        if (!err)
            err = make(&b, &y);
        for (unsigned i = 0; i < 10 && !err; i++) {
            err = tensor_fill(&x, (float)i);
            if (!err)
                err = tensor_fill(&y, (float)i + 100);
        }
        if (!err)
            err = tensor_read_async(&x, got[0]);
        if (!err)
            err = tensor_read_async(&y, got[1]);
        if (!err)
            err = tensor_sync(&b);
        if (!err)
            err = tensor_sync(a);
    }
    check(!err && got[0][ELEMENTS - 1] == 9 && got[1][ELEMENTS - 1] == 109,
          "streams: two contexts work in turns, each in its own order");
    tensor_context_close(&b);
}

void check_runtime(struct tensor_context *tc)
{
    check_pool(tc);
    check_events(tc);
    check_graph(tc);
    check_streams(tc);
}
