// SPDX-License-Identifier: MIT
/* The block device: Virtual I/O Device Version 1.2, section 5.2. */
#ifndef DRIVERS_VIRTIO_BLK_H
#define DRIVERS_VIRTIO_BLK_H

#include <stdint.h>

#define BLK_TYPE   2
#define BLK_LEGACY 0x1001

/* Features (5.2.3). */
#define BLK_F_SIZE_MAX (UINT64_C(1) << 1)
#define BLK_F_GEOMETRY (UINT64_C(1) << 4)
#define BLK_F_RO       (UINT64_C(1) << 5)
#define BLK_F_BLK_SIZE (UINT64_C(1) << 6)
#define BLK_F_FLUSH    (UINT64_C(1) << 9)
#define BLK_F_DISCARD  (UINT64_C(1) << 13)

/* Offsets in the device configuration (5.2.4). */
#define BLK_CAPACITY          0  /* 64 bits: sectors */
#define BLK_SIZE_MAX          8  /* 32 bits: bytes of a buffer */
#define BLK_CYLINDERS         16 /* 16 bits */
#define BLK_HEADS             18 /* 8 bits */
#define BLK_SECTORS           19 /* 8 bits */
#define BLK_BLK_SIZE          20 /* 32 bits */
#define BLK_MAX_DISCARD       36 /* 32 bits: sectors */
#define BLK_DISCARD_ALIGNMENT 44 /* 32 bits: sectors */

/* What a request starts with (5.2.6). */
struct blk_header {
    uint32_t type;
    uint32_t reserved;
    uint64_t sector;
};

#define BLK_T_IN      0u
#define BLK_T_OUT     1u
#define BLK_T_FLUSH   4u
#define BLK_T_DISCARD 11u

/* The data of a discard. */
struct blk_discard {
    uint64_t sector;
    uint32_t nsectors;
    uint32_t flags;
};

/* The byte that the device ends it with. */
#define BLK_S_OK      0u
#define BLK_S_IOERR   1u
#define BLK_S_UNSUPP  2u
#define BLK_S_PENDING 0xffu /* ours: the device has written nothing yet */

#endif
