// SPDX-License-Identifier: MIT
/* Virtio over PCI. The sections are those of Virtual I/O Device Version 1.2. */
#define LOG_MODULE "virtio"
#include "virtio.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/math.h"
#include "core/util.h"
#include "hal/cpu.h"
#include "hal/dma.h"
#include "hal/time.h"
#include <string.h>

#define RESET_TIMEOUT_MS 1000
#define GENERATION_TRIES 100 /* to read one version of a field */

static const char *address(const struct virtio_device *virtio)
{
    return virtio->pdev->dev.address;
}

/* --- structures (4.1.4) --- */

/* The first capability that describes a structure of `type`; 0 when there is none. */
static unsigned find_structure(const struct pci_device *pdev, unsigned type)
{
    unsigned at = pci_find_capability(pdev, PCI_CAP_VENDOR);

    while (at != 0 && pci_config_read8(pdev, at + VIRTIO_CAP_TYPE) != type)
        at = pci_next_capability(pdev, at);
    return at;
}

static int map_structure(struct virtio_device *virtio, unsigned type, size_t min_size, struct mmio *out)
{
    const struct pci_device *pdev = virtio->pdev;
    unsigned at = find_structure(pdev, type);
    uint32_t length = at ? pci_config_read32(pdev, at + VIRTIO_CAP_LENGTH) : 0;

    if (at == 0 || length < min_size) {
        log_error("pci %s: virtio structure %u has %u bytes, needs %zu: not a 1.x device", address(virtio),
                  type, (unsigned)length, min_size);
        return -ENODEV;
    }
    return pci_bar_map_range(pdev, pci_config_read8(pdev, at + VIRTIO_CAP_BAR),
                             pci_config_read32(pdev, at + VIRTIO_CAP_OFFSET), length, out);
}

static void unmap_structures(struct virtio_device *virtio)
{
    pci_bar_unmap(&virtio->config);
    pci_bar_unmap(&virtio->isr);
    pci_bar_unmap(&virtio->notify);
    pci_bar_unmap(&virtio->common);
}

static int map_structures(struct virtio_device *virtio)
{
    const struct pci_device *pdev = virtio->pdev;
    int error = map_structure(virtio, VIRTIO_TYPE_COMMON, VIRTIO_COMMON_SIZE, &virtio->common);

    if (!error)
        error = map_structure(virtio, VIRTIO_TYPE_NOTIFY, sizeof(uint16_t), &virtio->notify);
    if (!error)
        error = map_structure(virtio, VIRTIO_TYPE_ISR, sizeof(uint8_t), &virtio->isr);
    if (!error && find_structure(pdev, VIRTIO_TYPE_DEVICE))
        error = map_structure(virtio, VIRTIO_TYPE_DEVICE, 1, &virtio->config);
    if (error) {
        unmap_structures(virtio);
        return error;
    }
    virtio->notify_multiplier =
        pci_config_read32(pdev, find_structure(pdev, VIRTIO_TYPE_NOTIFY) + VIRTIO_CAP_MULTIPLIER);
    return 0;
}

/* --- life (3.1.1) --- */

/* All queues share vector 0. Nobody wants to hear of changes of the configuration. */
int virtio_open(struct virtio_device *virtio, struct pci_device *pdev, irq_handler_t interrupt, void *arg)
{
    int error = pci_enable(pdev, PCI_MEMORY | PCI_MASTER);

    *virtio = (struct virtio_device){.pdev = pdev, .interrupt = interrupt, .interrupt_arg = arg};
    if (error)
        return error;
    error = map_structures(virtio);
    if (error)
        goto disable;
    error = virtio_reset(virtio); /* before its interrupt is listened to */
    if (!error)
        error = pci_irq_attach(pdev, 0, interrupt, arg);
    if (error)
        goto unmap;
    return 0;
unmap:
    unmap_structures(virtio);
disable:
    pci_disable(pdev);
    return error;
}

void virtio_close(struct virtio_device *virtio)
{
    pci_irq_detach(virtio->pdev, 0, virtio->interrupt, virtio->interrupt_arg);
    unmap_structures(virtio);
    pci_disable(virtio->pdev);
}

unsigned virtio_status(const struct virtio_device *virtio)
{
    return mmio_read8(&virtio->common, VIRTIO_STATUS);
}

static void add_status(struct virtio_device *virtio, unsigned bits)
{
    mmio_write8(&virtio->common, VIRTIO_STATUS, (uint8_t)(virtio_status(virtio) | bits));
}

/* The device is out of reset when it says so (4.1.4.3.2). */
int virtio_reset(struct virtio_device *virtio)
{
    uint64_t deadline = deadline_in_ms(RESET_TIMEOUT_MS);

    mmio_write8(&virtio->common, VIRTIO_STATUS, 0);
    while (virtio_status(virtio) != 0) {
        if (deadline_passed(deadline)) {
            log_error("pci %s: not reset after %u ms: status %#x", address(virtio), RESET_TIMEOUT_MS,
                      virtio_status(virtio));
            pci_disable(virtio->pdev); /* no memory is safe from it otherwise */
            return -ETIMEDOUT;
        }
        cpu_relax();
    }
    return 0;
}

static uint64_t device_features(struct virtio_device *virtio)
{
    uint64_t features = 0;

    for (uint32_t half = 0; half < 2; half++) {
        mmio_write32(&virtio->common, VIRTIO_DEVICE_FEATURE_SELECT, half);
        features |= (uint64_t)mmio_read32(&virtio->common, VIRTIO_DEVICE_FEATURE) << 32 * half;
    }
    return features;
}

