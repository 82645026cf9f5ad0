// SPDX-License-Identifier: MIT
/* Small macros that every layer needs. */
#ifndef CORE_UTIL_H
#define CORE_UTIL_H

#include <stddef.h>

/* Number of elements of a real array (a pointer does not compile). */
#define ARRAY_SIZE(a)                                                                                        \
    (sizeof(a) / sizeof((a)[0]) +                                                                            \
     0 * sizeof(struct {                                                                                     \
         _Static_assert(!__builtin_types_compatible_p(__typeof__(a), __typeof__(&(a)[0])), "not an array");  \
         int unused;                                                                                         \
     }))

/* The struct `type` whose member `member` is at `ptr`. */
#define container_of(ptr, type, member)                                                                      \
    ({                                                                                                       \
        __typeof__(&((type *)0)->member) container_of_member = (ptr);                                        \
        (type *)((char *)container_of_member - offsetof(type, member));                                      \
    })

/* Each argument is evaluated once; both have the same type. */
#define MIN(a, b)                                                                                            \
    ({                                                                                                       \
        __typeof__(a) min_a = (a);                                                                           \
        __typeof__(b) min_b = (b);                                                                           \
        _Static_assert(__builtin_types_compatible_p(__typeof__(min_a), __typeof__(min_b)),                   \
                       "MIN of two types");                                                                  \
        min_a < min_b ? min_a : min_b;                                                                       \
    })
#define MAX(a, b)                                                                                            \
    ({                                                                                                       \
        __typeof__(a) max_a = (a);                                                                           \
        __typeof__(b) max_b = (b);                                                                           \
        _Static_assert(__builtin_types_compatible_p(__typeof__(max_a), __typeof__(max_b)),                   \
                       "MAX of two types");                                                                  \
        max_a > max_b ? max_a : max_b;                                                                       \
    })

#endif
