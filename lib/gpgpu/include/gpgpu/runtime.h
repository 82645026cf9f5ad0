/* SPDX-License-Identifier: MIT */
/*
 * The GPU runtime: context, device memory, typed buffers, kernels, launches.
 *
 *     GPGPU_CONTEXT(ctx);                                    closed when it leaves scope
 *     gpgpu_context_open(&ctx, 0);
 *     GPGPU_BUFFER(int32_t) a;                               freed when it leaves scope
 *     gpgpu_buffer_from_host(&ctx, &a, host, n);
 *     gpgpu_upload_kernel(&ctx, &image, "vec_add", &kernel);
 *     gpgpu_launch_kernel(&ctx, &kernel, gpgpu_dim(blocks, 1, 1), gpgpu_dim(256, 1, 1), &a.raw, &b.raw,
 * &c.raw, n); gpgpu_buffer_readback(&c, host);                       waits for the kernel
 *
 * Functions return 0 or a negative errno as listed in drivers/gpgpu.h; what went wrong has been logged.
 * The shapes follow the CUDA runtime (cudaMalloc, cudaMemcpy, cudaLaunchKernel).
 */
#ifndef GPGPU_RUNTIME_H
#define GPGPU_RUNTIME_H

#include "drivers/gpgpu.h"

/* ---- context ------------------------------------------------------------------------------------------- */

struct gpgpu_module;

/* A device in use, with the modules it has loaded. */
struct gpgpu_context {
    struct gpgpu_device *device; /* NULL: closed */
    struct gpgpu_caps caps;
    struct gpgpu_module *modules; /* loaded so far, newest first */
};

/* Use the index-th device. -ENODEV: there is none. */
int gpgpu_context_open(struct gpgpu_context *ctx, unsigned index);

/* Use this device, whoever made it. */
int gpgpu_context_open_device(struct gpgpu_context *ctx, struct gpgpu_device *device);

/* Wait for the device, unload modules. Buffers must have been freed. No effect on a closed context. */
void gpgpu_context_close(struct gpgpu_context *ctx);

/* Declare a context that is closed when it leaves scope. */
#define GPGPU_CONTEXT(ctx) __attribute__((cleanup(gpgpu_context_close))) struct gpgpu_context ctx = {0}

/* ---- raw device memory --------------------------------------------------------------------------------- */

/* size bytes, 64-byte aligned, contents undefined. */
int gpgpu_malloc(struct gpgpu_context *ctx, size_t size, gpgpu_addr_t *out);

/* Waits for the device first, so that nothing running loses its memory. */
int gpgpu_free(struct gpgpu_context *ctx, gpgpu_addr_t addr);

/* Copy size bytes; done when it returns. */
int gpgpu_memcpy_h2d(struct gpgpu_context *ctx, gpgpu_addr_t dst, const void *src, size_t size);
int gpgpu_memcpy_d2h(struct gpgpu_context *ctx, void *dst, gpgpu_addr_t src, size_t size);
int gpgpu_memcpy_d2d(struct gpgpu_context *ctx, gpgpu_addr_t dst, gpgpu_addr_t src, size_t size);

/* Wait for everything launched; reports its error. */
int gpgpu_wait(struct gpgpu_context *ctx);

/* ---- typed buffers ------------------------------------------------------------------------------------- */

/* count elements of elem_size bytes in device memory. ctx NULL: holds nothing. */
struct gpgpu_buffer {
    struct gpgpu_context *ctx;
    gpgpu_addr_t addr;
    size_t count;
    size_t elem_size;
};

/*
 * Declare with this a buffer of T that is freed when it leaves scope:
 *     GPGPU_BUFFER(float) weights = GPGPU_BUFFER_INIT;
 * .raw is the buffer for functions that do not care about T; .type is never accessed, it only carries T, so
 * that a copy between a buffer of float and an array of int32_t does not compile.
 */
#define GPGPU_BUFFER(T)                                                                                      \
    __attribute__((cleanup(gpgpu_buffer_cleanup))) union {                                                   \
        struct gpgpu_buffer raw;                                                                             \
        T *type;                                                                                             \
    }
#define GPGPU_BUFFER_INIT {.raw = {0}}

