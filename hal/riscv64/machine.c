// SPDX-License-Identifier: MIT
// The machine this kernel runs on: read once at boot, constant afterwards.
#define LOG_MODULE "machine"
#include "boot.h"

#include "core/cmdline.h"
#include "core/log.h"
#include "core/math.h"
#include "hal/machine.h"
#include "hal/mem.h"

static struct machine the_machine;

const struct machine *machine(void)
{
    return &the_machine;
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
    if (machine_from_fdt(&the_machine, fdt, boot_hart) < 0 || !the_machine.uart.present)
        apply_fallbacks(&the_machine);
}

// The lowest reserved range that overlaps [start, end), in whole pages. False when there is none.
static bool first_reserved(uint64_t start, uint64_t end, uint64_t *first, uint64_t *after)
{
    bool found = false;
    for (unsigned i = 0; i < the_machine.nreserved; i++) {
        const struct machine_range *r = &the_machine.reserved[i];
        uint64_t r_start = align_down(r->base.value, PAGE_SIZE);
        uint64_t r_end = align_up(r->base.value + r->size, PAGE_SIZE);
        if (r_start >= end || r_end <= start || (found && r_start >= *first))
            continue;
        *first = r_start;
        *after = r_end;
        found = true;
    }
    return found;
}

void machine_for_each_ram(void (*fn)(uint64_t start, uint64_t end))
{
    for (unsigned i = 0; i < the_machine.nram; i++) {
        const struct machine_range *ram = &the_machine.ram[i];
        uint64_t start = align_up(ram->base.value, PAGE_SIZE);
        uint64_t end = align_down(ram->base.value + ram->size, PAGE_SIZE);
        while (start < end) {
            uint64_t first = end, after = end;
            first_reserved(start, end, &first, &after);
            if (start < first)
                fn(start, first);
            start = after;
        }
    }
}

bool machine_bootarg(const char *key, char *out, size_t size)
{
    return cmdline_value(the_machine.bootargs, key, out, size) >= 0;
}
