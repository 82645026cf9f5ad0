// SPDX-License-Identifier: MIT
// What the device tree says about the machine (Devicetree Specification v0.4; PCI bindings: IEEE 1275 "PCI
// Bus Binding"; interrupt controllers: Linux bindings sifive,plic-1.0.0, riscv,aplic, riscv,imsics).
#ifndef HAL_MACHINE_H
#define HAL_MACHINE_H

#include "hal/types.h"

#define MACHINE_MAX_RAM      8
#define MACHINE_MAX_RESERVED 16
#define MACHINE_MAX_WINDOWS  4
#define MACHINE_MAX_HARTS    64

struct machine_range {
    phys_addr_t base;
    uint64_t size; // bytes
};

enum pci_window_type { PCI_WINDOW_IO, PCI_WINDOW_MEM32, PCI_WINDOW_MEM64 };

// A range of CPU addresses that the host bridge turns into PCI addresses.
struct pci_window {
    enum pci_window_type type;
    bool prefetchable;
    uint64_t cpu;  // first CPU (physical) address
    uint64_t pci;  // the PCI address it becomes
    uint64_t size; // bytes
};

#define PCI_INTX_SLOTS 32

// A generic ECAM host bridge ("pci-host-ecam-generic").
struct pci_host {
    bool present;
    phys_addr_t ecam; // configuration space of bus `bus_first`
    uint64_t ecam_size;
    uint8_t bus_first, bus_last;
    unsigned nwindows;
    struct pci_window windows[MACHINE_MAX_WINDOWS];
    // Wired interrupt of slot s, pin p (0 = INTA#) on the root bus, from interrupt-map and its mask: 0 =
    // none.
    uint16_t intx_irq[PCI_INTX_SLOTS][4];
};

struct machine_uart {
    struct machine_range regs; // size 0 if none
    unsigned irq;
    unsigned reg_shift; // register n is at byte n << reg_shift
};

struct machine_plic {
    bool present;
    phys_addr_t base;
    uint64_t size;
    unsigned nsources; // sources 1 … nsources
    unsigned context;  // the boot hart's S-mode context
};

// The S-mode domain of an APLIC that delivers by MSI.
struct machine_aplic {
    bool present;
    phys_addr_t base;
    uint64_t size;
    unsigned nsources;
};

struct machine_imsic {
    bool present;
    phys_addr_t base;    // the boot hart's S-mode interrupt file (one page)
    unsigned nids;       // identities 1 … nids
    unsigned hart_index; // position of the boot hart among the files, as APLIC target registers want it
};

struct machine {
    const char *model;    // e.g. "riscv-virtio,qemu"; "" if none. It and bootargs lie in the tree
    const char *bootargs; // the kernel command line, "" if none
    unsigned nharts;      // usable harts
    unsigned long harts[MACHINE_MAX_HARTS]; // their numbers
    unsigned long boot_hart;
    uint64_t timebase_hz;
    unsigned nram;
    struct machine_range ram[MACHINE_MAX_RAM];
    unsigned nreserved; // not for the kernel: the device tree itself, memory reservations, firmware
    struct machine_range reserved[MACHINE_MAX_RESERVED];
    struct machine_uart uart;
    struct machine_plic plic;
    struct machine_aplic aplic;
    struct machine_imsic imsic;
    struct pci_host pci;
    struct machine_range test_device; // sifive_test, size 0 if none
    struct machine_range fw_cfg;      // QEMU's firmware configuration, likewise
};

// The machine we run on. Valid from the start of the init levels on; never NULL. The first call reads the
// devices that booting does not need.
const struct machine *machine(void);

// Pure: fills `*m` from the flattened device tree `fdt` (8-byte aligned, as seen by hart `boot_hart`), which
// must outlive it. Touches no hardware and no other memory, so it is tested in a process. What the tree lacks
// stays zero / not present. Returns 0, or -EINVAL: not a device tree, or it has no memory or timebase
// (logged: which node, which property).
int machine_from_fdt(struct machine *m, const void *fdt, unsigned long boot_hart);

// Value of `key=value` in the kernel command line (core/cmdline.h), copied into `out` (size bytes, always
// terminated). Returns true when the key is there. In a process: of the process's arguments.
bool machine_bootarg(const char *key, char *out, size_t size);

#endif
