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
    machine_read_devices(&boot_machine);
    return &boot_machine;
}

// What a usable machine must have and the device tree did not give comes from Kconfig, and the log says so.
static void apply_fallbacks(struct machine *m)
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
    if (!m->uart.present)
        m->uart = (struct machine_uart){
            .present = true, .base = phys_addr(CONFIG_FALLBACK_UART_BASE), .size = CONFIG_FALLBACK_UART_SIZE};
}

void machine_init(const void *fdt, unsigned long boot_hart)
{
    if (machine_read_boot(&boot_machine, fdt, boot_hart) < 0 || !boot_machine.uart.present)
        apply_fallbacks(&boot_machine);
}

bool machine_bootarg(const char *key, char *out, size_t size)
{
    return *boot_machine.bootargs && cmdline_value(boot_machine.bootargs, key, out, size) >= 0;
}
