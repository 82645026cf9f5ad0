// SPDX-License-Identifier: MIT
// What code compiled with -fsanitize=undefined calls when it meets undefined behaviour: a panic that says
// what and where. Every handler's first argument points to a record that begins with the place in the source.
#include <stdint.h>

#include "hal/panic.h"

struct place {
    const char *file;
    uint32_t line, column;
};

#define HANDLER(name, what)                                                                                  \
    __attribute__((noreturn)) void __ubsan_handle_##name(const struct place *place);                         \
    void __ubsan_handle_##name(const struct place *place)                                                    \
    {                                                                                                        \
        panic("undefined behaviour: %s at %s:%u:%u", what, place->file, (unsigned)place->line,               \
              (unsigned)place->column);                                                                      \
    }

HANDLER(add_overflow, "signed addition overflows")
HANDLER(sub_overflow, "signed subtraction overflows")
HANDLER(mul_overflow, "signed multiplication overflows")
HANDLER(negate_overflow, "negation overflows")
HANDLER(divrem_overflow, "division by zero, or its result overflows")
HANDLER(shift_out_of_bounds, "shift by a count that is out of range, or of a negative number")
HANDLER(out_of_bounds, "array index out of bounds")
HANDLER(pointer_overflow, "pointer arithmetic overflows")
HANDLER(type_mismatch_v1, "access through a null or misaligned pointer, or beyond an object")
HANDLER(load_invalid_value, "a bool or enum holds none of its values")
HANDLER(vla_bound_not_positive, "array of a size that is not positive")
HANDLER(nonnull_arg, "null for an argument that must not be")
HANDLER(invalid_builtin, "builtin with an argument that it does not allow")
HANDLER(builtin_unreachable, "a place that must not be reached")
