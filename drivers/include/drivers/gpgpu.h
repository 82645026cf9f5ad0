/* SPDX-License-Identifier: MIT */
/*
 * The contract of every GPGPU backend.
 *
 * A backend is a set of synchronous-looking primitives on one device: memory, copies, modules, launches.
 * Everything convenient (typed buffers, kernel caches, launch builders, streams of recorded work) is built
 * once above it, in lib/gpgpu. Backends: qemu (our PCI device), sim (the same engine inside a Linux process),
 * null (counts, runs nothing), mock (fails where a test says so).
 *
 *   lib/gpgpu --> gpgpu_device_*() --> struct gpgpu_ops of the backend
 *
 * lib/gpgpu calls the gpgpu_device_*() functions below, never a slot: they supply what an optional slot that
 * is NULL means.
 *
 * Order: work given to one stream is done in the order given. launch(), copies and event_record() may return
 * before the work is done; host memory of a copy must stay valid and unchanged until a sync of that stream. A
 * backend without real streams does everything in the order given, which satisfies the rule. Stream 0 always
 * exists. Work of different streams may overlap where caps say so (GPGPU_FEATURE_STREAMS): a copy beside a
 * kernel; our devices run one kernel at a time. Work that has to wait for something is started within a later
 * call on the device, sync among them: a host that does something else for long does not overlap it.
 *
 * Errors: 0 or a negative errno.
 *   -EINVAL    a bad argument: an address range outside one live allocation, a zero dimension, a double free
 *   -ENOMEM    device memory (mem_alloc) or host memory is exhausted
 *   -ENOEXEC   the image has no variant this device can run
 *   -ENOENT    the module has no kernel of that name
 *   -EFAULT    a kernel faulted; last_fault() tells where
 *   -ETIMEDOUT work did not end in time; the device was reset, its memory is kept
 *   -EIO       the device failed otherwise (DMA error, lost device)
 *   -ENOTSUP   the device cannot do that, as its caps say
 * An error of asynchronous work is reported once, by the first call that waits for that stream (its sync or
 * its destruction; on a backend without asynchrony the call itself). Work behind it on the stream is dropped,
 * what is queued until it was reported included; events are reached all the same. Other streams do not
 * notice, and the device stays usable.
 *
 * Calls on one device come from one thread of control; different devices are independent.
 */
#ifndef DRIVERS_GPGPU_H
#define DRIVERS_GPGPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address in device memory. Never a host pointer; 0 is never a valid allocation. */
typedef uint64_t gpgpu_addr_t;

/* Handles a backend gives out; meaningful to that device only. */
typedef uint64_t gpgpu_module_t;
typedef uint64_t gpgpu_kernel_t;
typedef uint64_t gpgpu_stream_t;
typedef uint64_t gpgpu_event_t;

#define GPGPU_STREAM_DEFAULT ((gpgpu_stream_t)0)
#define GPGPU_MAX_ARGS       64u /* arguments of one kernel */
#define GPGPU_ALIGNMENT      64u /* every allocation starts at a multiple of this */

/* Instruction set a device runs. */
enum gpgpu_isa {
    GPGPU_ISA_RV32, /* flat little-endian RV32IM[A]F machine code, position-independent */
    GPGPU_ISA_PTX,  /* NUL-terminated PTX text */
};

