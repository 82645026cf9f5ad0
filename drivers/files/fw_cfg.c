// SPDX-License-Identifier: MIT
/*
 * QEMU's firmware configuration device (its docs/specs/fw_cfg.rst): files given by -fw_cfg, read by DMA. Of
 * them all those are ours whose name begins with "opt/weft/". Numbers are big-endian, except the identity.
 */
#define LOG_MODULE "fw_cfg"
#include "bus/driver.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/math.h"
#include "drivers/files.h"
#include "hal/cpu.h"
#include "hal/dma.h"
#include "hal/machine.h"
#include "hal/mmio.h"
#include "hal/time.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FW_CFG_DATA     0x00u
#define FW_CFG_SELECTOR 0x08u /* 16 bits */
#define FW_CFG_DMA      0x10u /* 64 bits: address of a struct fw_cfg_dma */
#define FW_CFG_SIZE     0x18u

#define FW_CFG_ITEM_SIGNATURE 0x00u
#define FW_CFG_ITEM_ID        0x01u
#define FW_CFG_ITEM_DIRECTORY 0x19u
#define FW_CFG_SIGNATURE      "QEMU"
#define FW_CFG_ID_DMA         (1u << 1)

#define FW_CFG_DMA_ERROR  (1u << 0)
#define FW_CFG_DMA_READ   (1u << 1)
#define FW_CFG_DMA_SKIP   (1u << 2)
#define FW_CFG_DMA_SELECT (1u << 3) /* the item in the upper half */

#define FW_CFG_TIMEOUT_MS 10000u
#define FW_CFG_NAME       56
#define FW_CFG_PREFIX     "opt/weft/"

struct fw_cfg_dma {
    uint32_t control;
    uint32_t length;
    uint64_t address;
};

/* An entry of the directory. */
struct fw_cfg_file {
    uint32_t size;
    uint16_t item;
    uint16_t reserved;
    char name[FW_CFG_NAME];
};

struct fw_cfg {
    struct device *dev;
    struct mmio regs;
    struct fw_cfg_dma dma;
};

/* One operation on the selected item. The device does it while the address is written, but does not promise
 * that. */
