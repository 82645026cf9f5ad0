// SPDX-License-Identifier: MIT
// Time from the time CSR, and the SBI timer.
#include "boot.h"
#include "csr.h"
#include "sbi.h"

#include "hal/cpu.h"
#include "hal/time.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

// Seconds and the rest apart, so that the product does not overflow.
static uint64_t ticks_to_ns(uint64_t ticks, uint64_t hz)
{
    return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

// Rounded up: a timer must not fire before its deadline.
static uint64_t ns_to_ticks(uint64_t ns, uint64_t hz)
{
    return ns / NS_PER_S * hz + (ns % NS_PER_S * hz + NS_PER_S - 1) / NS_PER_S;
}

// The timer interrupt is enabled only while somebody waits for it: the firmware is asked for no time it does
// not have to keep.
void time_set_alarm(uint64_t deadline)
{
    sbi_set_timer(boot_time + ns_to_ticks(deadline, boot_machine.timebase_hz));
    csr_set(CSR_SIE, SIE_STIE);
}

void time_stop_alarm(void)
{
    csr_clear(CSR_SIE, SIE_STIE);
}

uint64_t time_now_ns(void)
{
    uint64_t hz = boot_machine.timebase_hz;
    return hz ? ticks_to_ns(csr_read(CSR_TIME) - boot_time, hz) : 0; // 0: the device tree is not read yet
}

void time_delay_ns(uint64_t ns)
{
    uint64_t end = time_now_ns() + ns;
    while (time_now_ns() < end)
        cpu_relax();
}

uint64_t deadline_in_ms(unsigned ms)
{
    return time_now_ns() + ms * NS_PER_MS;
}

bool deadline_passed(uint64_t deadline)
{
    return time_now_ns() >= deadline;
}