/* What a device can do. The low half is bit for bit DEV_CAPS2 of our device. */
#define GPGPU_FEATURE_FAULT_RECORD (1u << 0)  /* last_fault() names cause, pc, address and thread */
#define GPGPU_FEATURE_COPY_D2D     (1u << 1)  /* copies inside device memory without the host */
#define GPGPU_FEATURE_SHARED       (1u << 2)  /* shared memory and block barrier */
#define GPGPU_FEATURE_WARP         (1u << 3)  /* ballot and exchange inside a warp */
#define GPGPU_FEATURE_ATOMICS      (1u << 4)  /* 32-bit atomics on device and shared memory */
#define GPGPU_FEATURE_NARROW       (1u << 5)  /* bf16, e4m3, e5m2, e2m1 conversions */
#define GPGPU_FEATURE_COUNTERS     (1u << 6)  /* performance counters */
#define GPGPU_FEATURE_QUEUE        (1u << 7)  /* launches go through a queue in memory */
#define GPGPU_FEATURE_EXECUTES     (1u << 16) /* kernels really run, memory really holds data */
#define GPGPU_FEATURE_ASYNC        (1u << 17) /* launch() returns before the kernel has ended */
#define GPGPU_FEATURE_STREAMS      (1u << 18) /* streams overlap: a copy of one with a kernel of another */

/* Identity and limits of a device. */
struct gpgpu_caps {
    size_t size;      /* set by the caller to sizeof(struct gpgpu_caps): room to grow */
    const char *name; /* "qemu-gpgpu", static or as long-lived as the device */
    enum gpgpu_isa isa;
    unsigned arch; /* PTX: compute capability (61, 70, 90); RV32: 0 */
    uint32_t compute_units;
    uint32_t warp_size; /* threads */
    uint32_t max_block; /* threads of a block, product of the three dimensions */
    uint64_t vram_bytes;
    uint32_t shared_max;   /* bytes of shared memory a block may ask for */
    uint32_t private_size; /* bytes of stack of a thread; 0: not known */
    uint32_t features;     /* GPGPU_FEATURE_* */
};

/* ---- kernels ------------------------------------------------------------------------------------------ */

/*
 * One kernel of a module. signature has one letter an argument, in order: 'p' device address, 'i' int32_t,
 * 'u' uint32_t, 'f' float. A launch whose arguments do not match it is -EINVAL.
 */
struct gpgpu_kernel_entry {
    const char *name;
    const char *signature;
};

/* The same module for one instruction set. */
struct gpgpu_kernel_variant {
    enum gpgpu_isa isa;
    unsigned arch;     /* PTX: least compute capability; RV32: 0 */
    uint32_t features; /* GPGPU_FEATURE_* the code needs */
    const void *code;
    size_t size;             /* bytes; of PTX without its NUL */
    const uint32_t *offsets; /* RV32: byte offset of each entry in code; NULL: one entry, at 0 */
};

/* A module: every variant of the same kernels. A device takes the last variant it can run. */
struct gpgpu_kernel_image {
    const char *name;
    const struct gpgpu_kernel_entry *entries;
    size_t nentries;
    const struct gpgpu_kernel_variant *variants;
    size_t nvariants;
};

/* One argument of a launch, kept typed so that each backend lays it out for its own ISA. */
enum gpgpu_arg_type { GPGPU_ARG_ADDR = 'p', GPGPU_ARG_I32 = 'i', GPGPU_ARG_U32 = 'u', GPGPU_ARG_F32 = 'f' };

struct gpgpu_arg {
    enum gpgpu_arg_type type;
    union {
        gpgpu_addr_t addr;
        int32_t i32;
        uint32_t u32;
        float f32;
    };
};

/*
 * A launch. RV32: each argument is one 32-bit word of the argument block; the first eight also arrive in
 * a0..a7, the block's address is in the control window. PTX: parameters in order, addresses 64 bits.
 */
struct gpgpu_launch {
    uint32_t grid[3];      /* blocks, x y z, each at least 1 */
    uint32_t block[3];     /* threads, x y z, each at least 1, product at most caps.max_block */
    uint32_t shared_bytes; /* shared memory of a block, at most caps.shared_max */
    const struct gpgpu_arg *args;
    size_t nargs; /* at most GPGPU_MAX_ARGS */
};

