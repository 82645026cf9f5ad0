/* SPDX-License-Identifier: MIT */
/*
 * A device around another one that fails where a test says so: the way to reach every error path above the
 * contract without a broken device.
 */
#ifndef DRIVERS_GPGPU_MOCK_H
#define DRIVERS_GPGPU_MOCK_H

#include "drivers/gpgpu.h"

enum gpgpu_mock_op {
    MOCK_MEM_ALLOC,
    MOCK_MEM_FREE,
    MOCK_COPY_H2D,
    MOCK_COPY_D2H,
    MOCK_COPY_D2D,
    MOCK_MODULE_LOAD,
    MOCK_MODULE_UNLOAD,
    MOCK_KERNEL_GET,
    MOCK_LAUNCH,
    MOCK_SYNC,
    MOCK_STREAM_CREATE,
    MOCK_STREAM_DESTROY,
    MOCK_EVENT, /* any of the five */
    MOCK_ANY,   /* any of all of them */
    MOCK_OPS,   /* their number */
};

/* A mock over inner, which stays the caller's and must outlive it. 0 and *out, or -ENOMEM. */
int gpgpu_mock_create(struct gpgpu_device *inner, struct gpgpu_device **out);
void gpgpu_mock_destroy(struct gpgpu_device *mock);

/* The n-th call of op from now on (1: the next) returns error and does not reach the inner device. One plan
 * an op, MOCK_ANY being one of its own; n 0 takes it back. */
void gpgpu_mock_fail(struct gpgpu_device *mock, enum gpgpu_mock_op op, unsigned n, int error);

/* Calls of op so far, failed ones included. */
unsigned gpgpu_mock_calls(const struct gpgpu_device *mock, enum gpgpu_mock_op op);

#endif
