/* SPDX-License-Identifier: MIT */
/*
 * What the assembly kernels share. The window at 0x80000000 tells a thread where it is (docs/device.md).
 */
#define CTRL_THREAD_X    0x00
#define CTRL_BLOCK_X     0x10
#define CTRL_BLOCK_DIM_X 0x20

/*
 * \rd = block_id_x * block_dim_x + thread_id_x: the thread's number in a grid of one dimension. Uses t5, t6.
 */
.macro global_id rd lui t6, 0x80000 lw      \rd, CTRL_BLOCK_X(t6) lw t5,
    CTRL_BLOCK_DIM_X(t6) mul     \rd, \rd, t5 lw t5, CTRL_THREAD_X(t6) add     \rd, \rd,
    t5.endm

        /* The grid is whole blocks, so the last one may reach past the data: those threads end here. */
        .macro end_if_past id,
    count bltu    \id, \count,
    .Linside\@ebreak.Linside\
    @ :.endm

           /*
            * Begin kernel \name. Its signature has one letter an argument (struct gpgpu_kernel_entry in
            * drivers/gpgpu.h); the build reads both, and the offset of the code, from section .kernels.
            */
           .macro kernel name,
    signature.section.kernels, "",
    @progbits.word   \name.asciz "\name".asciz "\signature".text.globl  \name
\name :.endm
