// SPDX-License-Identifier: MIT
// The frame chain that -fno-omit-frame-pointer keeps: fp points behind the frame, with the return address at
// fp - 8 and the caller's fp at fp - 16 (RISC-V ELF psABI, "Frame Pointer Convention"). picolibc has no frame
// pointers, so one caller may be missing where a library function called back.
#include "backtrace.h"
#include "boot.h"

#include "core/math.h"

static bool on_a_stack(uintptr_t fp)
{
    return is_aligned(fp, 8) &&
           ((fp >= (uintptr_t)stack_bottom + 16 && fp <= (uintptr_t)stack_top) ||
            (fp >= (uintptr_t)trap_stack_bottom + 16 && fp <= (uintptr_t)trap_stack_top));
}

size_t backtrace_from(uintptr_t fp, uintptr_t *pcs, size_t max)
{
    size_t n = 0;
    while (n < max && on_a_stack(fp)) {
        uintptr_t ra = *(uintptr_t *)(fp - 8);
        uintptr_t caller = *(uintptr_t *)(fp - 16);
        if (ra == 0)
            break;
        pcs[n++] = ra;
        if (caller <= fp) // frames only go up: anything else is damage
            break;
        fp = caller;
    }
    return n;
}

size_t backtrace(uintptr_t *pcs, size_t max)
{
    return backtrace_from((uintptr_t)__builtin_frame_address(0), pcs, max);
}
