/* SPDX-License-Identifier: MIT */
#include "rv32.h"

#include "backend.h"

#define LOG_MODULE "gpgpu"
#include "core/log.h"
#include "core/trace.h"
#include "core/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rv32_kernel {
    const struct rv32_module *module;
    const struct gpgpu_kernel_entry *entry;
    gpgpu_addr_t pc;
};

struct rv32_module {
    struct list_node node;
    gpgpu_addr_t code;
    size_t nkernels;
    struct rv32_kernel kernels[];
};

int rv32_init(struct rv32_device *dev, const struct rv32_port *port, const struct gpgpu_caps *caps)
{
    dev->gpgpu.ops = &rv32_ops;
    dev->port = port;
    dev->caps = *caps;
    dev->faulted = false;
    list_init(&dev->modules);
    rv32_work_init(dev);
    /* Address 0 is never given out: it is the null pointer of kernels. */
    int err = vram_init(&dev->vram, GPGPU_ALIGNMENT, caps->vram_bytes - GPGPU_ALIGNMENT);
    if (err)
        return err;
    err = vram_alloc(&dev->vram, RV32_DEPTH * RV32_ARGS_BYTES, &dev->args);
    if (err)
        vram_destroy(&dev->vram);
    return err;
}

void rv32_destroy(struct rv32_device *dev)
{
    rv32_drain(dev);
    list_for_each_safe (node, &dev->modules) {
        list_remove(node);
        free(list_entry(node, struct rv32_module, node));
    }
    vram_destroy(&dev->vram);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void rv32_caps(struct gpgpu_device *gpgpu, struct gpgpu_caps *caps)
{
    gpgpu_caps_copy(caps, &to_rv32(gpgpu)->caps);
}

static int rv32_mem_alloc(struct gpgpu_device *gpgpu, size_t size, gpgpu_addr_t *out)
{
    return vram_alloc(&to_rv32(gpgpu)->vram, size, out);
}

static int rv32_mem_free(struct gpgpu_device *gpgpu, gpgpu_addr_t addr)
{
    int err = vram_free(&to_rv32(gpgpu)->vram, addr);
    if (err)
        log_error("%s: free of 0x%" PRIx64 ", which is no live allocation", gpgpu->name, addr);
    return err;
}

static int check_range(const struct rv32_device *dev, const char *what, gpgpu_addr_t addr, size_t size)
{
    if (vram_contains(&dev->vram, addr, size))
        return 0;
    log_error("%s: %s of %zu bytes at 0x%" PRIx64 " is not inside one allocation", dev->gpgpu.name, what,
              size, addr);
    return -EINVAL;
}

/* Queue a copy whose device ranges have been checked. */
static int queue_copy(struct rv32_device *dev, gpgpu_stream_t handle, const struct rv32_copy *copy)
{
    struct rv32_stream *stream = rv32_find_stream(dev, handle);
    if (!stream)
        return -EINVAL;
    struct rv32_work *work = rv32_new_work(dev);
    work->kind = RV32_COPY;
    work->copy = *copy;
    rv32_submit(dev, stream, work);
    return 0;
}

static int rv32_copy_h2d(struct gpgpu_device *gpgpu, gpgpu_stream_t stream, gpgpu_addr_t dst, const void *src,
                         size_t size)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    struct rv32_copy copy = {.direction = RV32_TO_DEVICE, .device = dst, .source = src, .size = size};
    int err = check_range(dev, "copy to the device", dst, size);
    return err ? err : queue_copy(dev, stream, &copy);
}

static int rv32_copy_d2h(struct gpgpu_device *gpgpu, gpgpu_stream_t stream, void *dst, gpgpu_addr_t src,
                         size_t size)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    struct rv32_copy copy = {.direction = RV32_FROM_DEVICE, .device = src, .destination = dst, .size = size};
    int err = check_range(dev, "copy from the device", src, size);
    return err ? err : queue_copy(dev, stream, &copy);
}

static int rv32_copy_d2d(struct gpgpu_device *gpgpu, gpgpu_stream_t stream, gpgpu_addr_t dst,
                         gpgpu_addr_t src, size_t size)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    if (!(dev->caps.features & GPGPU_FEATURE_COPY_D2D))
        return gpgpu_copy_through_host(gpgpu, stream, dst, src, size);
    struct rv32_copy copy = {.direction = RV32_INSIDE, .device = dst, .from = src, .size = size};
    int err = check_range(dev, "copy inside the device", src, size);
    if (!err)
        err = check_range(dev, "copy inside the device", dst, size);
    return err ? err : queue_copy(dev, stream, &copy);
}

