/* SPDX-License-Identifier: MIT */
#include "mock.h"

#include "core/util.h"

#include <errno.h>
#include <stdlib.h>

struct mock {
    struct gpgpu_device gpgpu;
    struct gpgpu_device *inner;
    struct {
        unsigned calls;
        unsigned fails_at; /* value of calls that fails; 0: none */
        int error;
    } plan[MOCK_OPS];
};

static struct mock *to_mock(struct gpgpu_device *dev)
{
    return container_of(dev, struct mock, gpgpu);
}

static int count(struct mock *m, enum gpgpu_mock_op op)
{
    m->plan[op].calls++;
    return m->plan[op].calls == m->plan[op].fails_at ? m->plan[op].error : 0;
}

/* Count a call; the error it has to return, or 0. */
static int call(struct gpgpu_device *dev, enum gpgpu_mock_op op)
{
    int err = count(to_mock(dev), op), any = count(to_mock(dev), MOCK_ANY);
    return err ? err : any;
}

static struct gpgpu_device *inner(struct gpgpu_device *dev)
{
    return to_mock(dev)->inner;
}

static void mock_caps(struct gpgpu_device *dev, struct gpgpu_caps *caps)
{
    inner(dev)->ops->caps(inner(dev), caps);
}

static int mock_mem_alloc(struct gpgpu_device *dev, size_t size, gpgpu_addr_t *out)
{
    int err = call(dev, MOCK_MEM_ALLOC);
    return err ? err : gpgpu_device_mem_alloc(inner(dev), size, out);
}

static int mock_mem_free(struct gpgpu_device *dev, gpgpu_addr_t addr)
{
    int err = call(dev, MOCK_MEM_FREE);
    return err ? err : gpgpu_device_mem_free(inner(dev), addr);
}

static int mock_copy_h2d(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst, const void *src,
                         size_t size)
{
    int err = call(dev, MOCK_COPY_H2D);
    return err ? err : gpgpu_device_copy_h2d(inner(dev), stream, dst, src, size);
}

static int mock_copy_d2h(struct gpgpu_device *dev, gpgpu_stream_t stream, void *dst, gpgpu_addr_t src,
                         size_t size)
{
    int err = call(dev, MOCK_COPY_D2H);
    return err ? err : gpgpu_device_copy_d2h(inner(dev), stream, dst, src, size);
}

static int mock_copy_d2d(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst, gpgpu_addr_t src,
                         size_t size)
{
    int err = call(dev, MOCK_COPY_D2D);
    return err ? err : gpgpu_device_copy_d2d(inner(dev), stream, dst, src, size);
}

static int mock_module_load(struct gpgpu_device *dev, const struct gpgpu_kernel_image *image,
                            gpgpu_module_t *out)
{
    int err = call(dev, MOCK_MODULE_LOAD);
    return err ? err : gpgpu_device_module_load(inner(dev), image, out);
}

static int mock_module_unload(struct gpgpu_device *dev, gpgpu_module_t module)
{
    int err = call(dev, MOCK_MODULE_UNLOAD);
    return err ? err : gpgpu_device_module_unload(inner(dev), module);
}

static int mock_kernel_get(struct gpgpu_device *dev, gpgpu_module_t module, const char *name,
                           gpgpu_kernel_t *out)
{
    int err = call(dev, MOCK_KERNEL_GET);
    return err ? err : gpgpu_device_kernel_get(inner(dev), module, name, out);
}

static int mock_launch(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_kernel_t kernel,
                       const struct gpgpu_launch *launch)
{
    int err = call(dev, MOCK_LAUNCH);
    return err ? err : gpgpu_device_launch(inner(dev), stream, kernel, launch);
}

static int mock_sync(struct gpgpu_device *dev, gpgpu_stream_t stream)
{
    int err = call(dev, MOCK_SYNC);
    return err ? err : gpgpu_device_sync(inner(dev), stream);
}

static int mock_last_fault(struct gpgpu_device *dev, struct gpgpu_fault *out)
{
    return gpgpu_device_last_fault(inner(dev), out);
}

static int mock_stream_create(struct gpgpu_device *dev, gpgpu_stream_t *out)
{
    int err = call(dev, MOCK_STREAM_CREATE);
    return err ? err : gpgpu_device_stream_create(inner(dev), out);
}

static int mock_stream_destroy(struct gpgpu_device *dev, gpgpu_stream_t stream)
{
    int err = call(dev, MOCK_STREAM_DESTROY);
    return err ? err : gpgpu_device_stream_destroy(inner(dev), stream);
}

static int mock_event_create(struct gpgpu_device *dev, gpgpu_event_t *out)
{
    int err = call(dev, MOCK_EVENT);
    return err ? err : gpgpu_device_event_create(inner(dev), out);
}

static int mock_event_destroy(struct gpgpu_device *dev, gpgpu_event_t event)
{
    int err = call(dev, MOCK_EVENT);
    return err ? err : gpgpu_device_event_destroy(inner(dev), event);
}

static int mock_event_record(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_event_t event)
{
    int err = call(dev, MOCK_EVENT);
    return err ? err : gpgpu_device_event_record(inner(dev), stream, event);
}

static int mock_event_sync(struct gpgpu_device *dev, gpgpu_event_t event)
{
    int err = call(dev, MOCK_EVENT);
    return err ? err : gpgpu_device_event_sync(inner(dev), event);
}

static int mock_event_elapsed_ns(struct gpgpu_device *dev, gpgpu_event_t start, gpgpu_event_t end,
                                 uint64_t *out)
{
    int err = call(dev, MOCK_EVENT);
    return err ? err : gpgpu_device_event_elapsed_ns(inner(dev), start, end, out);
}

static const struct gpgpu_ops mock_ops = {
    .caps = mock_caps,
    .mem_alloc = mock_mem_alloc,
    .mem_free = mock_mem_free,
    .copy_h2d = mock_copy_h2d,
    .copy_d2h = mock_copy_d2h,
    .copy_d2d = mock_copy_d2d,
    .module_load = mock_module_load,
    .module_unload = mock_module_unload,
    .kernel_get = mock_kernel_get,
    .launch = mock_launch,
    .sync = mock_sync,
    .last_fault = mock_last_fault,
    .stream_create = mock_stream_create,
    .stream_destroy = mock_stream_destroy,
    .event_create = mock_event_create,
    .event_destroy = mock_event_destroy,
    .event_record = mock_event_record,
    .event_sync = mock_event_sync,
    .event_elapsed_ns = mock_event_elapsed_ns,
};

int gpgpu_mock_create(struct gpgpu_device *inner_device, struct gpgpu_device **out)
{
    struct mock *m = calloc(1, sizeof(*m));
    if (!m)
        return -ENOMEM;
    m->gpgpu = (struct gpgpu_device){.ops = &mock_ops, .name = "mock"};
    m->inner = inner_device;
    *out = &m->gpgpu;
    return 0;
}

void gpgpu_mock_destroy(struct gpgpu_device *mock)
{
    free(to_mock(mock));
}

void gpgpu_mock_fail(struct gpgpu_device *mock, enum gpgpu_mock_op op, unsigned n, int error)
{
    struct mock *m = to_mock(mock);
    m->plan[op].fails_at = n ? m->plan[op].calls + n : 0;
    m->plan[op].error = error;
}

unsigned gpgpu_mock_calls(const struct gpgpu_device *mock, enum gpgpu_mock_op op)
{
    return to_mock((struct gpgpu_device *)mock)->plan[op].calls;
}
