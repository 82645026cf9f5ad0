/* SPDX-License-Identifier: MIT */
/* The kernels that the build embeds: gpgpu_image_NAME is lib/gpgpu/kernels/NAME.S. */
#ifndef GPGPU_IMAGES_H
#define GPGPU_IMAGES_H

#include "drivers/gpgpu.h"

extern const struct gpgpu_kernel_image gpgpu_image_vec_add;
extern const struct gpgpu_kernel_image gpgpu_image_relu;
extern const struct gpgpu_kernel_image gpgpu_image_matmul_4x4;
extern const struct gpgpu_kernel_image gpgpu_image_conv2d_3x3;
extern const struct gpgpu_kernel_image gpgpu_image_max_pool_2x2;
extern const struct gpgpu_kernel_image gpgpu_image_fc_layer;

/* Every kernel of gpgpu/operators.h, from lib/gpgpu/kernels/NAME.c: RV32 and, under CONFIG_GPGPU_PTX, PTX. */
extern const struct gpgpu_kernel_image gpgpu_image_operators;

/* lib/gpgpu/conformance/kernels: what tests need. */
extern const struct gpgpu_kernel_image gpgpu_image_spin;          /* never ends */
extern const struct gpgpu_kernel_image gpgpu_image_wild_store;    /* one thread stores where it may not */
extern const struct gpgpu_kernel_image gpgpu_image_sum_args;      /* more than eight arguments */
extern const struct gpgpu_kernel_image gpgpu_image_block_reverse; /* shared memory and barrier */
extern const struct gpgpu_kernel_image gpgpu_image_where;         /* each thread tells where it is */

#endif
