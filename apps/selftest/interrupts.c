// SPDX-License-Identifier: MIT
// Interrupts, with the console's UART as the device: its transmitter is empty, so enabling that interrupt
// raises the line, which stays up until the handler clears the enable bit.
#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "core/test.h"
#include "hal/cpu.h"
#include "hal/irq.h"
#include "hal/machine.h"
#include "hal/mmio.h"
#include "hal/time.h"
#include "selftest.h"

#define UART_IER      1
#define UART_IER_THRI 0x02

struct source {
    struct mmio uart;
    unsigned quiet_after; // raise the line until the handler has run so often
    volatile unsigned taken;
};

static void on_uart(void *arg)
{
    struct source *source = arg;
    source->taken++;
    if (source->taken >= source->quiet_after)
        mmio_write8(&source->uart, UART_IER, 0);
}

static void count(void *arg)
{
    ++*(volatile unsigned *)arg;
}

static bool is_quiet(void *arg)
{
    struct source *source = arg;
    return source->taken >= source->quiet_after;
}

static void raise_line(struct source *source, unsigned times)
{
    source->taken = 0;
    source->quiet_after = times;
    mmio_write8(&source->uart, UART_IER, UART_IER_THRI);
}

static void test_line(struct source *source, unsigned irq)
{
    uint64_t before = irq_count(irq);
    volatile unsigned shared = 0;
    check(irq_attach(irq, on_uart, source) == 0, "a handler for line %u", irq);
    check(irq_attach(irq, on_uart, source) == -EEXIST, "not twice");
    check(irq_attach(irq, count, (void *)&shared) == 0, "a second one shares the line");
    raise_line(source, 1);
    check(wait_until(is_quiet, source, deadline_in_ms(1000)) == 0, "the interrupt ends a wait");
    raise_line(source, 1);
    check(wait_until(is_quiet, source, deadline_in_ms(1000)) == 0, "and a second one another");
    check(shared == 2 && irq_count(irq) - before == 2, "2 interrupts were counted: %lu",
          irq_count(irq) - before);
    if (msi_available()) { // QEMU's PLIC forgets a line that is still up at the end of its handling
        raise_line(source, 3);
        check(wait_until(is_quiet, source, deadline_in_ms(1000)) == 0, "a line that stays up does so again");
    }
    unsigned shared_before = shared;

    check(irq_detach(irq, count, (void *)&shared) == 0, "one handler is detached");
    raise_line(source, 1);
    check(wait_until(is_quiet, source, deadline_in_ms(1000)) == 0 && shared == shared_before,
          "the other still runs");
    check(irq_detach(irq, on_uart, source) == 0, "the last is detached");
    raise_line(source, 1);
    check(wait_until(is_quiet, source, deadline_in_ms(5)) == -ETIMEDOUT, "and the line is off");
    mmio_write8(&source->uart, UART_IER, 0);
    check(irq_detach(irq, on_uart, source) == -ENOENT, "not twice");
}

// An interrupt while the program computes must not change its floating-point registers.
static void spoil_registers(void *arg)
{
    volatile double x = 3;
    on_uart(arg);
    x = sqrt(x) * x;
}

static void test_registers(struct source *source, unsigned irq)
{
    volatile double half = 0.5;
    double sum = 0;
    uint64_t before = irq_count(irq);
    irq_attach(irq, spoil_registers, source);
    for (unsigned i = 0; i < 100000; i++) {
        if (i % 500 == 0)
            raise_line(source, 1);
        sum += half;
    }
    irq_detach(irq, spoil_registers, source);
    check(sum == 50000 && irq_count(irq) - before >= 200, "%lu interrupts change no floating-point register",
          irq_count(irq) - before);
}

static void test_masking(struct source *source, unsigned irq)
{
    irq_attach(irq, on_uart, source);
    unsigned long outer = cpu_irq_save(), inner = cpu_irq_save();
    raise_line(source, 1);
    time_delay_ns(1000000);
    unsigned masked = source->taken;
    cpu_irq_restore(inner);
    time_delay_ns(1000000);
    unsigned nested = source->taken;
    cpu_irq_restore(outer);
    wait_until(is_quiet, source, deadline_in_ms(1000));
    check(masked == 0 && nested == 0 && source->taken == 1, "interrupts wait while they are disabled");
    irq_detach(irq, on_uart, source);
}

static bool is_set(void *arg)
{
    return *(volatile unsigned *)arg;
}

static void test_messages(void)
{
    struct msi_vector a = {0}, b = {0};
    volatile unsigned taken = 0;
    struct mmio file;
    if (!msi_available()) {
        check(msi_alloc(&a) == -ENOTSUP, "no messages on this machine");
        return;
    }
    check(msi_alloc(&a) == 0 && msi_alloc(&b) == 0 && a.irq != b.irq, "vectors %u and %u", a.irq, b.irq);
    check(irq_attach(a.irq, count, (void *)&taken) == 0, "a handler for the first");
    check(mmio_map(&file, phys_addr(a.address), 4) == 0, "its address %#lx", a.address);
    mmio_write32(&file, 0, a.data);
    check(wait_until(is_set, (void *)&taken, deadline_in_ms(1000)) == 0, "a message interrupts");
    irq_detach(a.irq, count, (void *)&taken);
    mmio_write32(&file, 0, a.data);
    check(taken == 1, "a detached one does not");
    mmio_unmap(&file);
    msi_free(&a);
    msi_free(&b);
    check(a.irq == 0 && irq_attach(b.irq, count, NULL) == -EINVAL, "vectors are given back");
    unsigned free_vectors = 0;
    static struct msi_vector all[2048];
    while (msi_alloc(&all[free_vectors]) == 0)
        free_vectors++;
    check(free_vectors > 32, "%u vectors, then no more", free_vectors);
    while (free_vectors)
        msi_free(&all[--free_vectors]);
}

void test_interrupts(void)
{
    const struct machine *m = machine();
    static struct source source;
    check(irq_attach(0, count, NULL) == -EINVAL, "line 0 does not exist");
    check(irq_attach(100000, count, NULL) == -EINVAL && irq_count(100000) == 0, "nor does line 100000");
    if (!check(mmio_map(&source.uart, m->uart.regs.base, m->uart.regs.size) == 0, "the UART"))
        return;
    test_line(&source, m->uart.irq);
    test_registers(&source, m->uart.irq);
    test_masking(&source, m->uart.irq);
    test_messages();
    mmio_unmap(&source.uart);
}
