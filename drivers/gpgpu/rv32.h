/* SPDX-License-Identifier: MIT */
/*
 * What every device that runs RV32 kernels has in common, whether it is behind PCI or in this process: its
 * memory allocator, its modules, the layout of arguments, one launch in flight. A backend supplies a port:
 * how bytes get there and back, how a launch starts and how one waits for it.
 */
#ifndef DRIVERS_GPGPU_RV32_H
#define DRIVERS_GPGPU_RV32_H

#include "drivers/gpgpu.h"

#include "core/list.h"
#include "vram.h"

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

struct rv32_port {
    /* Bulk copies; the range lies in VRAM. 0, -EIO or -ETIMEDOUT. */
    int (*write)(struct rv32_device *dev, uint64_t dst, const void *src, size_t size);
    int (*read)(struct rv32_device *dev, void *dst, uint64_t src, size_t size);
    /* Copy inside VRAM; NULL: the device cannot. */
    int (*copy)(struct rv32_device *dev, uint64_t dst, uint64_t src, size_t size);
    /* Start and return. 0, -EIO, -EINVAL. */
    int (*start)(struct rv32_device *dev, const struct rv32_start *start);
    /* Wait for the launch in flight. 0; -EFAULT with *fault filled but for kernel and pc_offset; -ETIMEDOUT
     * and -EIO after logging the device's state and stopping it. */
    int (*wait)(struct rv32_device *dev, const struct rv32_start *start, struct gpgpu_fault *fault);
};

struct rv32_device {
    struct gpgpu_device gpgpu; /* as the layers above see it */
    const struct rv32_port *port;
    struct gpgpu_caps caps;
    struct vram vram;
    gpgpu_addr_t args; /* room for GPGPU_MAX_ARGS words */
    struct list_node modules;
    bool running; /* a launch has been started and not been waited for */
    struct rv32_start current;
    const struct rv32_kernel *current_kernel;
    bool faulted;
    struct gpgpu_fault fault;
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

#endif
