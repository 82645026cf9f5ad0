// SPDX-License-Identifier: MIT
// The registers of interrupted code, as trap.S saves them on the trap stack.
#ifndef HAL_RISCV64_TRAP_H
#define HAL_RISCV64_TRAP_H

#define FRAME_X(n)   ((n) * 8)
#define FRAME_PC     0 // x0 is always zero: its place holds the pc
#define FRAME_STATUS (32 * 8)
#define FRAME_CAUSE  (33 * 8)
#define FRAME_VALUE  (34 * 8)
#define FRAME_FCSR   (35 * 8)
#define FRAME_F(n)   ((36 + (n)) * 8) // the 20 caller-saved ones
#define FRAME_SIZE   (56 * 8)         // a multiple of 16, as the stack must be

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

struct trap_frame {
    uint64_t x[32]; // x[0] is the pc
    uint64_t status, cause, value;
    uint64_t fcsr;
    uint64_t f[20];
};

_Static_assert(sizeof(struct trap_frame) == FRAME_SIZE, "trap.S and trap_frame agree");

// Fills `pcs` with at most `max` return addresses from where the trap interrupted the code on, innermost
// first; frame->x[0] itself is not among them. Returns the count.
size_t backtrace_from(const struct trap_frame *frame, uintptr_t *pcs, size_t max);

// Called by trap.S on the trap stack.
void trap_handle(struct trap_frame *frame);

// Prints why, registers and backtrace; ends the machine.
__attribute__((noreturn)) void trap_panic(const struct trap_frame *frame);

#endif
#endif