static void write_features(struct virtio_device *virtio)
{
    for (uint32_t half = 0; half < 2; half++) {
        mmio_write32(&virtio->common, VIRTIO_DRIVER_FEATURE_SELECT, half);
        mmio_write32(&virtio->common, VIRTIO_DRIVER_FEATURE, (uint32_t)(virtio->features >> 32 * half));
    }
}

int virtio_start(struct virtio_device *virtio, uint64_t wanted)
{
    uint64_t offered;
    int error = virtio_reset(virtio);

    if (error)
        return error;
    add_status(virtio, VIRTIO_STATUS_ACKNOWLEDGE);
    add_status(virtio, VIRTIO_STATUS_DRIVER);
    offered = device_features(virtio);
    virtio->features = offered & (wanted | VIRTIO_F_VERSION_1);
    write_features(virtio);
    add_status(virtio, VIRTIO_STATUS_FEATURES_OK);
    if (virtio->features & VIRTIO_F_VERSION_1 && virtio_status(virtio) & VIRTIO_STATUS_FEATURES_OK)
        return 0;
    add_status(virtio, VIRTIO_STATUS_FAILED);
    log_error("pci %s: offers features %#llx, refuses %#llx", address(virtio), (unsigned long long)offered,
              (unsigned long long)virtio->features);
    return -ENOTSUP;
}

void virtio_ready(struct virtio_device *virtio)
{
    add_status(virtio, VIRTIO_STATUS_DRIVER_OK);
}

/* --- queues (4.1.5.1.3) --- */

static void write_address(struct virtio_device *virtio, size_t reg, const void *part)
{
    uint64_t at = dma_address(part).value;

    mmio_write32(&virtio->common, reg, (uint32_t)at);
    mmio_write32(&virtio->common, reg + 4, (uint32_t)(at >> 32));
}

static int check_queue(struct virtio_device *virtio, const struct virtio_queue *queue, unsigned size)
{
    if (size == 0) {
        log_error("pci %s: no queue %u", address(virtio), queue->index);
        return -ENOENT;
    }
    if (!is_power_of_two(size) || !range_inside(queue->doorbell, sizeof(uint16_t), 0, virtio->notify.size) ||
        !is_aligned(queue->doorbell, sizeof(uint16_t))) {
        log_error("pci %s: queue %u has %u descriptors and its doorbell at %#zx of %#zx", address(virtio),
                  queue->index, size, queue->doorbell, virtio->notify.size);
        return -EPROTO;
    }
    return 0;
}

int virtio_queue_start(struct virtio_device *virtio, struct virtio_queue *queue, uint16_t index, unsigned max)
{
    const struct mmio *common = &virtio->common;
    unsigned size;
    int error;

    mmio_write16(common, VIRTIO_QUEUE_SELECT, index);
    size = mmio_read16(common, VIRTIO_QUEUE_SIZE);
    queue->index = index;
    queue->doorbell = (size_t)mmio_read16(common, VIRTIO_QUEUE_NOTIFY) * virtio->notify_multiplier;
    error = check_queue(virtio, queue, size);
    if (error)
        return error;
    size = MIN(size, max);
    error = virtqueue_create(&queue->ring, size);
    if (error) {
        log_error("pci %s: queue %u of %u descriptors: %s", address(virtio), index, size, error_name(error));
        return error;
    }
    mmio_write16(common, VIRTIO_QUEUE_SIZE, (uint16_t)size);
    mmio_write16(common, VIRTIO_QUEUE_VECTOR,
                 pci_irq_mode(virtio->pdev) == PCI_IRQ_MSIX ? 0 : VIRTIO_NO_VECTOR);
    write_address(virtio, VIRTIO_QUEUE_DESC, queue->ring.desc);
    write_address(virtio, VIRTIO_QUEUE_AVAIL, queue->ring.avail);
    write_address(virtio, VIRTIO_QUEUE_USED, queue->ring.used);
    mmio_write16(common, VIRTIO_QUEUE_ENABLE, 1);
    return 0;
}

void virtio_publish(struct virtio_device *virtio, struct virtio_queue *queue)
{
    if (virtqueue_publish(&queue->ring))
        mmio_write16(&virtio->notify, queue->doorbell, queue->index);
}

/* Reading the status ends the interrupt; a message needs no status (4.1.4.5). */
bool virtio_interrupted(struct virtio_device *virtio)
{
    return pci_irq_mode(virtio->pdev) == PCI_IRQ_MSIX || mmio_read8(&virtio->isr, 0) & VIRTIO_ISR_QUEUE;
}

/* --- the device's own configuration --- */

/* Each field is read with its own width (4.1.3.1); one of 64 bits as two halves. */
static void read_field(const struct mmio *config, size_t offset, void *out, size_t size)
{
    uint8_t *bytes = out;

    switch (size) {
    case 1:
        *bytes = mmio_read8(config, offset);
        break;
    case 2:
        memcpy(bytes, &(uint16_t){mmio_read16(config, offset)}, 2);
        break;
    default:
        for (size_t i = 0; i < size; i += 4)
            memcpy(bytes + i, &(uint32_t){mmio_read32(config, offset + i)}, 4);
    }
}

void virtio_config_read(const struct virtio_device *virtio, size_t offset, void *out, size_t size)
{
    uint8_t generation;
    unsigned tries = GENERATION_TRIES;

    memset(out, 0, size);
    if (!range_inside(offset, size, 0, virtio->config.size))
        return;
    do {
        generation = mmio_read8(&virtio->common, VIRTIO_GENERATION);
        read_field(&virtio->config, offset, out, size);
    } while (generation != mmio_read8(&virtio->common, VIRTIO_GENERATION) && --tries > 0);
    if (tries == 0)
        log_warn("pci %s: the configuration at %#zx never stands still", address(virtio), offset);
}
