// SPDX-License-Identifier: MIT
/* The parts of a split virtqueue as the device sees them: Virtual I/O Device Version 1.2, section 2.7. */
#ifndef DRIVERS_VIRTIO_VIRTQ_H
#define DRIVERS_VIRTIO_VIRTQ_H

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "virtio 1.x is little-endian");

#define VIRTQ_DESC_NEXT  (1u << 0) /* `next` holds the chain's next descriptor */
#define VIRTQ_DESC_WRITE (1u << 1) /* the device writes the buffer */

struct virtq_desc {
    uint64_t address;
    uint32_t size;
    uint16_t flags;
    uint16_t next;
};

struct virtq_avail {
    uint16_t flags;
    uint16_t index; /* where the driver will put the next entry, modulo 2^16 */
    uint16_t ring[];
};

#define VIRTQ_USED_NO_NOTIFY (1u << 0)

struct virtq_used_element {
    uint32_t id; /* first descriptor of the chain */
    uint32_t written;
};

struct virtq_used {
    uint16_t flags;
    uint16_t index;
    struct virtq_used_element ring[];
};

#endif
