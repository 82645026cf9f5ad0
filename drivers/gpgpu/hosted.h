/* SPDX-License-Identifier: MIT */
/* Which backend a Linux process uses: WEFT_GPU in its environment (`make run PLATFORM=linux GPU=null`). */
#ifndef DRIVERS_GPGPU_HOSTED_H
#define DRIVERS_GPGPU_HOSTED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Whether the backend of that name is the one wanted; without a wish it is sim. */
static inline bool hosted_gpu_wanted(const char *name)
{
    const char *wanted = getenv("WEFT_GPU");
    return strcmp(name, wanted && *wanted ? wanted : "sim") == 0;
}

#endif
