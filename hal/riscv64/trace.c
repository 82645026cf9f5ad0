// SPDX-License-Identifier: MIT
// The trace of core/trace.h: the time CSR as its clock, and a file of the host, through semihosting, as its
// end.
#define LOG_MODULE "trace"
#include "core/trace.h"
#include "boot.h"
#include "csr.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "hal/cpu.h"

// Arm semihosting specification, as the RISC-V Semihosting specification takes it over.
#define SYS_OPEN  0x01
#define SYS_WRITE 0x05
#define MODE_W    4 // fopen()'s "w"

// These three instructions, uncompressed and in one page, are a call of the debugger, which here is QEMU with
// -semihosting. Anywhere else they are a breakpoint.
static long semihosting_call(long operation, const void *block)
{
    register long a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = block;
    __asm__ volatile(".option push\n\t"
                     ".option norvc\n\t"
                     ".balign 16\n\t"
                     "slli zero, zero, 0x1f\n\t"
                     "ebreak\n\t"
                     "srai zero, zero, 7\n\t"
                     ".option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}

static uint64_t ticks(void)
{
    return csr_read(CSR_TIME);
}

static uint32_t cpu(void)
{
    return (uint32_t)cpu_id();
}

static int write_to(long file, const char *text, size_t length)
{
    const uintptr_t block[] = {(uintptr_t)file, (uintptr_t)text, length};
    return semihosting_call(SYS_WRITE, block) == 0 ? 0 : -EIO;
}

// The file that trace=FILE in the kernel command line names. It stays open: the machine's end closes it.
static int open_file(long *file)
{
    char path[256], header[64];
    if (!machine_bootarg("trace", path, sizeof(path)))
        return -ENOENT;
    const uintptr_t block[] = {(uintptr_t)path, MODE_W, strlen(path)};
    *file = semihosting_call(SYS_OPEN, block);
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
    static long file = -1;
    int error = file < 0 ? open_file(&file) : 0;
    return error ? error : write_to(file, text, length);
}

void trace_init(void)
{
    static const struct trace_host host = {.ticks = ticks, .cpu = cpu, .write = write};
    trace_start(&host);
}
