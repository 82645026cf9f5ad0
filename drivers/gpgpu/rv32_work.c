/* SPDX-License-Identifier: MIT */
/*
 * Streams and events. A launch may be given to the device behind another one of its stream, chained to it, if
 * that is the last one the device was given; a copy or an event waits until everything before it in its
 * stream is done, and so does a launch behind a copy.
 */
#include "rv32.h"

#include "hal/time.h"

#define LOG_MODULE "gpgpu"
#include "core/log.h"
#include "core/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void add_stream(struct rv32_device *dev, struct rv32_stream *stream)
{
    *stream = (struct rv32_stream){0};
    list_init(&stream->work);
    list_add_tail(&dev->streams, &stream->node);
}

void rv32_work_init(struct rv32_device *dev)
{
    list_init(&dev->idle);
    list_init(&dev->launched);
    list_init(&dev->streams);
    dev->launches = dev->waiting = 0;
    dev->copying = NULL;
    for (size_t i = 0; i < RV32_DEPTH; i++)
        list_add_tail(&dev->idle, &dev->work[i].node);
    add_stream(dev, &dev->default_stream);
    add_stream(dev, &dev->setup);
}

uint64_t rv32_work_args(const struct rv32_device *dev, const struct rv32_work *work)
{
    return dev->args + (uint64_t)(work - dev->work) * RV32_ARGS_BYTES;
}

struct rv32_stream *rv32_find_stream(struct rv32_device *dev, gpgpu_stream_t handle)
{
    if (handle == GPGPU_STREAM_DEFAULT)
        return &dev->default_stream;
    list_for_each (node, &dev->streams)
        if ((uintptr_t)list_entry(node, struct rv32_stream, node) == handle)
            return list_entry(node, struct rv32_stream, node);
    log_error("%s: 0x%" PRIx64 " is no stream", dev->gpgpu.name, handle);
    return NULL;
}

/* ---- work ends ------------------------------------------------------------------------------------------
 */

static void reach(struct rv32_event *event)
{
    event->pending--;
    event->recorded = true;
    event->ns = time_now_ns();
}

/* Take a piece of work that is in no stream back. */
static void retire(struct rv32_device *dev, struct rv32_work *work)
{
    if (work->kind == RV32_EVENT)
        reach(work->event);
    list_add_head(&dev->idle, &work->node);
}

/* After an error what the device does not have yet is not done. */
static void drop_waiting(struct rv32_device *dev, struct rv32_stream *stream)
{
    list_for_each_safe (node, &stream->work) {
        struct rv32_work *work = list_entry(node, struct rv32_work, node);
        if (work->started)
            continue;
        dev->waiting--;
        list_remove(node);
        retire(dev, work);
    }
}

/* A piece of work leaves its stream with this result. Launches behind a failed one come back as skipped. */
static void end(struct rv32_device *dev, struct rv32_work *work, int err)
{
    struct rv32_stream *stream = work->stream;
    if (!work->started)
        dev->waiting--;
    list_remove(&work->node);
    retire(dev, work);
    if (!err)
        return;
    if (!stream->error)
        stream->error = err;
    drop_waiting(dev, stream);
}

/* The device has it no longer, with this result. */
static void forget_launch(struct rv32_device *dev, struct rv32_work *work, int err)
{
    trace_async_end("gpu", rv32_kernel_name(work->kernel), work, (uint64_t)-err);
    list_remove(&work->launched);
    dev->launches--;
}

static bool reap_launch(struct rv32_device *dev)
{
    if (list_empty(&dev->launched))
        return false;
    struct rv32_work *work = list_first(&dev->launched, struct rv32_work, launched);
    struct gpgpu_fault fault = {0};
    int err = dev->port->launch_ended(dev, &work->start, &fault);
    if (err == -EINPROGRESS)
        return false;
    if (err == -EFAULT)
        rv32_record_fault(dev, work->kernel, &fault);
    forget_launch(dev, work, err);
    end(dev, work, err);
    return true;
}

static bool reap_copy(struct rv32_device *dev)
{
    struct rv32_work *work = dev->copying;
    int err = work ? dev->port->copy_ended(dev) : -EINPROGRESS;
    if (err == -EINPROGRESS)
        return false;
    dev->copying = NULL;
    end(dev, work, err);
    return true;
}

/* Take back what has ended. Whether there was any. */
static bool reap(struct rv32_device *dev)
{
    bool any = reap_copy(dev);
    while (reap_launch(dev))
        any = true;
    return any;
}

