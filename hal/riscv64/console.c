// SPDX-License-Identifier: MIT
// The console on a 16550 UART (National Semiconductor PC16550D data sheet, section 8.0), polled.
#define LOG_MODULE "console"
#include "boot.h"

#include "core/log.h"
#include "hal/console.h"
#include "hal/panic.h"
#include "hal/spinlock.h"

#define RBR 0 // receiver buffer (read)
#define THR 0 // transmitter holding (write)
#define IER 1
#define FCR 2
#define LSR 5

#define FCR_ENABLE_AND_CLEAR 0x07
#define LSR_DATA_READY       0x01
#define LSR_THR_EMPTY        0x20
#define FIFO_BYTES           16

static struct mmio uart;     // of size 0 until the first byte, and again when paging moves it
static struct spinlock lock; // each console_write() comes out whole
static unsigned fifo_room;   // bytes that fit for certain

static uint8_t read(unsigned reg)
{
    return mmio_read8(&uart, (size_t)reg << boot_machine.uart.reg_shift);
}

static void write(unsigned reg, uint8_t value)
{
    mmio_write8(&uart, (size_t)reg << boot_machine.uart.reg_shift, value);
}

// The firmware has set speed and frame.
static void start(void)
{
    if (uart.size)
        return;
    uart = boot_machine.uart.regs.size
               ? mmio_at_boot(CONSOLE_PAGE, &boot_machine.uart.regs)
               : mmio_physical(phys_addr(CONFIG_FALLBACK_UART_BASE), CONFIG_FALLBACK_UART_SIZE);
    fifo_room = 0;
    write(IER, 0);
    write(FCR, FCR_ENABLE_AND_CLEAR);
}

void console_restart(void)
{
    uart.size = 0;
}

// "Empty" means the whole FIFO, so it is asked for once in 16 bytes.
static void put(char c)
{
    if (fifo_room == 0) {
        while (!(read(LSR) & LSR_THR_EMPTY))
            ;
        fifo_room = FIFO_BYTES;
    }
    fifo_room--;
    write(THR, (uint8_t)c);
}

void console_write(const char *data, size_t len)
{
    unsigned long flags = spin_lock_irq(&lock);
    start();
    for (size_t i = 0; i < len; i++)
        put(data[i]);
    spin_unlock_irq(&lock, flags);
}

void console_unlock(void)
{
    spin_unlock(&lock);
}

int console_getc(void)
{
    unsigned long flags = spin_lock_irq(&lock);
    start();
    int c = read(LSR) & LSR_DATA_READY ? read(RBR) : -1;
    spin_unlock_irq(&lock, flags);
    return c;
}
