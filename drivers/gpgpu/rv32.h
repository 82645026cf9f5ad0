/* SPDX-License-Identifier: MIT */
/*
 * What every device that runs RV32 kernels has in common, whether it is behind PCI or in this process: its
 * memory allocator, its modules, the layout of arguments (rv32.c), streams and events (rv32_work.c). A
 * backend supplies a port: the device runs launches one after the other in the order in which they were
 * started, and beside them one copy.
 *
 *   stream: launch, launch, copy, event, ...     each in its order
 *       |  what can go, goes: rv32_feed()
 *   port: launches in a row | one copy           side by side
 *       |  what has ended leaves: rv32_reap()
 *
 * Nothing of this happens behind the caller's back: work is started and taken back within calls on the
 * device, sync among them. In between the device goes on with what it was given.
 */
#ifndef DRIVERS_GPGPU_RV32_H
#define DRIVERS_GPGPU_RV32_H

#include "drivers/gpgpu.h"

#include "core/list.h"
#include "vram.h"

#define RV32_DEPTH      32u /* launches, copies and events of all streams that are not done; more have to wait */
#define RV32_ARGS_BYTES (GPGPU_MAX_ARGS * sizeof(uint32_t))

struct rv32_device;
struct rv32_kernel;

/* A launch as the device takes it. */
struct rv32_start {
    uint64_t kernel; /* VRAM offset of the first instruction */
    uint64_t args;   /* VRAM offset of the argument words */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
};

/* A copy; the ranges lie in VRAM, and size is not 0. */
struct rv32_copy {
    enum { RV32_TO_DEVICE, RV32_FROM_DEVICE, RV32_INSIDE } direction;
    uint64_t device; /* VRAM offset; INSIDE: of the destination */
    union {
        const void *source; /* TO_DEVICE */
        void *destination;  /* FROM_DEVICE */
        uint64_t from;      /* INSIDE: VRAM offset */
    };
    size_t size;
};

struct rv32_port {
    unsigned depth; /* launches the device takes before the first has ended, at most RV32_DEPTH */

    /* Write a few bytes at once, whatever runs. */
    void (*write)(struct rv32_device *dev, uint64_t dst, const void *src, size_t size);

    /* Give the device a launch and return. chained: it is skipped unless the launch before it succeeds.
     * 0, -EIO, -EINVAL. */
    int (*start)(struct rv32_device *dev, const struct rv32_start *start, bool chained);

    /* What became of the oldest launch; once it is not -EINPROGRESS, the next is the oldest. 0; -EFAULT with
     * *fault filled but for kernel and pc_offset; -ECANCELED: skipped; -EIO (logged). */
    int (*launch_ended)(struct rv32_device *dev, const struct rv32_start *start, struct gpgpu_fault *fault);

    /* Start a copy. 0: it is done; -EINPROGRESS: copy_ended() tells; -EBUSY: not now, another one is in
     * progress; -EIO (logged). INSIDE only with GPGPU_FEATURE_COPY_D2D. */
    int (*copy)(struct rv32_device *dev, const struct rv32_copy *copy);
    int (*copy_ended)(struct rv32_device *dev); /* 0, -EINPROGRESS, -EIO */

    /* Sleep until the oldest `launches` launches (0: no matter) or the copy in progress have ended: one of
     * them. 0, or -ETIMEDOUT: nothing of it within the device's time limit. */
    int (*wait)(struct rv32_device *dev, unsigned launches);

    /* Log the device's state and stop it: launches and copy are forgotten, memory is kept. */
    void (*give_up)(struct rv32_device *dev);
};

struct rv32_stream {
    struct list_node node; /* in the device */
    struct list_node work; /* in order; none: idle */
    int error;             /* first one since the last sync; until then new work is dropped */
};

struct rv32_event {
    unsigned pending; /* records in streams */
    bool recorded;
    uint64_t ns;
};

struct rv32_work {
    struct list_node node;     /* in its stream, or with the idle ones */
    struct list_node launched; /* in the device's list of started launches */
    struct rv32_stream *stream;
    enum { RV32_LAUNCH, RV32_COPY, RV32_EVENT } kind;
    bool started;
    const struct rv32_kernel *kernel; /* of a launch */
    union {
        struct rv32_start start;
        struct rv32_copy copy;
        struct rv32_event *event;
    };
};

