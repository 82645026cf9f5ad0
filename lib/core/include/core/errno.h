// SPDX-License-Identifier: MIT
/* Names of error numbers, for messages. Functions of Weft return 0 or a negative errno. */
#ifndef CORE_ERRNO_H
#define CORE_ERRNO_H

#include <errno.h>

/* "EINVAL" for EINVAL and for -EINVAL; "OK" for 0; "E?" for a number without a name. Never NULL. */
const char *error_name(int error);

#endif