/* ---- work starts ----------------------------------------------------------------------------------------
 */

static void mark_started(struct rv32_device *dev, struct rv32_work *work)
{
    work->started = true;
    dev->waiting--;
}

/* Whether the device's last launch is the one before this in its stream. */
static bool follows_last_launch(struct rv32_device *dev, struct rv32_work *work)
{
    return !list_empty(&dev->launched) && list_last(&dev->launched, struct rv32_work, launched) ==
                                              list_entry(work->node.prev, struct rv32_work, node);
}

static bool start_launch(struct rv32_device *dev, struct rv32_work *work, bool first)
{
    if (dev->launches == dev->port->depth || !(first || follows_last_launch(dev, work)))
        return false;
    trace_async_begin("gpu", rv32_kernel_name(work->kernel), work, work->start.kernel);
    int err = dev->port->start(dev, &work->start, !first);
    if (err) {
        trace_async_end("gpu", rv32_kernel_name(work->kernel), work, (uint64_t)-err);
        end(dev, work, err);
        return false;
    }
    mark_started(dev, work);
    list_add_tail(&dev->launched, &work->launched);
    dev->launches++;
    return true;
}

static bool start_copy(struct rv32_device *dev, struct rv32_work *work)
{
    static const char *const names[] = {"to the device", "from the device", "within the device"};
    trace_begin("copy", names[work->copy.direction], work->copy.size, 0);
    int err = dev->port->copy(dev, &work->copy);
    trace_end("copy");
    if (err == -EBUSY)
        return false;
    if (err == -EINPROGRESS) {
        mark_started(dev, work);
        dev->copying = work;
        return false;
    }
    end(dev, work, err);
    return !err;
}

/* Start work if it can go. Whether the one behind it may go, too. */
static bool start(struct rv32_device *dev, struct rv32_work *work)
{
    bool first = work->node.prev == &work->stream->work;
    if (work->kind == RV32_LAUNCH)
        return start_launch(dev, work, first);
    if (!first)
        return false;
    if (work->kind == RV32_COPY)
        return start_copy(dev, work);
    end(dev, work, 0);
    return true;
}

static void feed(struct rv32_device *dev, struct rv32_stream *stream)
{
    list_for_each_safe (node, &stream->work) {
        struct rv32_work *work = list_entry(node, struct rv32_work, node);
        if (!work->started && !start(dev, work))
            return;
    }
}

static void feed_all(struct rv32_device *dev)
{
    if (dev->waiting == 0)
        return;
    list_for_each (node, &dev->streams)
        feed(dev, list_entry(node, struct rv32_stream, node));
}

/* ---- waiting --------------------------------------------------------------------------------------------
 */

/* The device hangs. It does one launch at a time, so the oldest one is to blame, or else the copy; what was
 * started beside or behind it starts again. */
static void give_up(struct rv32_device *dev)
{
    struct rv32_work *guilty =
        list_empty(&dev->launched) ? dev->copying : list_first(&dev->launched, struct rv32_work, launched);
    dev->port->give_up(dev);
    list_for_each_safe (node, &dev->launched) {
        struct rv32_work *work = list_entry(node, struct rv32_work, launched);
        forget_launch(dev, work, -ETIMEDOUT);
        work->started = false;
        dev->waiting++;
    }
    if (dev->copying) {
        dev->copying->started = false;
        dev->copying = NULL;
        dev->waiting++;
    }
    if (guilty)
        end(dev, guilty, -ETIMEDOUT);
}

/* How many launches have to end before there is something to do: one, where work waits to be started; else
 * those up to the stream's last one. */
static unsigned launches_to_wait_for(struct rv32_device *dev, const struct rv32_stream *stream)
{
    unsigned n = 0, last = 0;
    if (dev->waiting > 0 || !stream)
        return dev->launches > 0;
    list_for_each (node, &dev->launched) {
        n++;
        if (list_entry(node, struct rv32_work, launched)->stream == stream)
            last = n;
    }
    return last;
}

/* Something is under way: sleep until some of it has ended, and go on with what waited for it. stream: whose
 * work the caller waits for, NULL: anybody's. */
static void wait_for_progress(struct rv32_device *dev, const struct rv32_stream *stream)
{
    unsigned launches = launches_to_wait_for(dev, stream);
    trace_begin("wait", "the GPU", launches, 0);
    int err = dev->port->wait(dev, launches);
    trace_end("wait");
    if (!reap(dev) && err == -ETIMEDOUT)
        give_up(dev);
    feed_all(dev);
}