/* Allocate count > 0 elements, contents undefined. -EINVAL: count 0 or already allocated. */
#define gpgpu_buffer_new(ctx, buf, count)                                                                    \
    gpgpu_buffer_alloc((ctx), &(buf)->raw, (count), sizeof(*(buf)->type))

/* Allocate and fill from count elements at src. */
#define gpgpu_buffer_from_host(ctx, buf, src, count)                                                         \
    gpgpu_buffer_alloc_from((ctx), &(buf)->raw, GPGPU_SAME_TYPE(buf, src), (count), sizeof(*(buf)->type))

/* Copy all elements to dst (room for buf->raw.count) or from src; done when it returns. */
#define gpgpu_buffer_readback(buf, dst) gpgpu_buffer_read(&(buf)->raw, GPGPU_SAME_TYPE(buf, dst))
#define gpgpu_buffer_write(buf, src)    gpgpu_buffer_fill(&(buf)->raw, GPGPU_SAME_TYPE(buf, src))

/* ptr, if it points to the buffer's element type; else a compile error. */
#define GPGPU_SAME_TYPE(buf, ptr) (1 ? (ptr) : (buf)->type)

int gpgpu_buffer_alloc(struct gpgpu_context *ctx, struct gpgpu_buffer *buf, size_t count, size_t elem_size);
int gpgpu_buffer_alloc_from(struct gpgpu_context *ctx, struct gpgpu_buffer *buf, const void *src,
                            size_t count, size_t elem_size);
int gpgpu_buffer_read(const struct gpgpu_buffer *buf, void *dst);
int gpgpu_buffer_fill(const struct gpgpu_buffer *buf, const void *src);

/* Free before the end of scope. No effect on an empty buffer. */
int gpgpu_buffer_free(struct gpgpu_buffer *buf);
void gpgpu_buffer_cleanup(void *buf); /* what the scope calls; logs an error */

/* ---- kernels ------------------------------------------------------------------------------------------- */

/* A kernel on a context's device. Valid until the context is closed. */
struct gpgpu_kernel {
    gpgpu_kernel_t handle;
    const char *name;
};

/*
 * Get the kernel called name out of image. The image is put on the device the first time the context sees it.
 * -ENOENT: no such kernel in it; -ENOEXEC: no variant for this device.
 */
int gpgpu_upload_kernel(struct gpgpu_context *ctx, const struct gpgpu_kernel_image *image, const char *name,
                        struct gpgpu_kernel *out);

/* ---- launches ------------------------------------------------------------------------------------------ */

struct gpgpu_dim3 {
    uint32_t x, y, z;
};

static inline struct gpgpu_dim3 gpgpu_dim(uint32_t x, uint32_t y, uint32_t z)
{
    return (struct gpgpu_dim3){x, y, z};
}

/* Blocks of `block` threads that cover count threads, at least one; the kernel checks its bounds. */
static inline struct gpgpu_dim3 gpgpu_cover(size_t count, uint32_t block)
{
    return gpgpu_dim((uint32_t)(count ? (count - 1) / block + 1 : 1), 1, 1);
}

/*
 * One argument, by type: int32_t, uint32_t, float, struct gpgpu_buffer *. Anything else does not compile; a
 * size_t must be narrowed by who knows that it fits, a device address is given as gpgpu_arg_addr(addr).
 */
#define gpgpu_arg(value)                                                                                     \
    _Generic((value),                                                                                        \
        int32_t: gpgpu_arg_i32,                                                                              \
        uint32_t: gpgpu_arg_u32,                                                                             \
        float: gpgpu_arg_f32,                                                                                \
        struct gpgpu_arg: gpgpu_arg_same,                                                                    \
        struct gpgpu_buffer *: gpgpu_arg_buffer,                                                             \
        const struct gpgpu_buffer *: gpgpu_arg_buffer)(value)

static inline struct gpgpu_arg gpgpu_arg_i32(int32_t value)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_I32, .i32 = value};
}

static inline struct gpgpu_arg gpgpu_arg_u32(uint32_t value)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_U32, .u32 = value};
}

static inline struct gpgpu_arg gpgpu_arg_f32(float value)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_F32, .f32 = value};
}

static inline struct gpgpu_arg gpgpu_arg_addr(gpgpu_addr_t value)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_ADDR, .addr = value};
}

