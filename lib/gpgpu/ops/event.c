/* SPDX-License-Identifier: MIT */
/* Events of a tensor context's stream. */
#include "tensor_op.h"

int tensor_event_create(struct tensor_context *tc, struct tensor_event *event)
{
    *event = (struct tensor_event){.tc = tc};
    int err = gpgpu_device_event_create(tc->device, &event->handle);
    if (err)
        event->tc = NULL;
    return err ? op_fail(tc, err, "event: not made: error %d", err) : 0;
}

int tensor_event_record(struct tensor_event *event)
{
    struct tensor_context *tc = event->tc;
    if (!tc)
        return -EINVAL;
    if (tc->recording)
        return op_fail(tc, -EBUSY, "event: a graph holds operators only");
    return gpgpu_device_event_record(tc->device, tc->stream, event->handle);
}

int tensor_event_sync(const struct tensor_event *event)
{
    return event->tc ? gpgpu_device_event_sync(event->tc->device, event->handle) : -EINVAL;
}

int tensor_event_elapsed_ns(const struct tensor_event *start, const struct tensor_event *end, uint64_t *out)
{
    if (!start->tc || !end->tc || start->tc->device != end->tc->device)
        return -EINVAL;
    return gpgpu_device_event_elapsed_ns(start->tc->device, start->handle, end->handle, out);
}

void tensor_event_destroy(struct tensor_event *event)
{
    if (event->tc)
        gpgpu_device_event_destroy(event->tc->device, event->handle);
    event->tc = NULL;
}
