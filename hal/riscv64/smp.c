// SPDX-License-Identifier: MIT
// The other harts: starting them (SBI Hart State Management), telling them something (SBI IPI), and keeping
// their TLBs right (SBI RFENCE). Device interrupts all go to the boot hart.
#define LOG_MODULE "smp"
#include "../sched.h"
#include "boot.h"
#include "csr.h"
#include "hart.h"
#include "sbi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "hal/cpu.h"
#include "hal/irq.h"
#include "hal/mem.h"
#include "hal/paging.h"
#include "hal/time.h"

#define START_MS         10000 // on a busy host an emulated hart takes its time
#define TRAP_STACK_BYTES 16384

static struct hart *harts[MACHINE_MAX_HARTS] = {&boot_hart};
static bool stopping; // a hart panics: the others halt

// A hart that is only to wake up from its sleep finds nothing to do here.
void ipi_interrupt(void)
{
    csr_clear(CSR_SIP, SIE_SSIE);
    if (__atomic_load_n(&stopping, __ATOMIC_ACQUIRE))
        csr_write(CSR_SIE, 0);
    while (__atomic_load_n(&stopping, __ATOMIC_ACQUIRE))
        __asm__ volatile("wfi");
}

// A thread became ready: somebody who sleeps looks for it. This hart itself, in an interrupt handler, does so
// when the handler returns. The scheduler's lock is held.
void wake_idle_hart(void)
{
    struct hart *self = current->hart, *sleeper = self->idling && !self->poked ? self : NULL;
    for (unsigned i = 0; i < nharts && !sleeper; i++)
        if (harts[i]->idling && !harts[i]->poked)
            sleeper = harts[i];
    if (!sleeper)
        return;
    sleeper->poked = true;
    if (sleeper != self)
        sbi_send_ipi(sleeper->id);
}

void stop_other_harts(void)
{
    __atomic_store_n(&stopping, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < nharts; i++)
        if (harts[i] != current->hart)
            sbi_send_ipi(harts[i]->id);
}

void flush_other_harts(void)
{
    if (nharts > 1)
        sbi_remote_sfence_vma();
}

// boot.S comes here on the stack of the hart's idle thread, which this becomes.
void hart_main(void)
{
    csr_write(CSR_SIE, SIE_SSIE);
    __atomic_store_n(&current->hart->online, true, __ATOMIC_RELEASE);
    sched_lock();
    thread_main();
}

static bool is_online(const struct hart *hart)
{
    uint64_t deadline = deadline_in_ms(START_MS);
    while (!__atomic_load_n(&hart->online, __ATOMIC_ACQUIRE) && !deadline_passed(deadline))
        cpu_relax();
    return hart->online;
}

// What a hart that does not start has got stays its own: it might start late.
static bool start_hart(unsigned long id)
{
    struct hart *hart = calloc(1, sizeof(*hart));
    if (!hart || !stack_alloc(&hart->trap_stack, TRAP_STACK_BYTES) || sched_add_hart(hart, id) < 0) {
        log_error("hart %lu does not start: no memory", id);
        return false;
    }
    hart->satp = csr_read(CSR_SATP);
    long error = sbi_hart_start(id, (uintptr_t)hart_entry, (uintptr_t)hart);
    if (error || !is_online(hart)) {
        log_error("hart %lu does not start: SBI error %ld", id, error);
        return false;
    }
    harts[nharts++] = hart;
    return true;
}

// The question for messages sets up the interrupt controller here, as that writes the boot hart's registers.
void smp_init(void)
{
    const struct machine *m = machine();
    bool all = true;
    msi_available();
    csr_set(CSR_SIE, SIE_SSIE);
    for (unsigned i = 0; i < m->nharts && all; i++)
        if (m->harts[i] != m->boot_hart)
            all = start_hart(m->harts[i]);
    log_info("%u of %u harts run", nharts, m->nharts);
}
