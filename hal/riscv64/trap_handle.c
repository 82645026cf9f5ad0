// SPDX-License-Identifier: MIT
#include "trap.h"
#include "boot.h"
#include "csr.h"

#include "hal/time.h"

void trap_handle(struct trap_frame *frame)
{
    switch (frame->cause) {
    case SCAUSE_INTERRUPT | IRQ_S_SOFTWARE:
        trace_begin("interrupt", "other hart", 0, 0);
        ipi_interrupt();
        break;
    case SCAUSE_INTERRUPT | IRQ_S_TIMER:
        trace_begin("interrupt", "timer", 0, 0);
        time_stop_alarm();
        sched_timer();
        break;
    case SCAUSE_INTERRUPT | IRQ_S_EXTERNAL:
        trace_begin("interrupt", "device", 0, 0);
        irq_dispatch();
        wait_recheck();
        break;
    default:
        trap_panic(frame);
    }
    trace_end("interrupt");
}
