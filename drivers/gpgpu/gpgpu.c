/* SPDX-License-Identifier: MIT */
/* The class: what every backend gets for free, and the defaults of optional slots. */
#include "drivers/gpgpu.h"

#include "backend.h"
#include "bus/device.h"

#define LOG_MODULE "gpgpu"
#include "core/log.h"
#include "core/math.h"
#include "core/trace.h"
#include "core/util.h"
#include "hal/time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned gpgpu_device_count(void)
{
    return device_count(DEVICE_GPGPU);
}

struct gpgpu_device *gpgpu_device_get(unsigned index)
{
    struct device *dev = device_get(DEVICE_GPGPU, index);
    return dev ? dev->priv : NULL;
}

/* ---- faults ------------------------------------------------------------------------------------------- */

const char *gpgpu_cause_name(enum gpgpu_cause cause)
{
    switch (cause) {
    case GPGPU_CAUSE_NONE:
        return "no fault";
    case GPGPU_CAUSE_ILLEGAL_INSN:
        return "illegal instruction";
    case GPGPU_CAUSE_FETCH:
        return "instruction fetch outside memory";
    case GPGPU_CAUSE_ACCESS:
        return "access outside every window";
    case GPGPU_CAUSE_MISALIGNED_ATOMIC:
        return "misaligned atomic";
    case GPGPU_CAUSE_LIMIT:
        return "instruction budget or time limit";
    case GPGPU_CAUSE_BARRIER_DEADLOCK:
        return "barrier deadlock";
    case GPGPU_CAUSE_BAD_LAUNCH:
        return "bad launch";
    case GPGPU_CAUSE_UNKNOWN:
        break;
    }
    return "unknown cause";
}

int gpgpu_fault_describe(const struct gpgpu_fault *f, char *buf, size_t len)
{
    return snprintf(
        buf, len,
        "kernel %s: %s (cause %d) at pc 0x%" PRIx64 " (%s+0x%" PRIx64 "), instruction 0x%08" PRIx32
        ", address 0x%" PRIx64 ", thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") of block (%" PRIu32 ",%" PRIu32
        ",%" PRIu32 "), %" PRIu32 " threads faulted",
        f->kernel, gpgpu_cause_name(f->cause), (int)f->cause, f->pc, f->kernel, f->pc_offset, f->insn,
        f->addr, f->thread[0], f->thread[1], f->thread[2], f->block[0], f->block[1], f->block[2], f->count);
}

/* ---- capabilities, images, launches ----------------------------------------------------------------------
 */

void gpgpu_caps_copy(struct gpgpu_caps *caps, const struct gpgpu_caps *mine)
{
    size_t size = MIN(caps->size, sizeof(*mine));
    memcpy(caps, mine, size);
    caps->size = size;
}

void gpgpu_device_caps(struct gpgpu_device *dev, struct gpgpu_caps *caps)
{
    *caps = (struct gpgpu_caps){.size = sizeof(*caps)};
    dev->ops->caps(dev, caps);
}

static bool runs(const struct gpgpu_caps *caps, const struct gpgpu_kernel_variant *v)
{
    return v->isa == caps->isa && v->arch <= caps->arch && (v->features & ~caps->features) == 0;
}

const struct gpgpu_kernel_variant *gpgpu_pick_variant(const struct gpgpu_kernel_image *image,
                                                      const struct gpgpu_caps *caps)
{
    for (size_t i = image->nvariants; i-- > 0;)
        if (runs(caps, &image->variants[i]))
            return &image->variants[i];
    return NULL;
}

