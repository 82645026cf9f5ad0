// SPDX-License-Identifier: MIT
#include "trap.h"
#include "boot.h"
#include "csr.h"

void trap_handle(struct trap_frame *frame)
{
    switch (frame->cause) {
    case SCAUSE_INTERRUPT | IRQ_S_TIMER:
        time_interrupt();
        break;
    case SCAUSE_INTERRUPT | IRQ_S_EXTERNAL:
        irq_dispatch();
        break;
    default:
        trap_panic(frame);
    }
}
