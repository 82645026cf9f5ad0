// SPDX-License-Identifier: MIT
#include "virt_tree.h"

#include <assert.h>
#include <libfdt.h>
#include <stdio.h>
#include <string.h>

enum { PHANDLE_PLIC = 100, PHANDLE_APLIC_M, PHANDLE_APLIC_S, PHANDLE_IMSIC_M, PHANDLE_IMSIC_S };
#define PHANDLE_INTC(hart) (200 + (hart))

static void begin(void *fdt, const char *name)
{
    int error = fdt_begin_node(fdt, name);
    assert(error == 0);
}

static void end(void *fdt)
{
    int error = fdt_end_node(fdt);
    assert(error == 0);
}

static void string(void *fdt, const char *name, const char *value)
{
    int error = fdt_property_string(fdt, name, value);
    assert(error == 0);
}

// A list of strings, as "one\0two"; the literal's own end is the last one's.
#define STRINGS(fdt, name, literal) fdt_property(fdt, name, literal, sizeof(literal))

static void cells(void *fdt, const char *name, const uint32_t *values, unsigned n)
{
    uint32_t big_endian[256];
    assert(n <= 256);
    for (unsigned i = 0; i < n; i++)
        big_endian[i] = cpu_to_fdt32(values[i]);
    int error = fdt_property(fdt, name, big_endian, (int)(n * sizeof(uint32_t)));
    assert(error == 0);
}

#define CELLS(fdt, name, ...)                                                                                \
    cells(fdt, name, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void reg(void *fdt, uint64_t base, uint64_t size)
{
    CELLS(fdt, "reg", base >> 32, (uint32_t)base, size >> 32, (uint32_t)size);
}

static void interrupts_extended(void *fdt, unsigned nharts, const uint32_t *irqs, unsigned nirqs)
{
    uint32_t pairs[256];
    unsigned n = 0;
    for (unsigned hart = 0; hart < nharts; hart++) {
        for (unsigned i = 0; i < nirqs; i++) {
            pairs[n++] = PHANDLE_INTC(hart);
            pairs[n++] = irqs[i];
        }
    }
    cells(fdt, "interrupts-extended", pairs, n);
}

static void plic(void *fdt, const struct virt_tree *tree)
{
    begin(fdt, "plic@c000000");
    CELLS(fdt, "phandle", PHANDLE_PLIC);
    CELLS(fdt, "riscv,ndev", 0x5f);
    reg(fdt, 0xc000000, 0x600000);
    interrupts_extended(fdt, tree->nharts, (const uint32_t[]){11, 9}, 2);
    STRINGS(fdt, "compatible", "sifive,plic-1.0.0\0riscv,plic0");
    CELLS(fdt, "#address-cells", 0);
    CELLS(fdt, "#interrupt-cells", 1);
    end(fdt);
}

static void aplic(void *fdt, uint64_t base, uint32_t phandle, uint32_t imsic)
{
    begin(fdt, base == 0xc000000 ? "aplic@c000000" : "aplic@d000000");
    CELLS(fdt, "phandle", phandle);
    CELLS(fdt, "riscv,num-sources", 0x60);
    reg(fdt, base, 0x8000);
    CELLS(fdt, "msi-parent", imsic);
    CELLS(fdt, "#interrupt-cells", 2);
    string(fdt, "compatible", "riscv,aplic");
    end(fdt);
}

static void imsics(void *fdt, const struct virt_tree *tree, uint64_t base, uint32_t phandle, uint32_t irq)
{
    begin(fdt, base == 0x24000000 ? "imsics@24000000" : "imsics@28000000");
    CELLS(fdt, "phandle", phandle);
    CELLS(fdt, "riscv,num-ids", 0xff);
    reg(fdt, base, tree->nharts * 0x1000);
    interrupts_extended(fdt, tree->nharts, &irq, 1);
    string(fdt, "compatible", "riscv,imsics");
    end(fdt);
}

static void soc_begin(void *fdt)
{
    begin(fdt, "soc");
    CELLS(fdt, "#address-cells", 2);
    CELLS(fdt, "#size-cells", 2);
    string(fdt, "compatible", "simple-bus");
    fdt_property(fdt, "ranges", NULL, 0);
}

static void controllers(void *fdt, const struct virt_tree *tree)
{
    if (!tree->aia) {
        plic(fdt, tree);
        return;
    }
    aplic(fdt, 0xd000000, PHANDLE_APLIC_S, PHANDLE_IMSIC_S);
    aplic(fdt, 0xc000000, PHANDLE_APLIC_M, PHANDLE_IMSIC_M);
    imsics(fdt, tree, 0x28000000, PHANDLE_IMSIC_S, 9);
    imsics(fdt, tree, 0x24000000, PHANDLE_IMSIC_M, 11);
}

static void cpus(void *fdt, const struct virt_tree *tree)
{
    begin(fdt, "cpus");
    CELLS(fdt, "#address-cells", 1);
    CELLS(fdt, "#size-cells", 0);
    if (!tree->no_timebase)
        CELLS(fdt, "timebase-frequency", 10000000);
    for (unsigned hart = 0; hart < tree->nharts; hart++) {
        char name[16];
        snprintf(name, sizeof(name), "cpu@%u", hart);
        begin(fdt, name);
        string(fdt, "device_type", "cpu");
        CELLS(fdt, "reg", hart);
        string(fdt, "status", "okay");
        begin(fdt, "interrupt-controller");
        string(fdt, "compatible", "riscv,cpu-intc");
        CELLS(fdt, "phandle", PHANDLE_INTC(hart));
        end(fdt);
        end(fdt);
    }
    end(fdt);
}

static void interrupt_map(void *fdt, const struct virt_tree *tree)
{
    uint32_t map[16 * 8];
    uint32_t parent = tree->aia ? PHANDLE_APLIC_S : PHANDLE_PLIC;
    unsigned n = 0;
    for (uint32_t slot = 0; slot < 4; slot++) {
        for (uint32_t pin = 1; pin <= 4; pin++) {
            const uint32_t entry[] = {slot << 11,
                                      0,
                                      0,
                                      pin,
                                      tree->map_parent ? tree->map_parent : parent,
                                      0x20 + (slot + pin - 1) % 4,
                                      4};
            unsigned length = tree->aia ? 7 : 6; // an APLIC interrupt has a second cell: the trigger
            memcpy(&map[n], entry, length * sizeof(uint32_t));
            n += length;
        }
    }
    CELLS(fdt, "interrupt-map-mask", 0x1800, 0, 0, 7);
    cells(fdt, "interrupt-map", map, n);
}

static void pci(void *fdt, const struct virt_tree *tree)
{
    begin(fdt, "pci@30000000");
    interrupt_map(fdt, tree);
    CELLS(fdt, "ranges", 0x1000000, 0, 0, 0, 0x3000000, 0, 0x10000, 0x2000000, 0, 0x40000000, 0, 0x40000000,
          0, 0x40000000, 0x3000000, 4, 0, 4, 0, 4, 0);
    reg(fdt, 0x30000000, 0x10000000);
    CELLS(fdt, "bus-range", 0, 0xff);
    string(fdt, "device_type", "pci");
    string(fdt, "compatible", "pci-host-ecam-generic");
    CELLS(fdt, "#size-cells", 2);
    CELLS(fdt, "#interrupt-cells", 1);
    CELLS(fdt, "#address-cells", 3);
    if (tree->pci_disabled)
        string(fdt, "status", "disabled");
    end(fdt);
}

static void reserved_memory(void *fdt, unsigned n)
{
    begin(fdt, "reserved-memory");
    CELLS(fdt, "#address-cells", 2);
    CELLS(fdt, "#size-cells", 2);
    for (unsigned i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof(name), "mmode_resv%u@%x", i, 0x80000000 + i * 0x40000);
        begin(fdt, name);
        reg(fdt, 0x80000000 + i * 0x40000ul, 0x40000);
        end(fdt);
    }
    end(fdt);
}

