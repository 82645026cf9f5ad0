// SPDX-License-Identifier: MIT
// The end: the sifive_test device of the virt machine carries an exit code; SBI System Reset is the second
// path.
#include "boot.h"
#include "csr.h"
#include "sbi.h"

#include "hal/cpu.h"
#include "hal/panic.h"
#include "hal/shutdown.h"

#define TEST_PASS       0x5555u
#define TEST_FAIL       0x3333u
#define TEST_CODE_SHIFT 16

#define SECOND_PATH_TICKS 20000000 // 2 s of the virt machine's timebase

// The emulator ends a moment after the write, while this hart runs on. Asking the firmware too in that moment
// would replace the exit code by its own, so the second path is taken only when nothing happens.
static void wait_for_the_end(void)
{
    uint64_t start = csr_read(CSR_TIME);
    while (csr_read(CSR_TIME) - start < SECOND_PATH_TICKS)
        cpu_relax();
}

void shutdown(int code)
{
    uint32_t status = code >= 0 && code <= 255 ? (uint32_t)code : 255;
    cpu_irq_save();
    trace_dump(); // what fails is logged there
    struct machine_range device = {boot_machine.test_device.base, sizeof(uint32_t)};
    if (!boot_machine.test_device.size) // the device tree is not read yet
        device.base = phys_addr(CONFIG_FALLBACK_TEST_DEVICE_BASE);
    if (device.base.value) {
        struct mmio regs = mmio_at_boot(TEST_DEVICE_PAGE, &device);
        mmio_write32(&regs, 0, status ? status << TEST_CODE_SHIFT | TEST_FAIL : TEST_PASS);
        wait_for_the_end();
    }
    sbi_shutdown(status != 0);
    for (;;)
        __asm__ volatile("wfi");
}
