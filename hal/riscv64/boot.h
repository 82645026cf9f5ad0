// SPDX-License-Identifier: MIT
// What the files of this folder share during boot: linker symbols and the steps hal_main() takes in order.
#ifndef HAL_RISCV64_BOOT_H
#define HAL_RISCV64_BOOT_H

#include "core/trace.h"
#include "hal/machine.h"
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

void machine_init(const void *fdt, unsigned long boot_hart);

// machine(), as far as booting needs it: all but fw_cfg, interrupt controllers and PCI.
extern struct machine boot_machine;

// From fdt.c, or no_device_tree.c: what booting needs, as machine_from_fdt() and with its errors; the rest,
// at the first call; and where the device tree lies, which stays in use (size 0: there is none).
int machine_read_boot(struct machine *m, const void *fdt, unsigned long boot_hart);
void machine_read_devices(struct machine *m);
struct machine_range device_tree_range(void);

// Puts free memory into the page pool, and it, the image and the device tree into the page table.
void memory_init(void);

// The page table before it is used: a mapping (PAGING_…) of a range that has none, the parts of the image;
// and its use.
void paging_add(uintptr_t virt, uint64_t phys, size_t size, unsigned attr);
void paging_add_image(void);
void paging_enable(void);

// Devices that are needed before paging is on, and in a panic at any time. They are used where Kconfig says
// until
// ..._early_init() knows better, at their physical address until ..._map(), which is called before paging is
// switched on and gives each its place.
struct mmio mmio_physical(phys_addr_t phys, size_t size);
enum mmio_boot_place { MMIO_CONSOLE, MMIO_TEST_DEVICE };
struct mmio mmio_map_at_boot(enum mmio_boot_place place, phys_addr_t phys, size_t size);
void console_early_init(const struct machine_uart *uart);
void console_map(void);
void console_unlock(void); // for a panic: writes whoever may be in the middle of writing
void shutdown_early_init(phys_addr_t test_device);
void shutdown_map(void);

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

// Finds and sets up the interrupt controller, if that has not happened; on the boot hart.
void irq_init(void);

// From sched.c and thread.c, or from one_thread.c. Makes the code that runs the first thread.
void sched_init(void);

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
