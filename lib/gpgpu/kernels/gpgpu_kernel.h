/* SPDX-License-Identifier: MIT */
/*
 * What a kernel is written with. The same source compiles to
 *   RV32IMAF machine code for the SIMT device (docs/device.md, "What a kernel sees"),
 *   PTX for NVIDIA GPUs (PTX ISA, "Special Registers", "bar.sync"),
 *   plain C for the host, where tests run one thread at a time and a debugger can step.
 *
 *   KERNEL(scale, IN(x), OUT(y), F32(factor), U32(n))
 *   {
 *       FOR_EACH(i, n)
 *           y[i] = factor * x[i];
 *   }
 *
 * Fast on the SIMT device: consecutive lanes touch consecutive words (unit stride), values that are the same
 * in all lanes are computed from arguments and block indices (uniform), and lanes take the same branches.
 */
#ifndef GPGPU_KERNEL_H
#define GPGPU_KERNEL_H

#include <stdint.h>

#define KERNEL_INLINE inline __attribute__((always_inline))

/* ---- kinds of arguments: how each is a struct member, a parameter, a use --------------------------------
 */

/* IN and OUT are float arrays in device memory, INT_IN and INT_OUT int32_t arrays; an address may be 0 where
 * the kernel says so. DIVISOR(d) passes the divisor d with what DIVIDE(i, d) needs: three words, see
 * gpgpu_divisor(). */
#define KERNEL_PARAM_IN(x)      const float *x
#define KERNEL_PARAM_OUT(x)     float *x
#define KERNEL_PARAM_INT_IN(x)  const int32_t *x
#define KERNEL_PARAM_INT_OUT(x) int32_t *x
#define KERNEL_PARAM_U32(x)     uint32_t x
#define KERNEL_PARAM_I32(x)     int32_t x
#define KERNEL_PARAM_F32(x)     float x
#define KERNEL_PARAM_DIVISOR(x) uint32_t x, uint32_t x##_magic, uint32_t x##_shift

#define KERNEL_MEMBER_IN(x)      KERNEL_SLOT const float *x;
#define KERNEL_MEMBER_OUT(x)     KERNEL_SLOT float *x;
#define KERNEL_MEMBER_INT_IN(x)  KERNEL_SLOT const int32_t *x;
#define KERNEL_MEMBER_INT_OUT(x) KERNEL_SLOT int32_t *x;
#define KERNEL_MEMBER_U32(x)     KERNEL_SLOT uint32_t x;
#define KERNEL_MEMBER_I32(x)     KERNEL_SLOT int32_t x;
#define KERNEL_MEMBER_F32(x)     KERNEL_SLOT float x;
#define KERNEL_MEMBER_DIVISOR(x)                                                                             \
    KERNEL_SLOT uint32_t x;                                                                                  \
    KERNEL_SLOT uint32_t x##_magic;                                                                          \
    KERNEL_SLOT uint32_t x##_shift;

#define KERNEL_USE_IN(x)      args->x
#define KERNEL_USE_OUT(x)     args->x
#define KERNEL_USE_INT_IN(x)  args->x
#define KERNEL_USE_INT_OUT(x) args->x
#define KERNEL_USE_U32(x)     args->x
#define KERNEL_USE_I32(x)     args->x
#define KERNEL_USE_F32(x)     args->x
#define KERNEL_USE_DIVISOR(x) args->x, args->x##_magic, args->x##_shift

#define KERNEL_NAME_IN(x)      x
#define KERNEL_NAME_OUT(x)     x
#define KERNEL_NAME_INT_IN(x)  x
#define KERNEL_NAME_INT_OUT(x) x
#define KERNEL_NAME_U32(x)     x
#define KERNEL_NAME_I32(x)     x
#define KERNEL_NAME_F32(x)     x
#define KERNEL_NAME_DIVISOR(x) x, x##_magic, x##_shift

/* Letters of a signature, see struct gpgpu_kernel_entry. */
#define KERNEL_LETTER_IN(x)      "p"
#define KERNEL_LETTER_OUT(x)     "p"
#define KERNEL_LETTER_INT_IN(x)  "p"
#define KERNEL_LETTER_INT_OUT(x) "p"
#define KERNEL_LETTER_U32(x)     "u"
#define KERNEL_LETTER_I32(x)     "i"
#define KERNEL_LETTER_F32(x)     "f"
#define KERNEL_LETTER_DIVISOR(x) "uuu"

/* KERNEL_EACH(P, A(x), B(y)): P##A(x) P##B(y). KERNEL_LIST puts commas between. At most 64 elements: a macro
 * that names itself again through KERNEL_PARENS is expanded once more by each rescan. */
#define KERNEL_PARENS       ()
#define KERNEL_SCAN(...)    KERNEL_SCAN_16(KERNEL_SCAN_16(KERNEL_SCAN_16(KERNEL_SCAN_16(__VA_ARGS__))))
#define KERNEL_SCAN_16(...) KERNEL_SCAN_4(KERNEL_SCAN_4(KERNEL_SCAN_4(KERNEL_SCAN_4(__VA_ARGS__))))
#define KERNEL_SCAN_4(...)  KERNEL_SCAN_1(KERNEL_SCAN_1(KERNEL_SCAN_1(KERNEL_SCAN_1(__VA_ARGS__))))
#define KERNEL_SCAN_1(...)  __VA_ARGS__

#define KERNEL_EACH(prefix, ...) KERNEL_SCAN(KERNEL_EACH_STEP(prefix, __VA_ARGS__))
#define KERNEL_EACH_STEP(prefix, first, ...)                                                                 \
    prefix##first __VA_OPT__(KERNEL_EACH_AGAIN KERNEL_PARENS(prefix, __VA_ARGS__))
