/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "host_device.h"
#include "kernel_names.h"
#include "gpgpu_kernel.h"

#define STACK_BYTES (64u * 1024)

struct kernel_thread kernel_thread;

#define DECLARE(name) void name##_host(const void *slots);
KERNEL_NAMES(DECLARE)
#define NAMED(name) {#name, name##_host},
static const struct {
    const char *name;
    void (*entry)(const void *slots);
} kernels[] = {KERNEL_NAMES(NAMED)};

/* A kernel being run: block_dim threads as coroutines, resumed in turn. */
static struct {
    void (*entry)(const void *slots);
    const void *slots;
    ucontext_t scheduler, *threads;
    bool *ended;
    unsigned nthreads, current;
    bool coroutines;
} run;

static unsigned allocations;

/* Give the turn back; the next time is after every other thread got here or ended. */
void kernel_host_barrier(void)
{
    assert(run.coroutines); /* a kernel that meets a barrier uses shared memory */
    swapcontext(&run.threads[run.current], &run.scheduler);
}

static void set_thread(unsigned index)
{
    run.current = index;
    kernel_thread.thread[0] = index % kernel_thread.block_dim[0];
    kernel_thread.thread[1] = index / kernel_thread.block_dim[0] % kernel_thread.block_dim[1];
    kernel_thread.thread[2] = index / kernel_thread.block_dim[0] / kernel_thread.block_dim[1];
}

static void coroutine(void)
{
    run.entry(run.slots);
    run.ended[run.current] = true;
}

static void prepare(unsigned i, char *stacks)
{
    ucontext_t *thread = &run.threads[i];
    getcontext(thread);
    thread->uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
    thread->uc_stack.ss_size = STACK_BYTES;
    thread->uc_link = &run.scheduler;
    makecontext(thread, coroutine, 0);
    run.ended[i] = false;
}

/* A thread's turn, up to its next barrier or its end. Whether it is still there. */
static bool resume(unsigned i)
{
    if (run.ended[i])
        return false;
    set_thread(i);
    swapcontext(&run.scheduler, &run.threads[i]);
    return !run.ended[i];
}

static void run_coroutines(char *stacks)
{
    for (unsigned i = 0; i < run.nthreads; i++)
        prepare(i, stacks);
    for (unsigned left = run.nthreads; left;) {
        left = 0;
        for (unsigned i = 0; i < run.nthreads; i++)
            left += resume(i);
    }
}

static void run_block(char *stacks, size_t shared_bytes)
{
    if (!run.coroutines) {
        for (unsigned i = 0; i < run.nthreads; i++) {
            set_thread(i);
            run.entry(run.slots);
        }
        return;
    }
    kernel_thread.shared = calloc(1, shared_bytes);
    assert(kernel_thread.shared);
    run_coroutines(stacks);
    free(kernel_thread.shared);
}

static int host_launch(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_kernel_t kernel,
                       const struct gpgpu_launch *launch)
{
    (void)dev, (void)stream;
    uint64_t slots[GPGPU_MAX_ARGS] = {0};
    for (size_t i = 0; i < launch->nargs; i++) {
        if (launch->args[i].type == GPGPU_ARG_ADDR)
            slots[i] = launch->args[i].addr;
        else
            memcpy(&slots[i], &launch->args[i].u32, 4);
    }
    run.entry = kernels[kernel].entry;
    run.slots = slots;
    run.nthreads = launch->block[0] * launch->block[1] * launch->block[2];
    run.coroutines = launch->shared_bytes != 0;
    memcpy(kernel_thread.grid_dim, launch->grid, sizeof launch->grid);
    memcpy(kernel_thread.block_dim, launch->block, sizeof launch->block);
    char *stacks = malloc((size_t)run.nthreads * STACK_BYTES);
    run.threads = calloc(run.nthreads, sizeof *run.threads);
    run.ended = calloc(run.nthreads, sizeof *run.ended);
    assert(stacks && run.threads && run.ended);
    uint32_t *b = kernel_thread.block;
    for (b[2] = 0; b[2] < launch->grid[2]; b[2]++)
        for (b[1] = 0; b[1] < launch->grid[1]; b[1]++)
            for (b[0] = 0; b[0] < launch->grid[0]; b[0]++)
                run_block(stacks, launch->shared_bytes);
    free(stacks);
    free(run.threads);
    free(run.ended);
    return 0;
}

static void host_caps(struct gpgpu_device *dev, struct gpgpu_caps *caps)
{
    (void)dev;
    *caps = (struct gpgpu_caps){
        .size = sizeof *caps,
        .name = "host",
        .isa = GPGPU_ISA_RV32, /* only so that some variant of an image fits */
        .compute_units = 2,
        .warp_size = 32,
        .max_block = 1024,
        .vram_bytes = 1u << 30,
        .shared_max = 64 * 1024,
        .features = GPGPU_FEATURE_SHARED | GPGPU_FEATURE_EXECUTES,
    };
}

static int host_alloc(struct gpgpu_device *dev, size_t size, gpgpu_addr_t *out)
{
    (void)dev;
    void *p = malloc(size);
    if (!p)
        return -ENOMEM;
    allocations++;
    *out = (uintptr_t)p;
    return 0;
}

static int host_free(struct gpgpu_device *dev, gpgpu_addr_t addr)
{
    (void)dev;
    allocations--;
    free((void *)(uintptr_t)addr);
    return 0;
}

static int host_h2d(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst, const void *src,
                    size_t size)
{
    (void)dev, (void)stream;
    memcpy((void *)(uintptr_t)dst, src, size);
    return 0;
}

static int host_d2h(struct gpgpu_device *dev, gpgpu_stream_t stream, void *dst, gpgpu_addr_t src, size_t size)
{
    (void)dev, (void)stream;
    memcpy(dst, (const void *)(uintptr_t)src, size);
    return 0;
}

static int host_load(struct gpgpu_device *dev, const struct gpgpu_kernel_image *image, gpgpu_module_t *out)
{
    (void)dev, (void)image;
    *out = 1;
    return 0;
}

static int host_unload(struct gpgpu_device *dev, gpgpu_module_t module)
{
    (void)dev, (void)module;
    return 0;
}

static int host_kernel(struct gpgpu_device *dev, gpgpu_module_t module, const char *name, gpgpu_kernel_t *out)
{
    (void)dev, (void)module;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        if (strcmp(kernels[i].name, name) == 0) {
            *out = i;
            return 0;
        }
    }
    return -ENOENT;
}

static int host_sync(struct gpgpu_device *dev, gpgpu_stream_t stream)
{
    (void)dev, (void)stream;
    return 0;
}

static const struct gpgpu_ops host_ops = {
    .caps = host_caps,
    .mem_alloc = host_alloc,
    .mem_free = host_free,
    .copy_h2d = host_h2d,
    .copy_d2h = host_d2h,
    .module_load = host_load,
    .module_unload = host_unload,
    .kernel_get = host_kernel,
    .launch = host_launch,
    .sync = host_sync,
};

struct gpgpu_device *host_device(void)
{
    static struct gpgpu_device device = {.ops = &host_ops, .name = "host"};
    return &device;
}

unsigned host_device_allocations(void)
{
    return allocations;
}