static void peripherals(void *fdt, const struct virt_tree *tree)
{
    if (!tree->no_uart) {
        begin(fdt, "serial@10000000");
        CELLS(fdt, "interrupts", 10);
        reg(fdt, 0x10000000, 0x100);
        string(fdt, "compatible", "ns16550a");
        end(fdt);
    }
    begin(fdt, "test@100000");
    reg(fdt, 0x100000, 0x1000);
    STRINGS(fdt, "compatible", "sifive,test1\0sifive,test0\0syscon");
    end(fdt);
    begin(fdt, "fw-cfg@10100000");
    reg(fdt, 0x10100000, 0x18);
    string(fdt, "compatible", "qemu,fw-cfg-mmio");
    end(fdt);
    if (!tree->no_pci)
        pci(fdt, tree);
}

void virt_tree_build(void *buffer, const struct virt_tree *tree)
{
    int error = fdt_create(buffer, VIRT_TREE_BYTES);
    assert(error == 0);
    fdt_add_reservemap_entry(buffer, 0x90000000, 0x1000);
    fdt_finish_reservemap(buffer);
    begin(buffer, "");
    CELLS(buffer, "#address-cells", 2);
    CELLS(buffer, "#size-cells", 2);
    string(buffer, "model", "riscv-virtio,qemu");
    reserved_memory(buffer, tree->reserved_ranges);
    begin(buffer, "chosen");
    if (tree->bootargs)
        string(buffer, "bootargs", tree->bootargs);
    end(buffer);
    if (!tree->no_memory) {
        begin(buffer, "memory@80000000");
        string(buffer, "device_type", "memory");
        CELLS(buffer, "reg", 0, 0x80000000, 0, 0x10000000, 1, 0, 2, 0);
        end(buffer);
    }
    if (!tree->controllers_first)
        cpus(buffer, tree);
    soc_begin(buffer);
    peripherals(buffer, tree);
    controllers(buffer, tree);
    end(buffer);
    if (tree->controllers_first)
        cpus(buffer, tree);
    end(buffer);
    error = fdt_finish(buffer);
    assert(error == 0);
}