struct rv32_device {
    struct gpgpu_device gpgpu; /* as the layers above see it */
    const struct rv32_port *port;
    struct gpgpu_caps caps;
    struct vram vram;
    struct list_node modules;
    bool faulted;
    struct gpgpu_fault fault;

    gpgpu_addr_t args; /* room for the arguments of each piece of work */
    struct rv32_work work[RV32_DEPTH];
    struct list_node idle;     /* of work */
    struct list_node launched; /* work: started launches, oldest first */
    unsigned launches;         /* their number */
    unsigned waiting;          /* pieces of work that are not started */
    struct rv32_work *copying; /* NULL: no copy in progress */
    struct list_node streams;
    struct rv32_stream default_stream;
    struct rv32_stream setup; /* the driver's own */
};

extern const struct gpgpu_ops rv32_ops;

/* Set up dev over port. caps is copied; caps->name must stay valid. -ENOMEM, -EINVAL (too little VRAM). */
int rv32_init(struct rv32_device *dev, const struct rv32_port *port, const struct gpgpu_caps *caps);

/* Wait for the device and free what the host holds of it. */
void rv32_destroy(struct rv32_device *dev);

/* Thread and block of a fault from its mhartid = block << 13 | warp << 5 | lane. The device keeps 19 bits of
 * the block's linear index, so in larger grids the block is one modulo 2^19. */
void rv32_locate(const struct rv32_device *dev, const struct rv32_start *start, uint32_t mhartid,
                 struct gpgpu_fault *fault);

/* ---- rv32.c for rv32_work.c -----------------------------------------------------------------------------
 */

const char *rv32_kernel_name(const struct rv32_kernel *kernel);

/* Keep and log a fault of that kernel. */
void rv32_record_fault(struct rv32_device *dev, const struct rv32_kernel *kernel,
                       const struct gpgpu_fault *fault);

/* ---- rv32_work.c ----------------------------------------------------------------------------------------
 */

void rv32_work_init(struct rv32_device *dev);

/* The stream of that handle; NULL (logged): there is none. */
struct rv32_stream *rv32_find_stream(struct rv32_device *dev, gpgpu_stream_t handle);

/* A piece of work that belongs to nobody yet; waits until one is idle. */
struct rv32_work *rv32_new_work(struct rv32_device *dev);

/* VRAM offset of the room for its arguments. */
uint64_t rv32_work_args(const struct rv32_device *dev, const struct rv32_work *work);

/* Put it at the end of the stream and start what can be started. Dropped if the stream has an error. */
void rv32_submit(struct rv32_device *dev, struct rv32_stream *stream, struct rv32_work *work);

/* Wait for the stream; its error, which is forgotten. */
int rv32_sync_stream(struct rv32_device *dev, struct rv32_stream *stream);

/* Wait for all work. Errors stay with their streams. */
void rv32_drain(struct rv32_device *dev);

int rv32_sync(struct gpgpu_device *gpgpu, gpgpu_stream_t stream);
int rv32_stream_create(struct gpgpu_device *gpgpu, gpgpu_stream_t *out);
int rv32_stream_destroy(struct gpgpu_device *gpgpu, gpgpu_stream_t stream);
int rv32_event_create(struct gpgpu_device *gpgpu, gpgpu_event_t *out);
int rv32_event_destroy(struct gpgpu_device *gpgpu, gpgpu_event_t event);
int rv32_event_record(struct gpgpu_device *gpgpu, gpgpu_stream_t stream, gpgpu_event_t event);
int rv32_event_sync(struct gpgpu_device *gpgpu, gpgpu_event_t event);
int rv32_event_elapsed_ns(struct gpgpu_device *gpgpu, gpgpu_event_t start, gpgpu_event_t end, uint64_t *out);

static inline struct rv32_device *to_rv32(struct gpgpu_device *dev)
{
    return container_of(dev, struct rv32_device, gpgpu);
}

#endif
