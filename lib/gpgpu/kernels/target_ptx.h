/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs through PTX: special registers and intrinsics of clang's NVPTX target; no CUDA toolkit. */
#ifndef TARGET_PTX_H
#define TARGET_PTX_H

#define SHARED       __attribute__((address_space(3)))
#define WARP_THREADS 32u

#define KERNEL_ENTRY(name, ...)                                                                              \
    __attribute__((nvptx_kernel)) void name(KERNEL_LIST(KERNEL_PARAM_, __VA_ARGS__));                        \
    __attribute__((nvptx_kernel)) void name(KERNEL_LIST(KERNEL_PARAM_, __VA_ARGS__))                         \
    {                                                                                                        \
        name##_thread(KERNEL_LIST(KERNEL_NAME_, __VA_ARGS__));                                               \
    }

#define KERNEL_SLOT
#define KERNEL_ENTRY_OF_ARGS(name, ...)                                                                      \
    __attribute__((nvptx_kernel)) void name(KERNEL_LIST(KERNEL_PARAM_, __VA_ARGS__));                        \
    __attribute__((nvptx_kernel)) void name(KERNEL_LIST(KERNEL_PARAM_, __VA_ARGS__))                         \
    {                                                                                                        \
        name##_thread(&(struct name##_args){KERNEL_LIST(KERNEL_NAME_, __VA_ARGS__)});                        \
    }

#define PTX_INDEX(name, sreg)                                                                                \
    static KERNEL_INLINE uint32_t name(void)                                                                 \
    {                                                                                                        \
        return (uint32_t)__nvvm_read_ptx_sreg_##sreg();                                                      \
    }

PTX_INDEX(thread_idx_x, tid_x)
PTX_INDEX(thread_idx_y, tid_y)
PTX_INDEX(thread_idx_z, tid_z)
PTX_INDEX(block_idx_x, ctaid_x)
PTX_INDEX(block_idx_y, ctaid_y)
PTX_INDEX(block_idx_z, ctaid_z)
PTX_INDEX(block_dim_x, ntid_x)
PTX_INDEX(block_dim_y, ntid_y)
PTX_INDEX(block_dim_z, ntid_z)
PTX_INDEX(grid_dim_x, nctaid_x)
PTX_INDEX(grid_dim_y, nctaid_y)
PTX_INDEX(grid_dim_z, nctaid_z)

/* Every thread of the block gets here before any goes on; memory written before is seen after. */
static KERNEL_INLINE void barrier(void)
{
    __nvvm_bar_sync(0);
}

extern SHARED float shared_memory[];

/* The block's shared memory, as large as the launch asked for. */
static KERNEL_INLINE SHARED float *shared_floats(void)
{
    return shared_memory;
}

static KERNEL_INLINE float float_of_bits(uint32_t bits)
{
    return __builtin_bit_cast(float, bits);
}

static KERNEL_INLINE uint32_t bits_of_float(float v)
{
    return __builtin_bit_cast(uint32_t, v);
}

static KERNEL_INLINE float sqrt_f32(float v)
{
    return __nvvm_sqrt_rn_f(v);
}

#endif
