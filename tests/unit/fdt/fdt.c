// SPDX-License-Identifier: MIT
// Reading device trees: both interrupt systems, what is missing, and what is damaged.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include <libfdt.h>

#include "core/log.h"
#include "hal/machine.h"
#include "virt_tree.h"

static _Alignas(8) char buffer[VIRT_TREE_BYTES];
static struct machine m;

static int read_tree(const struct virt_tree *tree, unsigned long boot_hart)
{
    virt_tree_build(buffer, tree);
    return machine_from_fdt(&m, buffer, boot_hart);
}

static void memory_harts_and_strings(void **state)
{
    (void)state;
    const struct virt_tree tree = {.nharts = 3, .bootargs = "case=heap verbose", .reserved_ranges = 2};
    assert_int_equal(read_tree(&tree, 1), 0);
    assert_string_equal(m.model, "riscv-virtio,qemu");
    assert_string_equal(m.bootargs, "case=heap verbose");
    assert_int_equal(m.nharts, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(m.harts[i], i);
    assert_int_equal(m.boot_hart, 1);
    assert_int_equal(m.timebase_hz, 10000000);
    assert_int_equal(m.nram, 2);
    assert_int_equal(m.ram[0].base.value, 0x80000000);
    assert_int_equal(m.ram[0].size, 0x10000000);
    assert_int_equal(m.ram[1].base.value, 0x100000000);
    assert_int_equal(m.ram[1].size, 0x200000000);
    assert_int_equal(m.nreserved, 4);
    assert_ptr_equal(m.reserved[0].base.value, buffer); // the tree itself, then the reservation block
    assert_int_equal(m.reserved[0].size, fdt_totalsize(buffer));
    assert_int_equal(m.reserved[1].base.value, 0x90000000);
    assert_int_equal(m.reserved[3].base.value, 0x80040000);
    assert_int_equal(m.reserved[3].size, 0x40000);
}

static void uart_and_test_device(void **state)
{
    (void)state;
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1}, 0), 0);
    assert_true(m.uart.regs.size);
    assert_int_equal(m.uart.regs.base.value, 0x10000000);
    assert_int_equal(m.uart.regs.size, 0x100);
    assert_int_equal(m.uart.irq, 10);
    assert_int_equal(m.uart.reg_shift, 0);
    assert_int_equal(m.test_device.base.value, 0x100000);
    assert_int_equal(m.fw_cfg.base.value, 0x10100000);
    assert_int_equal(m.fw_cfg.size, 0x18);
}

static void plic_context_is_the_boot_harts_s_mode(void **state)
{
    (void)state;
    for (unsigned hart = 0; hart < 4; hart++) {
        const struct virt_tree tree = {.nharts = 4, .controllers_first = hart % 2};
        assert_int_equal(read_tree(&tree, hart), 0);
        assert_true(m.plic.present);
        assert_false(m.aplic.present || m.imsic.present);
        assert_int_equal(m.plic.base.value, 0xc000000);
        assert_int_equal(m.plic.size, 0x600000);
        assert_int_equal(m.plic.nsources, 0x5f);
        assert_int_equal(m.plic.context, 2 * hart + 1);
    }
}

static void aia_is_the_s_level_one(void **state)
{
    (void)state;
    for (unsigned hart = 0; hart < 4; hart++) {
        const struct virt_tree tree = {.nharts = 4, .aia = true, .controllers_first = hart % 2};
        assert_int_equal(read_tree(&tree, hart), 0);
        assert_false(m.plic.present);
        assert_true(m.aplic.present && m.imsic.present);
        assert_int_equal(m.aplic.base.value, 0xd000000);
        assert_int_equal(m.aplic.nsources, 0x60);
        assert_int_equal(m.imsic.base.value, 0x28000000 + hart * 0x1000);
        assert_int_equal(m.imsic.nids, 0xff);
        assert_int_equal(m.imsic.hart_index, hart);
    }
}

