/* SPDX-License-Identifier: MIT */
/* The SIMT device: RV32IMAF, control window at 0x80000000, shared memory at 0x90000000. */
#ifndef TARGET_SIMT_H
#define TARGET_SIMT_H

#define KERNEL_SLOT _Alignas(4)
#define SHARED
#define WARP_THREADS 32u

#define SIMT_CONTROL(offset) (*(const uint32_t *)(0x80000000u + (offset)))

/* The record tells tools/embed-kernels the entry's offset, name and signature. */
#define KERNEL_RECORD(name, ...)                                                                             \
    __asm__(".pushsection .kernels\n.word " #name "\n.asciz \"" #name                                        \
            "\"\n.asciz \"" KERNEL_EACH(KERNEL_LETTER_, __VA_ARGS__) "\"\n.popsection\n")

#define KERNEL_ENTRY(name, ...)                                                                              \
    KERNEL_RECORD(name, __VA_ARGS__);                                                                        \
    void name(void);                                                                                         \
    KERNEL_ENTRY_FROM_BLOCK(name, void name(void), (const void *)SIMT_CONTROL(0x48), __VA_ARGS__)

#define KERNEL_ENTRY_OF_ARGS(name, ...)                                                                      \
    KERNEL_RECORD(name, __VA_ARGS__);                                                                        \
    void name(void);                                                                                         \
    void name(void)                                                                                          \
    {                                                                                                        \
        name##_thread((const void *)SIMT_CONTROL(0x48));                                                     \
    }

#define SIMT_INDEX(name, offset)                                                                             \
    static KERNEL_INLINE uint32_t name(void)                                                                 \
    {                                                                                                        \
        return SIMT_CONTROL(offset);                                                                         \
    }

SIMT_INDEX(thread_idx_x, 0x00)
SIMT_INDEX(thread_idx_y, 0x04)
SIMT_INDEX(thread_idx_z, 0x08)
SIMT_INDEX(block_idx_x, 0x10)
SIMT_INDEX(block_idx_y, 0x14)
SIMT_INDEX(block_idx_z, 0x18)
SIMT_INDEX(block_dim_x, 0x20)
SIMT_INDEX(block_dim_y, 0x24)
SIMT_INDEX(block_dim_z, 0x28)
SIMT_INDEX(grid_dim_x, 0x30)
SIMT_INDEX(grid_dim_y, 0x34)
SIMT_INDEX(grid_dim_z, 0x38)

/* Every thread of the block gets here before any goes on; memory written before is seen after. */
static KERNEL_INLINE void barrier(void)
{
    __asm__ volatile("sw zero, 0(%0)" : : "r"(0x80001000u) : "memory");
}

/* The block's shared memory, as large as the launch asked for. */
static KERNEL_INLINE SHARED float *shared_floats(void)
{
    return (float *)0x90000000u;
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
    return __builtin_sqrtf(v);
}

#endif
