/* SPDX-License-Identifier: MIT */
#include "hal/shutdown.h"
#include "core/init.h"

#include <stdlib.h>

void shutdown(int code)
{
    /* Before exit(), which destroys data of libraries, first what was made last: threads of the in-process
     * GPU may still compile with LLVM then. */
    init_exit_all();
    exit(code < 0 || code > 255 ? 255 : code);
}
