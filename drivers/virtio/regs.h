// SPDX-License-Identifier: MIT
/* Virtio over PCI: Virtual I/O Device Version 1.2, sections 2.1 (status), 4.1.4 (layout) and 6 (features). */
#ifndef DRIVERS_VIRTIO_REGS_H
#define DRIVERS_VIRTIO_REGS_H

#define VIRTIO_VENDOR 0x1af4u

/* The vendor-specific capability that says where a structure is (4.1.4). */
#define VIRTIO_CAP_TYPE       3u
#define VIRTIO_CAP_BAR        4u
#define VIRTIO_CAP_OFFSET     8u
#define VIRTIO_CAP_LENGTH     12u
#define VIRTIO_CAP_MULTIPLIER 16u /* of the notification structure */

#define VIRTIO_TYPE_COMMON 1u
#define VIRTIO_TYPE_NOTIFY 2u
#define VIRTIO_TYPE_ISR    3u
#define VIRTIO_TYPE_DEVICE 4u

/* Common configuration structure (4.1.4.3). */
#define VIRTIO_DEVICE_FEATURE_SELECT 0x00u
#define VIRTIO_DEVICE_FEATURE        0x04u
#define VIRTIO_DRIVER_FEATURE_SELECT 0x08u
#define VIRTIO_DRIVER_FEATURE        0x0cu
#define VIRTIO_STATUS                0x14u /* 8 bits */
#define VIRTIO_GENERATION            0x15u /* 8 bits */
#define VIRTIO_QUEUE_SELECT          0x16u /* 16 bits, as the next four */
#define VIRTIO_QUEUE_SIZE            0x18u
#define VIRTIO_QUEUE_VECTOR          0x1au
#define VIRTIO_QUEUE_ENABLE          0x1cu
#define VIRTIO_QUEUE_NOTIFY          0x1eu
#define VIRTIO_QUEUE_DESC            0x20u /* 64 bits, as the next two */
#define VIRTIO_QUEUE_AVAIL           0x28u
#define VIRTIO_QUEUE_USED            0x30u
#define VIRTIO_COMMON_SIZE           0x38u

#define VIRTIO_NO_VECTOR 0xffffu

#define VIRTIO_STATUS_ACKNOWLEDGE 0x01u
#define VIRTIO_STATUS_DRIVER      0x02u
#define VIRTIO_STATUS_DRIVER_OK   0x04u
#define VIRTIO_STATUS_FEATURES_OK 0x08u
#define VIRTIO_STATUS_FAILED      0x80u

#define VIRTIO_ISR_QUEUE 0x01u

#define VIRTIO_F_VERSION_1 (UINT64_C(1) << 32)

#endif