/* Cause of a kernel fault: FAULT_CAUSE of our device; others map what they know. */
enum gpgpu_cause {
    GPGPU_CAUSE_NONE = 0,
    GPGPU_CAUSE_ILLEGAL_INSN = 1,
    GPGPU_CAUSE_FETCH = 2,
    GPGPU_CAUSE_ACCESS = 3,
    GPGPU_CAUSE_MISALIGNED_ATOMIC = 4,
    GPGPU_CAUSE_LIMIT = 5,
    GPGPU_CAUSE_BARRIER_DEADLOCK = 6,
    GPGPU_CAUSE_BAD_LAUNCH = 7,
    GPGPU_CAUSE_UNKNOWN = 255, /* a backend without fault record */
};

/* The first fault of the last launch that faulted. */
struct gpgpu_fault {
    enum gpgpu_cause cause;
    uint64_t pc;        /* device address of the instruction */
    uint64_t pc_offset; /* the same from the start of the module's code, as its listing shows it */
    uint64_t addr;      /* address of the access, where the cause has one */
    uint32_t insn;      /* instruction word, 0: not known */
    uint32_t thread[3]; /* x y z in the block */
    uint32_t block[3];  /* x y z in the grid */
    uint32_t count;     /* threads that faulted */
    char kernel[32];    /* name of the kernel */
};

/* Static text of a cause: "illegal instruction". */
const char *gpgpu_cause_name(enum gpgpu_cause cause);

/* The fault as one line for people, into buf. Returns what snprintf would. */
int gpgpu_fault_describe(const struct gpgpu_fault *fault, char *buf, size_t len);

/* ---- what a backend implements --------------------------------------------------------------------------
 */

struct gpgpu_device;

struct gpgpu_ops {
    /* -- mandatory -- */

    /* Fill caps (its size field is set by the caller). Cannot fail. */
    void (*caps)(struct gpgpu_device *dev, struct gpgpu_caps *caps);

    /* size > 0 bytes of device memory, contents undefined. -ENOMEM. */
    int (*mem_alloc)(struct gpgpu_device *dev, size_t size, gpgpu_addr_t *out);

    /* addr must come from mem_alloc of this device and not have been freed: else -EINVAL. Waits for nothing:
     * the caller must not free what queued work still uses. */
    int (*mem_free)(struct gpgpu_device *dev, gpgpu_addr_t addr);

    /* Copies; size 0 is allowed and does nothing. The device range must lie in one live allocation. */
    int (*copy_h2d)(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst, const void *src,
                    size_t size);
    int (*copy_d2h)(struct gpgpu_device *dev, gpgpu_stream_t stream, void *dst, gpgpu_addr_t src,
                    size_t size);

    /* Put a module on the device. image stays the caller's and must outlive the module. -ENOEXEC, -ENOMEM. */
    int (*module_load)(struct gpgpu_device *dev, const struct gpgpu_kernel_image *image, gpgpu_module_t *out);
    /* Its kernels become invalid. The caller has synchronised the streams that use it. -EINVAL: unknown. */
    int (*module_unload)(struct gpgpu_device *dev, gpgpu_module_t module);
    /* Find a kernel by name; valid until module_unload. -ENOENT. */
    int (*kernel_get)(struct gpgpu_device *dev, gpgpu_module_t module, const char *name, gpgpu_kernel_t *out);

    /* Queue a launch. Arguments are copied before it returns. -EINVAL for dimensions, shared memory or
     * arguments the device or the kernel's signature does not accept. */
    int (*launch)(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_kernel_t kernel,
                  const struct gpgpu_launch *launch);

    /* Wait until everything queued on the stream is done; reports the error of that work. */
    int (*sync)(struct gpgpu_device *dev, gpgpu_stream_t stream);

    /* -- optional: NULL has the documented default -- */

    /* Copy inside device memory; ranges must not overlap. NULL: through a host buffer. */
    int (*copy_d2d)(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst, gpgpu_addr_t src,
                    size_t size);

    /* The fault behind the last -EFAULT. -ENOENT: none so far. NULL: -ENOTSUP. */
    int (*last_fault)(struct gpgpu_device *dev, struct gpgpu_fault *out);