static void boot_hart_unknown_to_the_tree(void **state)
{
    (void)state;
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1}, 7), 0);
    assert_false(m.plic.present);
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1, .aia = true}, 7), 0);
    assert_false(m.imsic.present);
}

static void assert_window(unsigned i, enum pci_window_type type, uint64_t cpu, uint64_t pci, uint64_t size)
{
    assert_int_equal(m.pci.windows[i].type, type);
    assert_int_equal(m.pci.windows[i].cpu, cpu);
    assert_int_equal(m.pci.windows[i].pci, pci);
    assert_int_equal(m.pci.windows[i].size, size);
    assert_false(m.pci.windows[i].prefetchable);
}

static void pci_windows_and_interrupts(void **state)
{
    (void)state;
    for (unsigned aia = 0; aia < 2; aia++) {
        assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1, .aia = aia}, 0), 0);
        assert_true(m.pci.present);
        assert_int_equal(m.pci.ecam.value, 0x30000000);
        assert_int_equal(m.pci.ecam_size, 0x10000000);
        assert_int_equal(m.pci.bus_first, 0);
        assert_int_equal(m.pci.bus_last, 255);
        assert_int_equal(m.pci.nwindows, 3);
        assert_window(0, PCI_WINDOW_IO, 0x3000000, 0, 0x10000);
        assert_window(1, PCI_WINDOW_MEM32, 0x40000000, 0x40000000, 0x40000000);
        assert_window(2, PCI_WINDOW_MEM64, 0x400000000, 0x400000000, 0x400000000);
        for (unsigned slot = 0; slot < PCI_INTX_SLOTS; slot++)
            for (unsigned pin = 0; pin < 4; pin++)
                assert_int_equal(m.pci.intx_irq[slot][pin], 0x20 + (slot + pin) % 4);
    }
}

static void disabled_or_absent_devices_are_not_present(void **state)
{
    (void)state;
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1, .pci_disabled = true}, 0), 0);
    assert_false(m.pci.present);
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1, .no_pci = true, .no_uart = true}, 0), 0);
    assert_false(m.pci.present || m.uart.regs.size);
}

static void interrupt_map_to_nowhere_disables_pci(void **state)
{
    (void)state;
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1, .map_parent = 4711}, 0), 0);
    assert_false(m.pci.present);
}

// Firmware takes nodes and properties out by writing NOP tokens over them.
static void what_was_taken_out_is_not_there(void **state)
{
    (void)state;
    virt_tree_build(buffer, &(struct virt_tree){.nharts = 1});
    assert_int_equal(fdt_nop_property(buffer, fdt_path_offset(buffer, "/soc/plic@c000000"), "riscv,ndev"), 0);
    assert_int_equal(fdt_nop_node(buffer, fdt_path_offset(buffer, "/soc/serial@10000000")), 0);
    assert_int_equal(machine_from_fdt(&m, buffer, 0), 0);
    assert_int_equal(m.uart.regs.size, 0);
    assert_int_equal(m.plic.base.value, 0xc000000);
    assert_int_equal(m.plic.nsources, 0);
    assert_int_equal(m.test_device.base.value, 0x100000);
}

static void what_a_machine_must_have(void **state)
{
    (void)state;
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1, .no_memory = true}, 0), -EINVAL);
    assert_true(m.uart.regs.size); // what is there is still read, so that the failure can be told
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1, .no_timebase = true}, 0), -EINVAL);
    assert_int_equal(m.nram, 2);
}

static void too_many_reserved_ranges(void **state)
{
    (void)state;
    const struct virt_tree tree = {.nharts = 1, .reserved_ranges = MACHINE_MAX_RESERVED};
    assert_int_equal(read_tree(&tree, 0), -EINVAL);
}

static void long_bootargs_are_whole(void **state)
{
    (void)state;
    char text[2000];
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1, .bootargs = text}, 0), 0);
    assert_string_equal(m.bootargs, text);
}

