/* SPDX-License-Identifier: MIT */
/* Registers of the GPGPU device; docs/device.md describes them. 32 bits each, little-endian. */
#ifndef DRIVERS_GPGPU_QEMU_REGS_H
#define DRIVERS_GPGPU_QEMU_REGS_H

#define GPGPU_VENDOR_ID 0x1234
#define GPGPU_DEVICE_ID 0x1337

#define GPGPU_BAR_CTRL     0 /* the registers below */
#define GPGPU_BAR_VRAM     2 /* device memory */
#define GPGPU_BAR_DOORBELL 4 /* a word: count of descriptors in the launch queue */

/* Identity */
#define DEV_ID               0x0000
#define DEV_ID_VALUE         0x47505055u /* "UPPG", read as a little-endian word */
#define DEV_VERSION          0x0004      /* major << 16 | minor << 8 | patch */
#define DEV_VERSION_MAJOR(v) ((v) >> 16)
#define DEV_CAPS             0x0008
#define DEV_CAPS_CUS(c)      ((c) & 0xff)
#define DEV_CAPS_WARP(c)     ((c) >> 16 & 0xff)
#define VRAM_SIZE_LO         0x000c
#define VRAM_SIZE_HI         0x0010
#define DEV_CAPS2            0x0014 /* GPGPU_FEATURE_* of drivers/gpgpu.h, low half */
#define SHARED_MAX           0x0018
#define PRIVATE_SIZE         0x001c

/* Control */
#define GLOBAL_CTRL         0x0100
#define GLOBAL_CTRL_ENABLE  (1u << 0)
#define GLOBAL_CTRL_RESET   (1u << 1)
#define GLOBAL_STATUS       0x0104
#define GLOBAL_STATUS_READY (1u << 0)
#define GLOBAL_STATUS_BUSY  (1u << 1)
#define ERROR_STATUS        0x0108 /* write 1 to clear */
#define ERROR_INVALID_CMD   (1u << 0)
#define ERROR_VRAM_FAULT    (1u << 1)
#define ERROR_KERNEL_FAULT  (1u << 2)
#define ERROR_DMA_FAULT     (1u << 3)
#define ERROR_ALL           0xfu

/* The first fault since ERROR_STATUS was cleared */
#define FAULT_CAUSE   0x0110
#define FAULT_PC      0x0114
#define FAULT_ADDR    0x0118
#define FAULT_INSN    0x011c
#define FAULT_MHARTID 0x0120
#define FAULT_COUNT   0x0124

/* Interrupts */
#define IRQ_ENABLE 0x0200
#define IRQ_STATUS 0x0204
#define IRQ_ACK    0x0208
#define IRQ_KERNEL (1u << 0)
#define IRQ_DMA    (1u << 1)
#define IRQ_ERROR  (1u << 2)
#define IRQ_QUEUE  (1u << 3)
#define IRQ_ALL    (IRQ_KERNEL | IRQ_DMA | IRQ_ERROR | IRQ_QUEUE)

/* MSI-X vectors: the number of the bit in IRQ_STATUS */
#define GPGPU_VECTORS 4

/* Launch */
#define KERNEL_ADDR_LO  0x0300
#define KERNEL_ADDR_HI  0x0304
#define KERNEL_ARGS_LO  0x0308
#define KERNEL_ARGS_HI  0x030c
#define GRID_DIM(i)     (0x0310 + 4 * (i)) /* x, y, z */
#define BLOCK_DIM(i)    (0x031c + 4 * (i))
#define SHARED_MEM_SIZE 0x0328
#define DISPATCH        0x0330

/* DMA */
#define DMA_SRC_LO          0x0400
#define DMA_SRC_HI          0x0404
#define DMA_DST_LO          0x0408
#define DMA_DST_HI          0x040c
#define DMA_SIZE            0x0410
#define DMA_CTRL            0x0414
#define DMA_CTRL_START      (1u << 0)
#define DMA_CTRL_TO_HOST    (1u << 1)
#define DMA_CTRL_IRQ        (1u << 2)
#define DMA_CTRL_IN_VRAM    (1u << 3)
#define DMA_STATUS          0x0418
#define DMA_STATUS_BUSY     (1u << 0)
#define DMA_STATUS_COMPLETE (1u << 1)
#define DMA_STATUS_ERROR    (1u << 2)

/* Launch queue */
#define QUEUE_BASE_LO     0x0600
#define QUEUE_SIZE        0x0608 /* descriptors */
#define QUEUE_CTRL        0x060c
#define QUEUE_CTRL_ENABLE (1u << 0)

#endif