static int transfer(struct fw_cfg *fw, uint32_t control, void *buffer, uint32_t length)
{
    volatile uint32_t *answer = &fw->dma.control;
    uint64_t deadline = deadline_in_ms(FW_CFG_TIMEOUT_MS);

    fw->dma = (struct fw_cfg_dma){.control = __builtin_bswap32(control),
                                  .length = __builtin_bswap32(length),
                                  .address = buffer ? __builtin_bswap64(dma_address(buffer).value) : 0};
    mmio_write64(&fw->regs, FW_CFG_DMA, __builtin_bswap64(dma_address(&fw->dma).value));
    while (__builtin_bswap32(*answer) & ~FW_CFG_DMA_ERROR) {
        if (deadline_passed(deadline)) {
            log_error("%s: no answer after %u ms", fw->dev->address, FW_CFG_TIMEOUT_MS);
            return -ETIMEDOUT;
        }
        cpu_relax();
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (*answer != 0) {
        log_error("%s: operation %#x of %u bytes failed", fw->dev->address, (unsigned)control,
                  (unsigned)length);
        return -EIO;
    }
    return 0;
}

/* Makes `item` the one that is read, from byte `offset` on. */
static int select_item(struct fw_cfg *fw, uint16_t item, uint32_t offset)
{
    return transfer(fw, (uint32_t)item << 16 | FW_CFG_DMA_SELECT | FW_CFG_DMA_SKIP, NULL, offset);
}

/* Finds the file in the directory: first the number of entries, then so many. */
static int find(struct fw_cfg *fw, const char *name, struct fw_cfg_file *file)
{
    char full[FW_CFG_NAME];
    uint32_t count;
    int error = select_item(fw, FW_CFG_ITEM_DIRECTORY, 0);

    if ((size_t)snprintf(full, sizeof(full), FW_CFG_PREFIX "%s", name) >= sizeof(full))
        return -ENOENT;
    if (!error)
        error = transfer(fw, FW_CFG_DMA_READ, &count, sizeof(count));
    for (uint32_t left = error ? 0 : __builtin_bswap32(count); left > 0; left--) {
        error = transfer(fw, FW_CFG_DMA_READ, file, sizeof(*file));
        if (error || strncmp(file->name, full, sizeof(file->name)) == 0)
            return error;
    }
    return error ? error : -ENOENT;
}

static int fw_cfg_size(struct device *dev, const char *name, uint64_t *size)
{
    struct fw_cfg_file file;
    int error = find(dev->priv, name, &file);

    *size = error ? 0 : __builtin_bswap32(file.size);
    return error;
}

static int fw_cfg_read(struct device *dev, const char *name, uint64_t offset, void *buffer, size_t size)
{
    struct fw_cfg *fw = dev->priv;
    struct fw_cfg_file file;
    int error = find(fw, name, &file);

    if (error)
        return error;
    if (!range_inside(offset, size, 0, __builtin_bswap32(file.size)))
        return -ERANGE;
    if (size == 0)
        return 0;
    if (!dma_able(buffer, size))
        return -EFAULT;
    error = select_item(fw, __builtin_bswap16(file.item), (uint32_t)offset);
    return error ? error : transfer(fw, FW_CFG_DMA_READ, buffer, (uint32_t)size);
}

static const struct files_ops fw_cfg_ops = {.size = fw_cfg_size, .read = fw_cfg_read};

/* Reads without DMA, a byte at a time. */
static void read_slowly(struct fw_cfg *fw, uint16_t item, void *out, size_t size)
{
    mmio_write16(&fw->regs, FW_CFG_SELECTOR, __builtin_bswap16(item));
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)out)[i] = mmio_read8(&fw->regs, FW_CFG_DATA);
}

static int check_identity(struct fw_cfg *fw)
{
    char signature[4];
    uint32_t id;

    read_slowly(fw, FW_CFG_ITEM_SIGNATURE, signature, sizeof(signature));
    read_slowly(fw, FW_CFG_ITEM_ID, &id, sizeof(id));
    if (memcmp(signature, FW_CFG_SIGNATURE, sizeof(signature)) != 0 || !(id & FW_CFG_ID_DMA)) {
        log_error("signature %02x %02x %02x %02x, identity %#x: no firmware configuration with DMA",
                  signature[0], signature[1], signature[2], signature[3], (unsigned)id);
        return -ENODEV;
    }
    return 0;
}

static int fw_cfg_start(struct fw_cfg *fw, const struct machine_range *range)
{
    int error = range->size < FW_CFG_SIZE ? -ENODEV : mmio_map(&fw->regs, range->base, FW_CFG_SIZE);

    if (error)
        return error;
    error = check_identity(fw);
    if (error)
        mmio_unmap(&fw->regs);
    return error;
}

static int fw_cfg_probe(struct device *dev)
{
    struct fw_cfg *fw = dev->number == 0 ? calloc(1, sizeof(*fw)) : NULL;
    int error;

    if (!fw)
        return dev->number == 0 ? -ENOMEM : -ENODEV;
    fw->dev = dev;
    error = fw_cfg_start(fw, &machine()->fw_cfg);
    if (error) {
        free(fw);
        return error;
    }
    dev->ops = &fw_cfg_ops;
    dev->priv = fw;
    return 0;
}

static void fw_cfg_remove(struct device *dev)
{
    struct fw_cfg *fw = dev->priv;

    mmio_unmap(&fw->regs);
    free(fw);
}

PLATFORM_DRIVER(fw_cfg) = {
    .name = "fw_cfg", .class = DEVICE_FILES, .probe = fw_cfg_probe, .remove = fw_cfg_remove};
