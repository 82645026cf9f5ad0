/* SPDX-License-Identifier: MIT */
#include "hal/shutdown.h"

#include <stdlib.h>

void shutdown(int code)
{
    exit(code < 0 || code > 255 ? 255 : code);
}
