// SPDX-License-Identifier: MIT
// The trace of core/trace.h: the time CSR as its clock, and a file of the host, through semihosting, as its
// end.
#define LOG_MODULE "trace"
#include "core/trace.h"
#include "boot.h"
#include "csr.h"

#include <errno.h>
#include <semihost.h>
#include <stdio.h>

#include "core/log.h"
#include "hal/cpu.h"

static uint64_t ticks(void)
{
    return csr_read(CSR_TIME);
}

static uint32_t cpu(void)
{
    return (uint32_t)cpu_id();
}

static int write_to(int file, const char *text, size_t length)
{
    return sys_semihost_write(file, text, length) == 0 ? 0 : -EIO;
}

// The file that trace=FILE in the kernel command line names. It stays open: the machine's end closes it.
static int open_file(int *file)
{
    char path[256], header[64];
    if (!machine_bootarg("trace", path, sizeof(path)))
        return -ENOENT;
    *file = sys_semihost_open(path, SH_OPEN_W);
    if (*file < 0) {
        log_error("the host cannot open %s", path);
        return -EIO;
    }
    int length =
        snprintf(header, sizeof(header), "weft-trace 1\t%lu\t%lu\n", boot_machine.timebase_hz, boot_time);
    return write_to(*file, header, (size_t)length);
}

static int write(const char *text, size_t length)
{
    static int file = -1;
    int error = file < 0 ? open_file(&file) : 0;
    return error ? error : write_to(file, text, length);
}

void trace_init(void)
{
    static const struct trace_host host = {.ticks = ticks, .cpu = cpu, .write = write};
    trace_start(&host);
}
