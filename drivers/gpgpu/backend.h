/* SPDX-License-Identifier: MIT */
/*
 * What backends of drivers/gpgpu.h share with each other.
 *
 * A backend's probe() sets dev->ops to its struct gpgpu_ops and dev->priv to its struct gpgpu_device, whose
 * name is dev->name.
 */
#ifndef DRIVERS_GPGPU_BACKEND_H
#define DRIVERS_GPGPU_BACKEND_H

#include "drivers/gpgpu.h"

/*
 * Check a launch against the device's limits and the kernel's signature. 0, or -EINVAL after logging what is
 * wrong, with values.
 */
int gpgpu_check_launch(const struct gpgpu_caps *caps, const struct gpgpu_kernel_entry *entry,
                       const struct gpgpu_launch *launch);

/* copy_d2d for a device that has none: in pieces through a host buffer. Ends with a sync of the stream. */
int gpgpu_copy_through_host(struct gpgpu_device *dev, gpgpu_stream_t stream, gpgpu_addr_t dst,
                            gpgpu_addr_t src, size_t size);

/* Fill *caps from *mine, no more than caps->size bytes of it. */
void gpgpu_caps_copy(struct gpgpu_caps *caps, const struct gpgpu_caps *mine);

#endif
