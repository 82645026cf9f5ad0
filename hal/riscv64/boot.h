// SPDX-License-Identifier: MIT
// What the files of this folder share during boot: linker symbols and the steps hal_main() takes in order.
#ifndef HAL_RISCV64_BOOT_H
#define HAL_RISCV64_BOOT_H

#include "core/trace.h"
#include "hal/machine.h"
#include "hal/mem.h"
#include "hal/mmio.h"

// From link.lds; all on page boundaries but text_end.
extern char image_start[], text_end[], rodata_start[], data_start[], image_end[];
extern char stack_guard[], stack_bottom[], stack_top[];
extern char tls_start[], tls_end[]; // the first thread's TLS block
extern char trap_guard[], trap_stack_bottom[], trap_stack_top[];

// The time CSR at the first instruction (boot.S).
extern uint64_t boot_time;

// boot.S enters here with the hart and the device tree that OpenSBI gave in a0 and a1.
__attribute__((noreturn)) void hal_main(unsigned long hart, const void *fdt);

// With CONFIG_BOOT_TIMING: notes that a stage of the boot has ended; prints them all.
#ifdef CONFIG_BOOT_TIMING
void boot_timing_stage(const char *name);
void boot_timing_print(void);
#else
static inline void boot_timing_stage(const char *name)
{
    (void)name;
}

static inline void boot_timing_print(void)
{
}
#endif

// A stage of the boot has ended.
static inline void boot_stage(const char *name)
{
    trace_instant("boot", name, 0, 0);
    boot_timing_stage(name);
}

// With CONFIG_TRACE: events are recorded from now on.
#ifdef CONFIG_TRACE
void trace_init(void);
#else
static inline void trace_init(void)
{
}
#endif

// machine(), as far as booting needs it: all but fw_cfg, interrupt controllers and PCI.
extern struct machine boot_machine;

// From fdt.c, or no_device_tree.c. Fills in the zeroed `*m` what booting needs, with the errors of
// machine_from_fdt(), and 1 if something is missing; and the rest, once, from the same tree, which stays in
// use and is the first of the reserved ranges.
int machine_read_boot(struct machine *m, const void *fdt, unsigned long boot_hart);
void machine_read_devices(struct machine *m);

// What a usable machine must have and the device tree did not give comes from Kconfig, and the log says so.
void machine_complete(struct machine *m);

// Puts free memory into the page pool, and maps it.
void memory_init(void);

// The page table before it is used: maps the pages that [phys, phys + size) lies in, the first one where
// `virt` is, by PAGING_….
void paging_add(uintptr_t virt, uint64_t phys, size_t size, unsigned attr);

// Maps the image, the device tree, console and power switch, and switches paging on.
void paging_enable(void);

// Devices that a panic needs at any time: at their physical address until paging is on, then in pages at the
// end of the address space: two for the power switch, two for the console, as either may lie across an edge.
// Nothing is to be set up, but the console is told that it has moved.
#define TEST_DEVICE_PAGE (~0ul << 30)
#define CONSOLE_PAGE     (TEST_DEVICE_PAGE + 2 * PAGE_SIZE)
struct mmio mmio_physical(phys_addr_t phys, size_t size);
struct mmio mmio_at_boot(uintptr_t page, const struct machine_range *regs);
void console_restart(void);
void console_unlock(void); // for a panic: writes whoever may be in the middle of writing

// Called by the trap entry with interrupts disabled.
void irq_dispatch(void);

// The timer interrupt at `deadline`, instead of at an earlier set one.
void time_set_alarm(uint64_t deadline);
void time_stop_alarm(void);

// From smp.c. Where there is one hart there is nothing to do.
#ifdef CONFIG_SMP
void smp_init(void);          // starts the other harts
void wake_idle_hart(void);    // a thread is ready
void stop_other_harts(void);  // for good
void flush_other_harts(void); // their TLBs
void ipi_interrupt(void);
#else
#define smp_init()          ((void)0)
#define wake_idle_hart()    ((void)0)
#define stop_other_harts()  ((void)0)
#define flush_other_harts() ((void)0)
#define ipi_interrupt()     ((void)0)
#endif

// Makes the code that runs the first thread. What follows is in sched.c and thread.c, or in one_thread.c.
#ifdef CONFIG_THREADS
void sched_init(void);
#else
#define sched_init() ((void)0)
#endif

// After the timer interrupt: whose deadline has come?
void sched_timer(void);

// The page that is not mapped, and the end of the stack above it.
struct stack {
    char *guard, *top;
};

struct stack thread_stack(void);  // of the running thread
struct stack trap_stack(void);    // of this hart's traps
const char *running_thread(void); // its name, NULL where there is one thread

#endif
