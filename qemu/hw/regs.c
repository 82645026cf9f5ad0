/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads and stores of BAR0, by the table in registers.inc. */
#include "qemu/osdep.h"
#include "gpgpu.h"
#include "trace.h"

enum access { RO, RW, WO, W1C };

static const struct {
    const char *name;
    enum access access;
    uint32_t reset;
    uint32_t mask;
    uint32_t (*read)(GPGPUState *s, enum gpgpu_reg reg);
    void (*write)(GPGPUState *s, uint32_t value);
} registers[GPGPU_NUM_REGS] = {
#define REGISTER(name, offset, access, reset, mask, read, write, doc)                                        \
    [REG_##name] = {#name, access, reset, mask, read, write},
#include "registers.inc"
#undef REGISTER
};

/* 1 + index of the register at an offset, by word; 0 where there is none. */
static const uint8_t register_at[] = {
#define REGISTER(name, offset, access, reset, mask, read, write, doc) [(offset) / 4] = REG_##name + 1,
#include "registers.inc"
#undef REGISTER
};
QEMU_BUILD_BUG_ON(GPGPU_NUM_REGS >= UINT8_MAX);

/* Find the register of an access, or say what is wrong with it. */
static bool find_register(GPGPUState *s, hwaddr addr, unsigned size, enum gpgpu_reg *reg)
{
    if (size != 4 || addr % 4) {
        gpgpu_guest_error(s, "%u-byte access at BAR0+0x%" HWADDR_PRIx ": registers take aligned words", size,
                          addr);
        return false;
    }
    if (addr / 4 >= ARRAY_SIZE(register_at) || !register_at[addr / 4]) {
        gpgpu_guest_error(s, "no register at BAR0+0x%" HWADDR_PRIx, addr);
        return false;
    }
    *reg = register_at[addr / 4] - 1;
    return true;
}

static uint64_t regs_read(void *opaque, hwaddr addr, unsigned size)
{
    GPGPUState *s = opaque;
    enum gpgpu_reg reg;

    if (!find_register(s, addr, size, &reg)) {
        return 0;
    }
    if (registers[reg].read) {
        s->reg[reg] = registers[reg].read(s, reg);
    }
    trace_gpgpu_reg_read(gpgpu_name(s), registers[reg].name, s->reg[reg]);
    return s->reg[reg];
}

static void regs_write(void *opaque, hwaddr addr, uint64_t data, unsigned size)
{
    GPGPUState *s = opaque;
    uint32_t value = (uint32_t)data;
    enum gpgpu_reg reg;

    if (!find_register(s, addr, size, &reg)) {
        return;
    }
    trace_gpgpu_reg_write(gpgpu_name(s), registers[reg].name, value);
    switch (registers[reg].access) {
    case RO:
        gpgpu_guest_error(s, "write of read-only register %s", registers[reg].name);
        return;
    case RW:
        s->reg[reg] = (s->reg[reg] & ~registers[reg].mask) | (value & registers[reg].mask);
        break;
    case W1C:
        s->reg[reg] &= ~(value & registers[reg].mask);
        break;
    case WO:
        break;
    }
    if (registers[reg].write) {
        registers[reg].write(s, value);
    }
}

/* Any size and alignment arrives here, so that a wrong one is told and ignored instead of a bus error. */
const MemoryRegionOps gpgpu_regs_ops = {
    .read = regs_read,
    .write = regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 1, .max_access_size = 8, .unaligned = true},
    .impl = {.min_access_size = 1, .max_access_size = 8, .unaligned = true},
};

void gpgpu_regs_reset(GPGPUState *s)
{
    const struct simt_config *config = simt_get_config(s->simt);

    for (enum gpgpu_reg reg = 0; reg < GPGPU_NUM_REGS; reg++) {
        s->reg[reg] = registers[reg].reset;
    }
    if (!s->queue_property) {
        s->reg[REG_DEV_CAPS2] &= ~GPGPU_CAPS2_QUEUE;
    }
    s->reg[REG_DEV_CAPS] = config->num_cus | config->warps_per_cu << 8 | config->warp_size << 16;
    s->reg[REG_VRAM_SIZE_LO] = (uint32_t)s->vram_size;
    s->reg[REG_VRAM_SIZE_HI] = (uint32_t)(s->vram_size >> 32);
    s->reg[REG_SHARED_MAX] = config->shared_max;
    s->reg[REG_PRIVATE_SIZE] = config->private_size;
}
