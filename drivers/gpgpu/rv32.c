/* SPDX-License-Identifier: MIT */
#include "rv32.h"

#include "backend.h"

#define LOG_MODULE "gpgpu"
#include "core/log.h"
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

static struct rv32_device *to_rv32(struct gpgpu_device *dev)
{
    return container_of(dev, struct rv32_device, gpgpu);
}

int rv32_init(struct rv32_device *dev, const struct rv32_port *port, const struct gpgpu_caps *caps)
{
    dev->gpgpu.ops = &rv32_ops;
    dev->port = port;
    dev->caps = *caps;
    dev->running = dev->faulted = false;
    list_init(&dev->modules);
    /* Address 0 is never given out: it is the null pointer of kernels. */
    int err = vram_init(&dev->vram, GPGPU_ALIGNMENT, caps->vram_bytes - GPGPU_ALIGNMENT);
    if (err)
        return err;
    err = vram_alloc(&dev->vram, GPGPU_MAX_ARGS * sizeof(uint32_t), &dev->args);
    if (err)
        vram_destroy(&dev->vram);
    return err;
}

static int sync_launch(struct rv32_device *dev);

void rv32_destroy(struct rv32_device *dev)
{
    sync_launch(dev);
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

/* The device does one thing at a time, so a copy first waits for the launch before it. */
static int before_copy(struct rv32_device *dev, const char *what, gpgpu_addr_t addr, size_t size)
{
    int err = check_range(dev, what, addr, size);
    return err ? err : sync_launch(dev);
}

static int rv32_copy_h2d(struct gpgpu_device *gpgpu, gpgpu_stream_t stream, gpgpu_addr_t dst, const void *src,
                         size_t size)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    (void)stream;
    int err = before_copy(dev, "copy to the device", dst, size);
    return err ? err : dev->port->write(dev, dst, src, size);
}

static int rv32_copy_d2h(struct gpgpu_device *gpgpu, gpgpu_stream_t stream, void *dst, gpgpu_addr_t src,
                         size_t size)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    (void)stream;
    int err = before_copy(dev, "copy from the device", src, size);
    return err ? err : dev->port->read(dev, dst, src, size);
}

static int rv32_copy_d2d(struct gpgpu_device *gpgpu, gpgpu_stream_t stream, gpgpu_addr_t dst,
                         gpgpu_addr_t src, size_t size)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    if (!dev->port->copy)
        return gpgpu_copy_through_host(gpgpu, stream, dst, src, size);
    int err = check_range(dev, "copy inside the device", src, size);
    if (!err)
        err = before_copy(dev, "copy inside the device", dst, size);
    return err ? err : dev->port->copy(dev, dst, src, size);
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
    err = dev->port->write(dev, m->code, v->code, v->size);
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
    int err = sync_launch(dev);
    vram_free(&dev->vram, m->code);
    list_remove(&m->node);
    free(m);
    return err;
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

static int write_args(struct rv32_device *dev, const struct gpgpu_launch *launch)
{
    uint32_t words[GPGPU_MAX_ARGS];
    if (launch->nargs == 0)
        return 0;
    for (size_t i = 0; i < launch->nargs; i++)
        words[i] = arg_word(&launch->args[i]);
    return dev->port->write(dev, dev->args, words, launch->nargs * sizeof(words[0]));
}

static int rv32_launch(struct gpgpu_device *gpgpu, gpgpu_stream_t stream, gpgpu_kernel_t handle,
                       const struct gpgpu_launch *launch)
{
    struct rv32_device *dev = to_rv32(gpgpu);
    (void)stream;
    const struct rv32_kernel *kernel = find_kernel(dev, handle);
    if (!kernel) {
        log_error("%s: launch of a kernel that is not loaded", gpgpu->name);
        return -EINVAL;
    }
    int err = gpgpu_check_launch(&dev->caps, kernel->entry, launch);
    if (!err)
        err = sync_launch(dev);
    if (!err)
        err = write_args(dev, launch);
    if (err)
        return err;

    dev->current = (struct rv32_start){
        .kernel = kernel->pc,
        .args = dev->args,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .shared_bytes = launch->shared_bytes,
    };
    dev->current_kernel = kernel;
    err = dev->port->start(dev, &dev->current);
    dev->running = !err;
    return err;
}

static void record_fault(struct rv32_device *dev)
{
    const struct rv32_kernel *k = dev->current_kernel;
    char text[320];
    dev->fault.pc_offset = dev->fault.pc - k->module->code;
    snprintf(dev->fault.kernel, sizeof(dev->fault.kernel), "%s", k->entry->name);
    dev->faulted = true;
    gpgpu_fault_describe(&dev->fault, text, sizeof(text));
    log_error("%s: %s", dev->gpgpu.name, text);
}

static int sync_launch(struct rv32_device *dev)
{
    if (!dev->running)
        return 0;
    dev->running = false;
    struct gpgpu_fault fault = {0};
    int err = dev->port->wait(dev, &dev->current, &fault);
    if (err == -EFAULT) {
        dev->fault = fault;
        record_fault(dev);
    }
    return err;
}

static int rv32_sync(struct gpgpu_device *gpgpu, gpgpu_stream_t stream)
{
    (void)stream;
    return sync_launch(to_rv32(gpgpu));
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
};
