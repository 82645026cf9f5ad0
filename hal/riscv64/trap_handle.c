// SPDX-License-Identifier: MIT
#include "trap.h"
#include "boot.h"
#include "csr.h"

#include "hal/time.h"

void trap_handle(struct trap_frame *frame)
{
    switch (frame->cause) {
    case SCAUSE_INTERRUPT | IRQ_S_SOFTWARE:
        ipi_interrupt();
        break;
    case SCAUSE_INTERRUPT | IRQ_S_TIMER:
        time_stop_alarm();
        sched_timer();
        break;
    case SCAUSE_INTERRUPT | IRQ_S_EXTERNAL:
        irq_dispatch();
        wait_recheck();
        break;
    default:
        trap_panic(frame);
    }
}
