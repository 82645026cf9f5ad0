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

static struct mmio uart = {.base = (volatile uint8_t *)CONFIG_FALLBACK_UART_BASE,
                           .phys = {CONFIG_FALLBACK_UART_BASE},
                           .size = CONFIG_FALLBACK_UART_SIZE};
static struct spinlock lock; // each console_write() comes out whole
static unsigned reg_shift;
static unsigned fifo_room; // bytes that fit for certain
static bool started;       // the firmware has set speed and frame, the rest waits for the first byte

static uint8_t read(unsigned reg)
{
    return mmio_read8(&uart, (size_t)reg << reg_shift);
}

static void write(unsigned reg, uint8_t value)
{
    mmio_write8(&uart, (size_t)reg << reg_shift, value);
}

void console_early_init(const struct machine_uart *m)
{
    uart = mmio_physical(m->base, m->size);
    reg_shift = m->reg_shift;
    started = false;
}

void console_map(void)
{
    uart = mmio_map_at_boot(MMIO_CONSOLE, uart.phys, uart.size);
}

static void start(void)
{
    started = true;
    fifo_room = 0;
    write(IER, 0);
    write(FCR, FCR_ENABLE_AND_CLEAR);
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
    if (!started)
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
    return read(LSR) & LSR_DATA_READY ? read(RBR) : -1;
}