static int check_shape(const struct gpgpu_caps *caps, const char *kernel, const struct gpgpu_launch *l)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->block[i] == 0) {
            log_error("%s: grid %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", block %" PRIu32 "x%" PRIu32 "x%" PRIu32
                      ": each dimension must be at least 1",
                      kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
            return -EINVAL;
        }
        if (mul_overflows(threads, l->block[i], &threads) || threads > caps->max_block) {
            log_error("%s: block of %" PRIu32 "x%" PRIu32 "x%" PRIu32 " threads, the device takes %" PRIu32,
                      kernel, l->block[0], l->block[1], l->block[2], caps->max_block);
            return -EINVAL;
        }
    }
    if (l->shared_bytes > caps->shared_max) {
        log_error("%s: %" PRIu32 " bytes of shared memory, a block may have %" PRIu32, kernel,
                  l->shared_bytes, caps->shared_max);
        return -EINVAL;
    }
    return 0;
}

static int check_args(const struct gpgpu_kernel_entry *entry, const struct gpgpu_launch *l)
{
    size_t wanted = strlen(entry->signature);
    if (l->nargs != wanted || l->nargs > GPGPU_MAX_ARGS) {
        log_error("%s: %zu arguments given, the kernel takes %zu", entry->name, l->nargs, wanted);
        return -EINVAL;
    }
    for (size_t i = 0; i < l->nargs; i++) {
        if (l->args[i].type != (enum gpgpu_arg_type)entry->signature[i]) {
            log_error("%s: argument %zu has type '%c', the kernel takes '%c'", entry->name, i,
                      (char)l->args[i].type, entry->signature[i]);
            return -EINVAL;
        }
    }
    return 0;
}

int gpgpu_check_launch(const struct gpgpu_caps *caps, const struct gpgpu_kernel_entry *entry,
                       const struct gpgpu_launch *launch)
{
    int err = check_shape(caps, entry->name, launch);
    return err ? err : check_args(entry, launch);
}

/* ---- mandatory slots ----------------------------------------------------------------------------------- */

int gpgpu_device_mem_alloc(struct gpgpu_device *dev, size_t size, gpgpu_addr_t *out)
{
    *out = 0;
    return size ? dev->ops->mem_alloc(dev, size, out) : -EINVAL;
}

int gpgpu_device_mem_free(struct gpgpu_device *dev, gpgpu_addr_t addr)
{
    return dev->ops->mem_free(dev, addr);
}

int gpgpu_device_copy_h2d(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst, const void *src,
                          size_t size)
{
    if (size == 0)
        return 0;
    return src ? dev->ops->copy_h2d(dev, stream, dst, src, size) : -EINVAL;
}

int gpgpu_device_copy_d2h(struct gpgpu_device *dev, gpgpu_stream_t stream, void *dst, gpgpu_addr_t src,
                          size_t size)
{
    if (size == 0)
        return 0;
    return dst ? dev->ops->copy_d2h(dev, stream, dst, src, size) : -EINVAL;
}

int gpgpu_device_module_load(struct gpgpu_device *dev, const struct gpgpu_kernel_image *image,
                             gpgpu_module_t *out)
{
    *out = 0;
    if (!image || !image->nentries)
        return -EINVAL;
    trace_begin("load", image->name, 0, 0);
    int err = dev->ops->module_load(dev, image, out);
    trace_end("load");
    return err;
}

int gpgpu_device_module_unload(struct gpgpu_device *dev, gpgpu_module_t module)
{
    return dev->ops->module_unload(dev, module);
}

int gpgpu_device_kernel_get(struct gpgpu_device *dev, gpgpu_module_t module, const char *name,
                            gpgpu_kernel_t *out)
{
    *out = 0;
    return dev->ops->kernel_get(dev, module, name, out);
}

int gpgpu_device_launch(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_kernel_t kernel,
                        const struct gpgpu_launch *launch)
{
    if (launch->nargs > 0 && !launch->args)
        return -EINVAL;
    return dev->ops->launch(dev, stream, kernel, launch);
}

int gpgpu_device_sync(struct gpgpu_device *dev, gpgpu_stream_t stream)
{
    return dev->ops->sync(dev, stream);
}

/* ---- optional slots ------------------------------------------------------------------------------------ */

#define BOUNCE_BYTES ((size_t)64 * 1024)