    /* Streams. Both NULL: every stream_create gives the default stream. */
    int (*stream_create)(struct gpgpu_device *dev, gpgpu_stream_t *out);
    int (*stream_destroy)(struct gpgpu_device *dev, gpgpu_stream_t stream);

    /*
     * Events: a point in a stream, with the time at which the device got there, or the host noticed: while it
     * waits that is the same. All five or none. NULL: the core waits for the stream when an event is recorded
     * and takes the host's clock.
     */
    int (*event_create)(struct gpgpu_device *dev, gpgpu_event_t *out);
    int (*event_destroy)(struct gpgpu_device *dev, gpgpu_event_t event);
    int (*event_record)(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_event_t event);
    int (*event_sync)(struct gpgpu_device *dev, gpgpu_event_t event);
    int (*event_elapsed_ns)(struct gpgpu_device *dev, gpgpu_event_t start, gpgpu_event_t end, uint64_t *out);
};

/* A device as the layers above hold it; a backend embeds it in its own state. */
struct gpgpu_device {
    const struct gpgpu_ops *ops;
    const char *name; /* "gpgpu0": set when it is registered */
};

/* ---- what lib/gpgpu calls -------------------------------------------------------------------------------
 */

/* Devices present, in the order they were found. */
unsigned gpgpu_device_count(void);
struct gpgpu_device *gpgpu_device_get(unsigned index); /* NULL past the last */

/* Same meaning as the slots above, with their defaults filled in and arguments checked that can be checked
 * without the device. */
void gpgpu_device_caps(struct gpgpu_device *dev, struct gpgpu_caps *caps); /* sets caps->size itself */
int gpgpu_device_mem_alloc(struct gpgpu_device *dev, size_t size, gpgpu_addr_t *out);
int gpgpu_device_mem_free(struct gpgpu_device *dev, gpgpu_addr_t addr);
int gpgpu_device_copy_h2d(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst, const void *src,
                          size_t size);
int gpgpu_device_copy_d2h(struct gpgpu_device *dev, gpgpu_stream_t stream, void *dst, gpgpu_addr_t src,
                          size_t size);
int gpgpu_device_copy_d2d(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst, gpgpu_addr_t src,
                          size_t size);
int gpgpu_device_module_load(struct gpgpu_device *dev, const struct gpgpu_kernel_image *image,
                             gpgpu_module_t *out);
int gpgpu_device_module_unload(struct gpgpu_device *dev, gpgpu_module_t module);
int gpgpu_device_kernel_get(struct gpgpu_device *dev, gpgpu_module_t module, const char *name,
                            gpgpu_kernel_t *out);
int gpgpu_device_launch(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_kernel_t kernel,
                        const struct gpgpu_launch *launch);
int gpgpu_device_sync(struct gpgpu_device *dev, gpgpu_stream_t stream);
int gpgpu_device_last_fault(struct gpgpu_device *dev, struct gpgpu_fault *out);
int gpgpu_device_stream_create(struct gpgpu_device *dev, gpgpu_stream_t *out);
int gpgpu_device_stream_destroy(struct gpgpu_device *dev, gpgpu_stream_t stream);
int gpgpu_device_event_create(struct gpgpu_device *dev, gpgpu_event_t *out);
int gpgpu_device_event_destroy(struct gpgpu_device *dev, gpgpu_event_t event);
int gpgpu_device_event_record(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_event_t event);
int gpgpu_device_event_sync(struct gpgpu_device *dev, gpgpu_event_t event);
int gpgpu_device_event_elapsed_ns(struct gpgpu_device *dev, gpgpu_event_t start, gpgpu_event_t end,
                                  uint64_t *out);

/* Choose the variant of image that a device with these caps runs: the last one whose ISA, arch and features
 * fit. NULL: none. */
const struct gpgpu_kernel_variant *gpgpu_pick_variant(const struct gpgpu_kernel_image *image,
                                                      const struct gpgpu_caps *caps);

#endif
