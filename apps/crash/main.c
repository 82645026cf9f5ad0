// SPDX-License-Identifier: MIT
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/test.h"
#include "core/util.h"
#include "hal/irq.h"
#include "hal/machine.h"
#include "hal/mem.h"
#include "hal/mmio.h"
#include "hal/panic.h"
#include "hal/time.h"

int main(void);

// Each in a function of its own that is neither inlined nor seen through, so that the backtrace names it.
#define CASE static __attribute__((noinline, noclone)) void

static volatile uintptr_t zero;
static const char constant[] = "constant";

CASE crash_null(void)
{
    *(volatile int *)(zero + 8) = 1;
}

CASE crash_text(void)
{
    *(volatile uint32_t *)(zero + (uintptr_t)main) = 0;
}

CASE crash_rodata(void)
{
    *(volatile char *)(zero + (uintptr_t)constant) = 'C';
}

CASE crash_execute(void)
{
    static uint32_t code[1] = {0x00008067}; // ret
    ((void (*)(void))(zero + (uintptr_t)code))();
}

CASE crash_firmware(void)
{
    (void)*(volatile int *)(zero + machine()->ram[0].base.value);
}

static unsigned recurse(unsigned depth) // NOLINT: without end, on purpose
{
    volatile unsigned frame[64] = {depth};
    return zero ? frame[0] : recurse(depth + 1) + frame[0];
}

CASE crash_stack(void)
{
    zero = recurse(0);
}

CASE crash_smash(void)
{
    char array[16];
    memset(array + zero, 'x', 64 + zero);
    printf("%c\n", array[zero]);
}

CASE crash_panic(void)
{
    panic("asked for, value %d", 42);
}

CASE crash_assert(void)
{
    assert(zero == 1);
}

CASE crash_abort(void)
{
    abort();
}

CASE crash_double_free(void)
{
    char *block = malloc(100 + zero), *fence = malloc(100);
    free(block);
    free((void *)((uintptr_t)block + zero));
    free(fence);
}

CASE crash_overrun(void)
{
    char *block = malloc(32), *next = malloc(32);
    memset(block + zero, 'x', 64 + zero);
    free(block);
    free(next);
}

CASE crash_off_by_one(void)
{
    char *volatile block = malloc(100);
    block[100 + zero] = 'x';
    free(block);
}

CASE crash_underrun(void)
{
    char *block = malloc(100);
    block[-1 - (int)zero] = 'x';
    mem_check();
}

CASE crash_use_after_free(void)
{
    char *volatile block = malloc(100);
    free(block);
    block[7 + zero] = 'x'; // NOLINT: on purpose
    mem_check();
}

CASE crash_overflow(void)
{
    volatile int most = INT_MAX;
    most = most + 1;
}

CASE crash_shift(void)
{
    volatile unsigned count = 32 + (unsigned)zero;
    zero = 1u << count;
}

CASE crash_index(void)
{
    volatile int array[4] = {0}, index = 4 + (int)zero;
    array[index] = 1;
    zero = (uintptr_t)array[0];
}

CASE crash_mmio(void)
{
    struct mmio uart;
    if (mmio_map(&uart, machine()->uart.regs.base, 8) == 0)
        (void)mmio_read32(&uart, 6 + zero);
}

CASE crash_unmapped(void)
{
    struct mmio uart;
    if (mmio_map(&uart, machine()->uart.regs.base, 8) < 0)
        return;
    volatile uint8_t *base = uart.base;
    mmio_unmap(&uart);
    (void)*base;
}

static void bad_handler(void *arg)
{
    (void)arg;
    crash_null();
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

CASE crash_interrupt(void)
{
    struct mmio uart;
    irq_attach(machine()->uart.irq, bad_handler, NULL);
    if (mmio_map(&uart, machine()->uart.regs.base, 8) == 0)
        mmio_write8(&uart, 1, 2); // enables "transmitter empty", which it is
    wait_until(never, NULL, deadline_in_ms(1000));
}

CASE crash_fail(void)
{
    check(zero == 0, "one");
    check(zero == 1, "two: index 3: expected 1, actual %d", (int)zero);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"null", crash_null},
    {"text", crash_text},
    {"rodata", crash_rodata},
    {"execute", crash_execute},
    {"firmware", crash_firmware},
    {"stack", crash_stack},
    {"smash", crash_smash},
    {"panic", crash_panic},
    {"assert", crash_assert},
    {"abort", crash_abort},
    {"double-free", crash_double_free},
    {"overrun", crash_overrun},
    {"off-by-one", crash_off_by_one},
    {"underrun", crash_underrun},
    {"use-after-free", crash_use_after_free},
    {"overflow", crash_overflow},
    {"shift", crash_shift},
    {"index", crash_index},
    {"mmio", crash_mmio},
    {"unmapped", crash_unmapped},
    {"interrupt", crash_interrupt},
    {"fail", crash_fail},
};

int main(void)
{
    char name[16] = "";
    machine_bootarg("case", name, sizeof(name));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
            return test_exit_code();
        }
    }
    printf("case=%s: choose one of:", name);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        printf(" %s", cases[i].name);
    printf("\n");
    return 2;
}
