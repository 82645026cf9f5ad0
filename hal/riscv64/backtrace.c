// SPDX-License-Identifier: MIT
// The frame chain that -fno-omit-frame-pointer keeps: fp points behind the frame, with the return address at
// fp - 8 and the caller's fp at fp - 16 (RISC-V ELF psABI, "Frame Pointer Convention"). picolibc has no frame
// pointers, so one caller may be missing where a library function called back.
#include "boot.h"
#include "trap.h"

#include "core/math.h"
#include "hal/mem.h"
#include "hal/trap.h"

static bool is_frame_of(struct stack stack, uintptr_t fp)
{
    return fp >= (uintptr_t)stack.guard + PAGE_SIZE + 16 && fp <= (uintptr_t)stack.top;
}

static bool on_a_stack(uintptr_t fp)
{
    return is_aligned(fp, 8) && (is_frame_of(thread_stack(), fp) || is_frame_of(trap_stack(), fp));
}

static uintptr_t word_at(uintptr_t address)
{
    return *(uintptr_t *)address;
}

static size_t follow(uintptr_t fp, uintptr_t *pcs, size_t max)
{
    size_t n = 0;
    while (n < max && on_a_stack(fp) && word_at(fp - 8)) {
        uintptr_t caller = word_at(fp - 16);
        pcs[n++] = word_at(fp - 8);
        if (caller <= fp) // frames only go up: anything else is damage
            break;
        fp = caller;
    }
    return n;
}

// A function that calls none does not save ra: what is at fp - 8 then is its caller's fp.
static bool is_leaf(uintptr_t fp)
{
    return on_a_stack(fp) && on_a_stack(word_at(fp - 8));
}

// In a leaf, in a library function without a frame, or around a function's first and last instructions, the
// caller is known to ra alone. Otherwise ra is left from a call that this function made.
static bool caller_only_in_ra(uintptr_t pc, uintptr_t ra, uintptr_t fp)
{
    size_t offset;
    const char *caller = symbol_lookup(ra - 1, &offset);
    bool on_chain = on_a_stack(fp) && word_at(fp - 8) == ra;
    return caller && caller != symbol_lookup(pc, &offset) && !on_chain;
}

size_t backtrace_from(const struct trap_frame *frame, uintptr_t *pcs, size_t max)
{
    uintptr_t pc = frame->x[0], ra = frame->x[1], fp = frame->x[8];
    size_t n = 0;
    if (is_leaf(fp))
        fp = word_at(fp - 8);
    if (max && caller_only_in_ra(pc, ra, fp))
        pcs[n++] = ra;
    return n + follow(fp, pcs + n, max - n);
}
