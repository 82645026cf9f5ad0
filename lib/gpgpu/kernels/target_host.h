/* SPDX-License-Identifier: MIT */
/*
 * The host, in plain C: whoever calls NAME_host() sets kernel_thread first, provides shared memory, and
 * schedules the block's threads in kernel_host_barrier(). Arguments come in 8-byte slots.
 */
#ifndef TARGET_HOST_H
#define TARGET_HOST_H

#include <math.h>
#include <string.h>

#define KERNEL_SLOT _Alignas(8)
#define SHARED
#define WARP_THREADS 1u

#define KERNEL_ENTRY(name, ...)                                                                              \
    void name##_host(const void *slots);                                                                     \
    KERNEL_ENTRY_FROM_BLOCK(name, void name##_host(const void *slots), slots, __VA_ARGS__)

#define KERNEL_ENTRY_OF_ARGS(name, ...)                                                                      \
    void name##_host(const void *slots);                                                                     \
    void name##_host(const void *slots)                                                                      \
    {                                                                                                        \
        name##_thread(slots);                                                                                \
    }

struct kernel_thread {
    uint32_t thread[3];
    uint32_t block[3];
    uint32_t block_dim[3];
    uint32_t grid_dim[3];
    float *shared;
};

extern struct kernel_thread kernel_thread;
void kernel_host_barrier(void);

#define HOST_INDEX(name, member, axis)                                                                       \
    static KERNEL_INLINE uint32_t name(void)                                                                 \
    {                                                                                                        \
        return kernel_thread.member[axis];                                                                   \
    }

HOST_INDEX(thread_idx_x, thread, 0)
HOST_INDEX(thread_idx_y, thread, 1)
HOST_INDEX(thread_idx_z, thread, 2)
HOST_INDEX(block_idx_x, block, 0)
HOST_INDEX(block_idx_y, block, 1)
HOST_INDEX(block_idx_z, block, 2)
HOST_INDEX(block_dim_x, block_dim, 0)
HOST_INDEX(block_dim_y, block_dim, 1)
HOST_INDEX(block_dim_z, block_dim, 2)
HOST_INDEX(grid_dim_x, grid_dim, 0)
HOST_INDEX(grid_dim_y, grid_dim, 1)
HOST_INDEX(grid_dim_z, grid_dim, 2)

static KERNEL_INLINE void barrier(void)
{
    kernel_host_barrier();
}

static KERNEL_INLINE SHARED float *shared_floats(void)
{
    return kernel_thread.shared;
}

static KERNEL_INLINE float float_of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static KERNEL_INLINE uint32_t bits_of_float(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static KERNEL_INLINE float sqrt_f32(float v)
{
    return sqrtf(v);
}

#endif
