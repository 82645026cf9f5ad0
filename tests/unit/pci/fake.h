// SPDX-License-Identifier: MIT
/*
 * A machine in memory, behind the hal's functions: a host bridge with its ECAM, bridges, devices. It decodes
 * as hardware does: configuration accesses go down by the bridges' bus numbers, memory accesses by their
 * windows, BARs and command bits. So what the bus code wrote is tested by whether it works.
 */
#ifndef TESTS_UNIT_PCI_FAKE_H
#define TESTS_UNIT_PCI_FAKE_H

#include "hal/irq.h"
#include "hal/machine.h"
#include <stdbool.h>
#include <stdint.h>

#define FAKE_BARS       6
#define FAKE_BAR_MEMORY 4096 /* so much of each BAR keeps what is written */

struct fake_bus;

struct fake_function {
    struct fake_bus *bus; /* where it is plugged in */
    unsigned slot, function;
    struct fake_bus *behind; /* a bridge */
    uint8_t config[4096];
    uint8_t writable[4096]; /* mask of the bits that a write changes */
    uint8_t *memory[FAKE_BARS];
    bool echoes;        /* answers in every slot of its bus */
    uint64_t sized_bad; /* number of BAR writes of all ones while decoding was on */
};

struct fake_bus {
    struct fake_function *functions[32][8];
};

struct fake_machine {
    struct machine machine;
    struct fake_bus root;
    bool msi;           /* there is an IMSIC */
    unsigned msi_left;  /* vectors to hand out */
    unsigned live_maps; /* mmio_map() minus mmio_unmap() */
    unsigned live_msis;
    char log[16384];
};

extern struct fake_machine fake;

/* A fresh machine like QEMU's riscv virt; everything of the old one is freed. */
void fake_reset(void);

/* A function with identity, class and header type 0 on `bus`; no BARs, no capabilities. */
struct fake_function *fake_add(struct fake_bus *bus, unsigned slot, unsigned function, uint16_t vendor,
                               uint16_t device, uint32_t class);

/* A PCI-to-PCI bridge with all windows; `port`: as a PCI Express root port. */
struct fake_function *fake_add_bridge(struct fake_bus *bus, unsigned slot, bool port);

/* BAR `index` of `size` bytes; `low` holds the type bits of the register. */
void fake_bar(struct fake_function *f, unsigned index, uint64_t size, uint32_t low);

/* Puts a capability at `offset` (next pointer `next`) and the list's start in the header if it has none yet.
 */
void fake_capability(struct fake_function *f, unsigned offset, uint8_t id, uint8_t next);

void fake_set16(struct fake_function *f, unsigned offset, uint16_t value);
void fake_set32(struct fake_function *f, unsigned offset, uint32_t value);
uint16_t fake_get16(const struct fake_function *f, unsigned offset);
uint32_t fake_get32(const struct fake_function *f, unsigned offset);

/* Makes `count` bytes at `offset` writable. */
void fake_writable(struct fake_function *f, unsigned offset, unsigned count);

/* Who answers at a CPU address; NULL for nobody. More than one is a test failure. */
struct fake_function *fake_decode(uint64_t cpu, bool io, unsigned *bar, uint64_t *offset);

/* Calls the handlers of interrupt `irq`; returns how many there are. */
unsigned fake_fire(unsigned irq);

#endif