static void advance(struct rv32_device *dev)
{
    reap(dev);
    feed_all(dev);
}

struct rv32_work *rv32_new_work(struct rv32_device *dev)
{
    advance(dev);
    while (list_empty(&dev->idle))
        wait_for_progress(dev, NULL);
    struct rv32_work *work = list_first(&dev->idle, struct rv32_work, node);
    list_remove(&work->node);
    return work;
}

void rv32_submit(struct rv32_device *dev, struct rv32_stream *stream, struct rv32_work *work)
{
    work->stream = stream;
    work->started = false;
    if (stream->error) {
        retire(dev, work);
        return;
    }
    list_add_tail(&stream->work, &work->node);
    dev->waiting++;
    feed(dev, stream);
}

int rv32_sync_stream(struct rv32_device *dev, struct rv32_stream *stream)
{
    advance(dev);
    while (!list_empty(&stream->work))
        wait_for_progress(dev, stream);
    int err = stream->error;
    stream->error = 0;
    return err;
}

void rv32_drain(struct rv32_device *dev)
{
    advance(dev);
    while (dev->waiting > 0 || dev->launches > 0 || dev->copying)
        wait_for_progress(dev, NULL);
}

/* ---- the contract's slots -------------------------------------------------------------------------------
 */

int rv32_sync(struct gpgpu_device *gpgpu, gpgpu_stream_t handle)
{
    struct rv32_stream *stream = rv32_find_stream(to_rv32(gpgpu), handle);
    return stream ? rv32_sync_stream(to_rv32(gpgpu), stream) : -EINVAL;
}

int rv32_stream_create(struct gpgpu_device *gpgpu, gpgpu_stream_t *out)
{
    struct rv32_stream *stream = malloc(sizeof(*stream));
    if (!stream)
        return -ENOMEM;
    add_stream(to_rv32(gpgpu), stream);
    *out = (uintptr_t)stream;
    return 0;
}

int rv32_stream_destroy(struct gpgpu_device *gpgpu, gpgpu_stream_t handle)
{
    struct rv32_stream *stream = rv32_find_stream(to_rv32(gpgpu), handle);
    if (!stream)
        return -EINVAL;
    int err = rv32_sync_stream(to_rv32(gpgpu), stream);
    list_remove(&stream->node);
    free(stream);
    return err;
}

static struct rv32_event *to_event(gpgpu_event_t handle)
{
    return (struct rv32_event *)(uintptr_t)handle;
}

int rv32_event_create(struct gpgpu_device *gpgpu, gpgpu_event_t *out)
{
    (void)gpgpu;
    struct rv32_event *event = calloc(1, sizeof(*event));
    *out = (uintptr_t)event;
    return event ? 0 : -ENOMEM;
}

static void wait_for_event(struct rv32_device *dev, const struct rv32_event *event)
{
    advance(dev);
    while (event->pending > 0)
        wait_for_progress(dev, NULL);
}

int rv32_event_destroy(struct gpgpu_device *gpgpu, gpgpu_event_t handle)
{
    wait_for_event(to_rv32(gpgpu), to_event(handle));
    free(to_event(handle));
    return 0;
}

int rv32_event_record(struct gpgpu_device *gpgpu, gpgpu_stream_t stream_handle, gpgpu_event_t handle)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    struct rv32_stream *stream = rv32_find_stream(dev, stream_handle);
    if (!stream)
        return -EINVAL;
    struct rv32_work *work = rv32_new_work(dev);
    work->kind = RV32_EVENT;
    work->event = to_event(handle);
    work->event->pending++;
    rv32_submit(dev, stream, work);
    return 0;
}

int rv32_event_sync(struct gpgpu_device *gpgpu, gpgpu_event_t handle)
{
    wait_for_event(to_rv32(gpgpu), to_event(handle));
    return to_event(handle)->recorded ? 0 : -EINVAL;
}

int rv32_event_elapsed_ns(struct gpgpu_device *gpgpu, gpgpu_event_t start_handle, gpgpu_event_t end_handle,
                          uint64_t *out)
{
    (void)gpgpu;
    const struct rv32_event *from = to_event(start_handle), *to = to_event(end_handle);
    bool both = from->recorded && to->recorded && !from->pending && !to->pending;
    if (!both || to->ns < from->ns)
        return -EINVAL;
    *out = to->ns - from->ns;
    return 0;
}