#define KERNEL_EACH_AGAIN()      KERNEL_EACH_STEP
#define KERNEL_LIST(prefix, ...) KERNEL_SCAN(KERNEL_LIST_STEP(prefix, __VA_ARGS__))
#define KERNEL_LIST_STEP(prefix, first, ...)                                                                 \
    prefix##first __VA_OPT__(, KERNEL_LIST_AGAIN KERNEL_PARENS(prefix, __VA_ARGS__))
#define KERNEL_LIST_AGAIN() KERNEL_LIST_STEP

/* KERNEL(name, arguments...) { body of one thread }: defines the kernel's entry point for the target. */
#define KERNEL(name, ...)                                                                                    \
    static KERNEL_INLINE void name##_thread(KERNEL_LIST(KERNEL_PARAM_, __VA_ARGS__));                        \
    KERNEL_ENTRY(name, __VA_ARGS__)                                                                          \
    static KERNEL_INLINE void name##_thread(KERNEL_LIST(KERNEL_PARAM_, __VA_ARGS__))

/* The same for a kernel of many arguments: its body finds them in *args, and what is used behind a barrier is
 * loaded there. So they need no registers meanwhile, nor the stack, from which a value that is the same in
 * all lanes comes back as one that an engine has to assume differs. KERNEL_ARGS defines struct NAME_args. */
#define KERNEL_ARGS(name, ...)                                                                               \
    struct name##_args {                                                                                     \
        KERNEL_EACH(KERNEL_MEMBER_, __VA_ARGS__)                                                             \
    }
#define KERNEL_OF_ARGS(name, ...)                                                                            \
    static KERNEL_INLINE void name##_thread(const struct name##_args *args);                                 \
    KERNEL_ENTRY_OF_ARGS(name, __VA_ARGS__)                                                                  \
    static KERNEL_INLINE void name##_thread(const struct name##_args *args)

/* An entry that finds its arguments in a block of slots, one an argument. */
#define KERNEL_ENTRY_FROM_BLOCK(name, entry, block, ...)                                                     \
    struct name##_args {                                                                                     \
        KERNEL_EACH(KERNEL_MEMBER_, __VA_ARGS__)                                                             \
    };                                                                                                       \
    entry                                                                                                    \
    {                                                                                                        \
        const struct name##_args *args = (block);                                                            \
        name##_thread(KERNEL_LIST(KERNEL_USE_, __VA_ARGS__));                                                \
    }

#if defined(__riscv)
#include "target_simt.h"
#elif defined(__NVPTX__)
#include "target_ptx.h"
#else
#include "target_host.h"
#endif

/* ---- helpers on top of the target -----------------------------------------------------------------------
 */

/* Position of the thread in a one-dimensional grid, and the threads of that grid. */
static KERNEL_INLINE uint32_t global_idx(void)
{
    return block_idx_x() * block_dim_x() + thread_idx_x();
}

static KERNEL_INLINE uint32_t global_size(void)
{
    return grid_dim_x() * block_dim_x();
}

/* Position of the thread in its block, x fastest, and the threads of the block. */
static KERNEL_INLINE uint32_t thread_linear(void)
{
    return (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x();
}

static KERNEL_INLINE uint32_t block_threads(void)
{
    return block_dim_x() * block_dim_y() * block_dim_z();
}

static KERNEL_INLINE uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Elements a thread when a grid shares n. */
static KERNEL_INLINE uint32_t each_share(uint32_t n)
{
    return (n + global_size() - 1) / global_size();
}

/* Position in the grid of the first thread of this one's warp. */
static KERNEL_INLINE uint32_t warp_idx(void)
{
    return block_idx_x() * block_dim_x() + (thread_idx_x() & -WARP_THREADS);
}

/* The thread's share of i in 0..n-1 in a grid of one dimension whose blocks are whole warps: a warp's share
 * is one run of memory, of which neighbours get neighbouring i. Any such grid covers any n < 2^31. */
#define FOR_EACH(i, n)                                                                                       \
    for (uint32_t i##_share = each_share(n), i##_first = warp_idx() * i##_share,                             \
                  i##_end = min_u32(n, i##_first + WARP_THREADS * i##_share),                                \
                  i = i##_first + (thread_idx_x() & (WARP_THREADS - 1));                                     \
         i < i##_end; i += WARP_THREADS)

/* The block's share of i in 0..n-1, which are neighbours: what they read and write is one run of memory. */
#define FOR_EACH_ROW(i, n)                                                                                   \
    for (uint32_t i##_share = ((n) + grid_dim_x() - 1) / grid_dim_x(), i = block_idx_x() * i##_share,        \
                  i##_end = min_u32(n, i + i##_share);                                                       \
         i < i##_end; i++)

static KERNEL_INLINE uint32_t mul_high(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b) >> 32);
}

/* n / d for n < 2^31 and a DIVISOR(d) argument: a multiplication where SIMD units have no division.
 * magic = floor(2^(31+shift) / d) + 1 with shift = ceil(log2 d) [Granlund & Montgomery, PLDI 1994, thm 4.2].
 */
#define DIVIDE(n, d) ((void)(d), mul_high((n) << 1, d##_magic) >> d##_shift)

/* v where keep is 1, +0 where it is 0, without a branch. */
static KERNEL_INLINE float keep_if(uint32_t keep, float v)
{
    return float_of_bits(bits_of_float(v) & -keep);
}

/* i where it is below n, else 0: makes an index safe to load from. Lanes that will drop the value keep their
 * place in the row as far as the array goes, so that the warp's load stays one of unit stride. */
static KERNEL_INLINE uint32_t within(uint32_t i, uint32_t n)
{
    return i & -(uint32_t)(i < n);
}

#endif