static void nothing_in_the_tree_is_an_empty_string(void **state)
{
    (void)state;
    assert_int_equal(read_tree(&(struct virt_tree){.nharts = 1}, 0), 0);
    assert_string_equal(m.bootargs, "");
}

static void not_a_device_tree(void **state)
{
    (void)state;
    memset(buffer, 0, sizeof(buffer));
    assert_int_equal(machine_from_fdt(&m, buffer, 0), -EINVAL);
    assert_int_equal(machine_from_fdt(&m, NULL, 0), -EINVAL);
}

static void reservations_without_an_end(void **state)
{
    (void)state;
    virt_tree_build(buffer, &(struct virt_tree){.nharts = 1});
    fdt_set_off_mem_rsvmap(buffer, (fdt_totalsize(buffer) & ~7u) - 8); // not one entry
    assert_int_equal(machine_from_fdt(&m, buffer, 0), -EINVAL);
    assert_int_equal(m.nreserved, 0);
    assert_int_equal(m.reserved[0].size, 0); // nothing of the tree is in use
}

static void drop_line(const char *text, size_t length)
{
    (void)text;
    (void)length;
}

static const struct log_output quiet = {.write = drop_line};

// Each field of the header, one wrong value after the other: refused, or read without a byte outside.
static void headers(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 1, 3, 16, 18, 0x40, 0x7fffffff, 0xfffffffc, 0xffffffff};
    virt_tree_build(buffer, &(struct virt_tree){.nharts = 1});
    size_t size = fdt_totalsize(buffer);
    log_set_output(&quiet);
    for (unsigned field = 0; field < sizeof(struct fdt_header) / 4; field++) {
        for (unsigned i = 0; i < sizeof(values) / 4; i++) {
            char *copy = malloc(size);
            memcpy(copy, buffer, size);
            ((fdt32_t *)copy)[field] = cpu_to_fdt32(values[i]);
            int result = machine_from_fdt(&m, copy, 0);
            assert_true(result == 0 || result == -EINVAL);
            if (field == 0)
                assert_int_equal(result, -EINVAL);
            free(copy);
        }
    }
    log_set_output(NULL);
}

// Any damage gives a machine or -EINVAL, and reads no byte outside (ASan watches the exact-size copy).
static void random_damage(void **state)
{
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    srand(seed);
    log_set_output(&quiet);
    for (unsigned round = 0; round < 4000; round++) {
        virt_tree_build(buffer, &(struct virt_tree){.nharts = 2, .aia = round % 2, .reserved_ranges = 1});
        size_t size = fdt_totalsize(buffer);
        char *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, buffer, size);
        unsigned first = fdt_off_dt_struct(copy);
        for (int flips = 1 + rand() % 8; flips; flips--)
            copy[first + (unsigned)rand() % (size - first)] = (char)(rand() % 4 ? rand() % 8 : rand());
        int result = machine_from_fdt(&m, copy, 0);
        assert_true(result == 0 || result == -EINVAL);
        free(copy);
    }
    log_set_output(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_harts_and_strings),
        cmocka_unit_test(uart_and_test_device),
        cmocka_unit_test(plic_context_is_the_boot_harts_s_mode),
        cmocka_unit_test(aia_is_the_s_level_one),
        cmocka_unit_test(boot_hart_unknown_to_the_tree),
        cmocka_unit_test(pci_windows_and_interrupts),
        cmocka_unit_test(disabled_or_absent_devices_are_not_present),
        cmocka_unit_test(interrupt_map_to_nowhere_disables_pci),
        cmocka_unit_test(what_was_taken_out_is_not_there),
        cmocka_unit_test(what_a_machine_must_have),
        cmocka_unit_test(too_many_reserved_ranges),
        cmocka_unit_test(long_bootargs_are_whole),
        cmocka_unit_test(nothing_in_the_tree_is_an_empty_string),
        cmocka_unit_test(not_a_device_tree),
        cmocka_unit_test(reservations_without_an_end),
        cmocka_unit_test(headers),
        cmocka_unit_test(random_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
