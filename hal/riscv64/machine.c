// SPDX-License-Identifier: MIT
// The machine this kernel runs on: read once at boot, constant afterwards.
#define LOG_MODULE "machine"
#include "boot.h"

#include "core/cmdline.h"
#include "core/log.h"
#include "core/math.h"
#include "hal/machine.h"
#include "hal/mem.h"

struct machine boot_machine;

const struct machine *machine(void)
{
    static bool complete;
    if (!complete) {
        complete = true;
        machine_read_devices(&boot_machine);
    }
    return &boot_machine;
}

void machine_complete(struct machine *m)
{
    if (m->nram == 0) {
        log_warn("memory from Kconfig: %u MiB at %#lx", CONFIG_FALLBACK_RAM_MIB,
                 (long)CONFIG_FALLBACK_RAM_BASE);
        m->ram[m->nram++] = (struct machine_range){phys_addr(CONFIG_FALLBACK_RAM_BASE),
                                                   (uint64_t)CONFIG_FALLBACK_RAM_MIB << 20};
    }
    if (m->timebase_hz == 0) {
        log_warn("timebase from Kconfig: %u Hz", CONFIG_FALLBACK_TIMEBASE_HZ);
        m->timebase_hz = CONFIG_FALLBACK_TIMEBASE_HZ;
    }
    if (m->uart.regs.size == 0)
        m->uart.regs =
            (struct machine_range){phys_addr(CONFIG_FALLBACK_UART_BASE), CONFIG_FALLBACK_UART_SIZE};
    if (m->test_device.size == 0)
        m->test_device =
            (struct machine_range){phys_addr(CONFIG_FALLBACK_TEST_DEVICE_BASE), sizeof(uint32_t)};
}

bool machine_bootarg(const char *key, char *out, size_t size)
{
    return *boot_machine.bootargs && cmdline_value(boot_machine.bootargs, key, out, size) >= 0;
}
