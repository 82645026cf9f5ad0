// SPDX-License-Identifier: MIT
// The machine as Kconfig describes it, where the device tree is not read.
#include "boot.h"

int machine_read_boot(struct machine *m, const void *fdt, unsigned long boot_hart)
{
    (void)fdt;
    *m = (struct machine){
        .model = "",
        .bootargs = "",
        .nharts = 1,
        .harts = {boot_hart},
        .boot_hart = boot_hart,
        .timebase_hz = CONFIG_FALLBACK_TIMEBASE_HZ,
        .nram = 1,
        .ram = {{phys_addr(CONFIG_FALLBACK_RAM_BASE), (uint64_t)CONFIG_FALLBACK_RAM_MIB << 20}},
        .uart.regs = {phys_addr(CONFIG_FALLBACK_UART_BASE), CONFIG_FALLBACK_UART_SIZE},
        .test_device = {phys_addr(CONFIG_FALLBACK_TEST_DEVICE_BASE), sizeof(uint32_t)}};
    return 0;
}

void machine_read_devices(struct machine *m)
{
    (void)m;
}
