/* SPDX-License-Identifier: MIT */
/* The interpreter for any host of the compiler's default instruction set. */
#include "exec.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#define EXEC_RUN simt_exec_base
#include "exec_body.h"