/* ---- modules ------------------------------------------------------------------------------------------- */

static void fill_kernels(struct rv32_module *m, const struct gpgpu_kernel_image *image,
                         const struct gpgpu_kernel_variant *v)
{
    m->nkernels = image->nentries;
    for (size_t i = 0; i < m->nkernels; i++)
        m->kernels[i] = (struct rv32_kernel){
            .module = m, .entry = &image->entries[i], .pc = m->code + (v->offsets ? v->offsets[i] : 0)};
}

static int copy_code(struct rv32_device *dev, gpgpu_addr_t to, const struct gpgpu_kernel_variant *v)
{
    struct rv32_work *work = rv32_new_work(dev);
    work->kind = RV32_COPY;
    work->copy =
        (struct rv32_copy){.direction = RV32_TO_DEVICE, .device = to, .source = v->code, .size = v->size};
    rv32_submit(dev, &dev->setup, work);
    return rv32_sync_stream(dev, &dev->setup);
}

static int rv32_module_load(struct gpgpu_device *gpgpu, const struct gpgpu_kernel_image *image,
                            gpgpu_module_t *out)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    const struct gpgpu_kernel_variant *v = gpgpu_pick_variant(image, &dev->caps);
    if (!v) {
        log_error("%s: module %s has no variant for this device", gpgpu->name, image->name);
        return -ENOEXEC;
    }
    struct rv32_module *m = malloc(sizeof(*m) + image->nentries * sizeof(m->kernels[0]));
    if (!m)
        return -ENOMEM;
    int err = vram_alloc(&dev->vram, v->size, &m->code);
    if (err)
        goto free_module;
    err = copy_code(dev, m->code, v);
    if (err)
        goto free_code;
    fill_kernels(m, image, v);
    list_add_tail(&dev->modules, &m->node);
    *out = (gpgpu_module_t)(uintptr_t)m;
    log_debug("%s: module %s, %zu bytes at 0x%" PRIx64, gpgpu->name, image->name, v->size, m->code);
    return 0;

free_code:
    vram_free(&dev->vram, m->code);
free_module:
    free(m);
    return err;
}

static struct rv32_module *find_module(struct rv32_device *dev, gpgpu_module_t handle)
{
    list_for_each (node, &dev->modules) {
        struct rv32_module *m = list_entry(node, struct rv32_module, node);
        if ((gpgpu_module_t)(uintptr_t)m == handle)
            return m;
    }
    return NULL;
}

static int rv32_module_unload(struct gpgpu_device *gpgpu, gpgpu_module_t handle)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    struct rv32_module *m = find_module(dev, handle);
    if (!m)
        return -EINVAL;
    rv32_drain(dev);
    vram_free(&dev->vram, m->code);
    list_remove(&m->node);
    free(m);
    return 0;
}

static int rv32_kernel_get(struct gpgpu_device *gpgpu, gpgpu_module_t module, const char *name,
                           gpgpu_kernel_t *out)
{
    struct rv32_module *m = find_module(to_rv32(gpgpu), module);
    if (!m)
        return -EINVAL;
    for (size_t i = 0; i < m->nkernels; i++) {
        if (strcmp(m->kernels[i].entry->name, name) == 0) {
            *out = (gpgpu_kernel_t)(uintptr_t)&m->kernels[i];
            return 0;
        }
    }
    return -ENOENT;
}

/* A kernel handle is the address of an element of a loaded module's table: anything else is stale. */
static const struct rv32_kernel *find_kernel(struct rv32_device *dev, gpgpu_kernel_t handle)
{
    list_for_each (node, &dev->modules) {
        struct rv32_module *m = list_entry(node, struct rv32_module, node);
        uint64_t offset = handle - (uintptr_t)m->kernels;
        if (offset % sizeof(m->kernels[0]) == 0 && offset / sizeof(m->kernels[0]) < m->nkernels)
            return &m->kernels[offset / sizeof(m->kernels[0])];
    }
    return NULL;
}

/* ---- launches ------------------------------------------------------------------------------------------ */

/* The word of one argument. A device address fits: VRAM lies below 2^31 in the kernel's 32-bit view. */
static uint32_t arg_word(const struct gpgpu_arg *arg)
{
    uint32_t word;
    switch (arg->type) {
    case GPGPU_ARG_ADDR:
        return (uint32_t)arg->addr;
    case GPGPU_ARG_I32:
        return (uint32_t)arg->i32;
    case GPGPU_ARG_U32:
        return arg->u32;
    case GPGPU_ARG_F32:
        memcpy(&word, &arg->f32, sizeof(word));
        return word;
    }
    return 0;
}