static inline struct gpgpu_arg gpgpu_arg_buffer(const struct gpgpu_buffer *buf)
{
    return gpgpu_arg_addr(buf->addr);
}

static inline struct gpgpu_arg gpgpu_arg_same(struct gpgpu_arg value)
{
    return value;
}

/*
 * Build a launch step by step. Up to eight arguments arrive in registers a0..a7; up to GPGPU_MAX_ARGS are in
 * memory, where the kernel finds them through the control window.
 *
 *     struct gpgpu_launcher l = gpgpu_launcher(&ctx, &kernel);
 *     gpgpu_launcher_grid(&l, gpgpu_cover(n, 256));
 *     gpgpu_launcher_block(&l, gpgpu_dim(256, 1, 1));
 *     gpgpu_launcher_arg(&l, &a.raw);
 *     gpgpu_launcher_arg(&l, n);
 *     err = gpgpu_launcher_launch(&l);
 */
struct gpgpu_launcher {
    struct gpgpu_context *ctx;
    const struct gpgpu_kernel *kernel;
    struct gpgpu_launch launch;
    size_t nargs; /* given; more than GPGPU_MAX_ARGS is an error of the launch */
    struct gpgpu_arg args[GPGPU_MAX_ARGS];
};

/* One block of one thread, no arguments yet. */
struct gpgpu_launcher gpgpu_launcher(struct gpgpu_context *ctx, const struct gpgpu_kernel *kernel);
void gpgpu_launcher_grid(struct gpgpu_launcher *l, struct gpgpu_dim3 grid);
void gpgpu_launcher_block(struct gpgpu_launcher *l, struct gpgpu_dim3 block);
void gpgpu_launcher_shared(struct gpgpu_launcher *l, uint32_t bytes);
void gpgpu_launcher_add(struct gpgpu_launcher *l, struct gpgpu_arg arg);
#define gpgpu_launcher_arg(l, value) gpgpu_launcher_add((l), gpgpu_arg(value))

/* Start it; returns before the kernel has ended. */
int gpgpu_launcher_launch(struct gpgpu_launcher *l);

/* The same in one line: gpgpu_launch_kernel(ctx, kernel, grid, block, arguments...), at least one argument.
 */
#define gpgpu_launch_kernel(ctx, kernel, grid, block, ...)                                                   \
    gpgpu_launch_args(                                                                                       \
        (ctx), (kernel), (grid), (block), 0, (const struct gpgpu_arg[]){GPGPU_ARGS(__VA_ARGS__)},            \
        sizeof((const struct gpgpu_arg[]){GPGPU_ARGS(__VA_ARGS__)}) / sizeof(struct gpgpu_arg))

int gpgpu_launch_args(struct gpgpu_context *ctx, const struct gpgpu_kernel *kernel, struct gpgpu_dim3 grid,
                      struct gpgpu_dim3 block, uint32_t shared_bytes, const struct gpgpu_arg *args,
                      size_t nargs);

/* gpgpu_arg() of each of up to 64 arguments: the rescanning idiom of recursive macros with __VA_OPT__. */
#define GPGPU_ARGS(...)           __VA_OPT__(GPGPU_RESCAN64(GPGPU_ARGS_STEP(__VA_ARGS__)))
#define GPGPU_ARGS_STEP(arg, ...) gpgpu_arg(arg), __VA_OPT__(GPGPU_ARGS_AGAIN GPGPU_PARENS(__VA_ARGS__))
#define GPGPU_ARGS_AGAIN()        GPGPU_ARGS_STEP
#define GPGPU_PARENS              ()
#define GPGPU_RESCAN64(...)       GPGPU_RESCAN16(GPGPU_RESCAN16(GPGPU_RESCAN16(GPGPU_RESCAN16(__VA_ARGS__))))
#define GPGPU_RESCAN16(...)       GPGPU_RESCAN4(GPGPU_RESCAN4(GPGPU_RESCAN4(GPGPU_RESCAN4(__VA_ARGS__))))
#define GPGPU_RESCAN4(...)        GPGPU_RESCAN1(GPGPU_RESCAN1(GPGPU_RESCAN1(GPGPU_RESCAN1(__VA_ARGS__))))
#define GPGPU_RESCAN1(...)        __VA_ARGS__

#endif
