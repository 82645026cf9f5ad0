/* SPDX-License-Identifier: MIT */
/* What the cases share. A case returns at its first broken expectation; the runner frees what it left. */
#ifndef GPGPU_CONFORMANCE_PRIVATE_H
#define GPGPU_CONFORMANCE_PRIVATE_H

#include "gpgpu/images.h"

#include "core/util.h"

#include <errno.h>

struct conformance {
    struct gpgpu_device *dev;
    struct gpgpu_caps caps;
    unsigned timeout_ms;
    const char *name; /* of the running case */
    bool failed;      /* the running case has */
    bool skipped;
    gpgpu_addr_t allocs[8];    /* to free after it */
    gpgpu_module_t modules[2]; /* to unload after it */
    gpgpu_stream_t streams[2]; /* to destroy after it */
};

struct conformance_case {
    const char *name;
    uint32_t needs; /* GPGPU_FEATURE_* without which it is skipped */
    void (*run)(struct conformance *c);
};

#define EXPECT(c, condition)                                                                                 \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            conformance_fail((c), __FILE__, __LINE__, #condition);                                           \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)

/* call returns the wanted number; else the message shows both. */
#define EXPECT_ERROR(c, call, wanted)                                                                        \
    do {                                                                                                     \
        int expect_got = (call);                                                                             \
        if (expect_got != (wanted)) {                                                                        \
            conformance_fail_error((c), __FILE__, __LINE__, #call, expect_got, (wanted));                    \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)
#define EXPECT_OK(c, call) EXPECT_ERROR(c, call, 0)

void conformance_fail(struct conformance *c, const char *file, int line, const char *condition);
void conformance_fail_error(struct conformance *c, const char *file, int line, const char *call, int got,
                            int wanted);

/* Say why the running case cannot be run here. */
void conformance_skip(struct conformance *c, const char *why);

/* Allocate size bytes that the runner frees. */
int conformance_alloc(struct conformance *c, size_t size, gpgpu_addr_t *out);

/* Load a module that the runner unloads. */
int conformance_module(struct conformance *c, const struct gpgpu_kernel_image *image, gpgpu_module_t *out);

/* The same, and find its only kernel. */
int conformance_kernel(struct conformance *c, const struct gpgpu_kernel_image *image, gpgpu_kernel_t *out);

/* Start a kernel of one dimension. */
int conformance_launch(struct conformance *c, gpgpu_kernel_t kernel, uint32_t blocks, uint32_t threads,
                       const struct gpgpu_arg *args, size_t nargs);

/* The same in a stream. */
int conformance_launch_on(struct conformance *c, gpgpu_stream_t stream, gpgpu_kernel_t kernel,
                          uint32_t blocks, uint32_t threads, const struct gpgpu_arg *args, size_t nargs);

/* Create a stream that the runner destroys, or conformance_end_streams() before the end of the case. */
int conformance_stream(struct conformance *c, gpgpu_stream_t *out);
void conformance_end_streams(struct conformance *c);

/* Whether the device's time limit is too long for a case that waits for it; then the case is skipped. */
bool conformance_limit_is_long(struct conformance *c);

static inline struct gpgpu_arg arg_addr(gpgpu_addr_t value)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_ADDR, .addr = value};
}

static inline struct gpgpu_arg arg_u32(uint32_t value)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_U32, .u32 = value};
}

static inline struct gpgpu_arg arg_i32(int32_t value)
{
    return (struct gpgpu_arg){.type = GPGPU_ARG_I32, .i32 = value};
}

/* The cases by topic; each table ends with an entry without name. */
extern const struct conformance_case conformance_memory[];
extern const struct conformance_case conformance_modules[];
extern const struct conformance_case conformance_launches[];
extern const struct conformance_case conformance_streams[];
extern const struct conformance_case conformance_faults[];

#endif