static void write_args(struct rv32_device *dev, uint64_t to, const struct gpgpu_launch *launch)
{
    uint32_t words[GPGPU_MAX_ARGS];
    for (size_t i = 0; i < launch->nargs; i++)
        words[i] = arg_word(&launch->args[i]);
    if (launch->nargs > 0)
        dev->port->write(dev, to, words, launch->nargs * sizeof(words[0]));
}

static void queue_launch(struct rv32_device *dev, struct rv32_stream *stream,
                         const struct rv32_kernel *kernel, const struct gpgpu_launch *launch)
{
    struct rv32_work *work = rv32_new_work(dev);
    uint64_t args = rv32_work_args(dev, work);
    write_args(dev, args, launch);
    work->kind = RV32_LAUNCH;
    work->kernel = kernel;
    work->start = (struct rv32_start){
        .kernel = kernel->pc,
        .args = args,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .shared_bytes = launch->shared_bytes,
    };
    rv32_submit(dev, stream, work);
}

const char *rv32_kernel_name(const struct rv32_kernel *kernel)
{
    return kernel->entry->name;
}

static uint64_t volume(const uint32_t dim[3])
{
    return (uint64_t)dim[0] * dim[1] * dim[2];
}

static int rv32_launch(struct gpgpu_device *gpgpu, gpgpu_stream_t stream_handle, gpgpu_kernel_t handle,
                       const struct gpgpu_launch *launch)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    struct rv32_stream *stream = rv32_find_stream(dev, stream_handle);
    const struct rv32_kernel *kernel = find_kernel(dev, handle);
    if (!kernel)
        log_error("%s: launch of a kernel that is not loaded", gpgpu->name);
    if (!kernel || !stream)
        return -EINVAL;
    int err = gpgpu_check_launch(&dev->caps, kernel->entry, launch);
    if (err)
        return err;
    trace_begin("launch", kernel->entry->name, volume(launch->grid), volume(launch->block));
    queue_launch(dev, stream, kernel, launch);
    trace_end("launch");
    return 0;
}

void rv32_record_fault(struct rv32_device *dev, const struct rv32_kernel *kernel,
                       const struct gpgpu_fault *fault)
{
    char text[320];
    dev->fault = *fault;
    dev->fault.pc_offset = fault->pc - kernel->module->code;
    snprintf(dev->fault.kernel, sizeof(dev->fault.kernel), "%s", kernel->entry->name);
    dev->faulted = true;
    gpgpu_fault_describe(&dev->fault, text, sizeof(text));
    log_error("%s: %s", dev->gpgpu.name, text);
    log_error("docs/write-a-kernel.md, part 3, says how to find the instruction");
}

static int rv32_last_fault(struct gpgpu_device *gpgpu, struct gpgpu_fault *out)
{
    const struct rv32_device *dev = to_rv32(gpgpu);
    if (!dev->faulted)
        return -ENOENT;
    *out = dev->fault;
    return 0;
}

void rv32_locate(const struct rv32_device *dev, const struct rv32_start *start, uint32_t mhartid,
                 struct gpgpu_fault *fault)
{
    uint32_t lane = mhartid & 31, warp = mhartid >> 5 & 0xff, block = mhartid >> 13;
    uint32_t thread = warp * dev->caps.warp_size + lane;
    fault->thread[0] = thread % start->block[0];
    fault->thread[1] = thread / start->block[0] % start->block[1];
    fault->thread[2] = thread / start->block[0] / start->block[1];
    fault->block[0] = block % start->grid[0];
    fault->block[1] = block / start->grid[0] % start->grid[1];
    fault->block[2] = block / start->grid[0] / start->grid[1];
}

const struct gpgpu_ops rv32_ops = {
    .caps = rv32_caps,
    .mem_alloc = rv32_mem_alloc,
    .mem_free = rv32_mem_free,
    .copy_h2d = rv32_copy_h2d,
    .copy_d2h = rv32_copy_d2h,
    .copy_d2d = rv32_copy_d2d,
    .module_load = rv32_module_load,
    .module_unload = rv32_module_unload,
    .kernel_get = rv32_kernel_get,
    .launch = rv32_launch,
    .sync = rv32_sync,
    .last_fault = rv32_last_fault,
    .stream_create = rv32_stream_create,
    .stream_destroy = rv32_stream_destroy,
    .event_create = rv32_event_create,
    .event_destroy = rv32_event_destroy,
    .event_record = rv32_event_record,
    .event_sync = rv32_event_sync,
    .event_elapsed_ns = rv32_event_elapsed_ns,
};