int gpgpu_copy_through_host(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst,
                            gpgpu_addr_t src, size_t size)
{
    char *bounce = malloc(MIN(size, BOUNCE_BYTES));
    if (!bounce)
        return -ENOMEM;
    int err = 0;
    for (size_t done = 0; done < size && !err;) {
        size_t n = MIN(size - done, BOUNCE_BYTES);
        err = dev->ops->copy_d2h(dev, stream, bounce, src + done, n);
        if (!err)
            err = dev->ops->copy_h2d(dev, stream, dst + done, bounce, n);
        if (!err)
            err = dev->ops->sync(dev, stream); /* bounce is used again */
        done += n;
    }
    free(bounce);
    return err;
}

int gpgpu_device_copy_d2d(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst, gpgpu_addr_t src,
                          size_t size)
{
    gpgpu_addr_t distance = dst > src ? dst - src : src - dst;
    if (size == 0)
        return 0;
    if (distance < size)
        return -EINVAL;
    if (dev->ops->copy_d2d)
        return dev->ops->copy_d2d(dev, stream, dst, src, size);
    return gpgpu_copy_through_host(dev, stream, dst, src, size);
}

int gpgpu_device_last_fault(struct gpgpu_device *dev, struct gpgpu_fault *out)
{
    *out = (struct gpgpu_fault){0};
    return dev->ops->last_fault ? dev->ops->last_fault(dev, out) : -ENOTSUP;
}

int gpgpu_device_stream_create(struct gpgpu_device *dev, gpgpu_stream_t *out)
{
    *out = GPGPU_STREAM_DEFAULT;
    return dev->ops->stream_create ? dev->ops->stream_create(dev, out) : 0;
}

int gpgpu_device_stream_destroy(struct gpgpu_device *dev, gpgpu_stream_t stream)
{
    if (dev->ops->stream_destroy && stream != GPGPU_STREAM_DEFAULT)
        return dev->ops->stream_destroy(dev, stream);
    return stream == GPGPU_STREAM_DEFAULT ? 0 : -EINVAL;
}

/* The event of a backend without events: the host's clock after everything before it is done. */
struct host_event {
    bool recorded;
    uint64_t ns;
};

static struct host_event *host_event(gpgpu_event_t event)
{
    return (struct host_event *)(uintptr_t)event;
}

int gpgpu_device_event_create(struct gpgpu_device *dev, gpgpu_event_t *out)
{
    *out = 0;
    if (dev->ops->event_create)
        return dev->ops->event_create(dev, out);
    struct host_event *e = calloc(1, sizeof(*e));
    *out = (gpgpu_event_t)(uintptr_t)e;
    return e ? 0 : -ENOMEM;
}

int gpgpu_device_event_destroy(struct gpgpu_device *dev, gpgpu_event_t event)
{
    if (dev->ops->event_create)
        return dev->ops->event_destroy(dev, event);
    free(host_event(event));
    return 0;
}

int gpgpu_device_event_record(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_event_t event)
{
    if (dev->ops->event_create)
        return dev->ops->event_record(dev, stream, event);
    int err = dev->ops->sync(dev, stream);
    if (err)
        return err;
    *host_event(event) = (struct host_event){.recorded = true, .ns = time_now_ns()};
    return 0;
}

int gpgpu_device_event_sync(struct gpgpu_device *dev, gpgpu_event_t event)
{
    if (dev->ops->event_create)
        return dev->ops->event_sync(dev, event);
    return host_event(event)->recorded ? 0 : -EINVAL;
}

int gpgpu_device_event_elapsed_ns(struct gpgpu_device *dev, gpgpu_event_t start, gpgpu_event_t end,
                                  uint64_t *out)
{
    *out = 0;
    if (dev->ops->event_create)
        return dev->ops->event_elapsed_ns(dev, start, end, out);
    if (!host_event(start)->recorded || !host_event(end)->recorded)
        return -EINVAL;
    return sub_overflows(host_event(end)->ns, host_event(start)->ns, out) ? -EINVAL : 0;
}
