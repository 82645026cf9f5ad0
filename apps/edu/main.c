// SPDX-License-Identifier: MIT
/*
 * The tutorial driver at work: DEVICES='-device edu'; with DMA: DEVICES='-device edu,dma_mask=0xffffffffff'
 * APPEND='app.args=dma'; with interrupts that get lost: APPEND='app.args=mute'.
 */
#include "bus/device.h"
#include "bus/pci.h"
#include "core/errno.h"
#include "core/test.h"
#include "drivers/edu.h"
#include "hal/irq.h"
#include <stdlib.h>
#include <string.h>

/* n! modulo 2^32, as the device computes it. */
static uint32_t factorial(uint32_t n)
{
    uint32_t product = 1;

    for (uint32_t i = 2; i <= n; i++)
        product *= i;
    return product;
}

static void check_factorial(struct device *dev, uint32_t n)
{
    const struct edu_ops *edu = dev->ops;
    uint32_t result = 0;
    int error = edu->factorial(dev, n, &result);

    if (error)
        fail("%s: %u!: %s", dev->name, (unsigned)n, error_name(error));
    else
        check(result == factorial(n), "%s: %u! = %u", dev->name, (unsigned)n, (unsigned)result);
}

/* The default mask of the device's addresses does not reach the machine's RAM, so this is asked for. */
static void check_copy(struct device *dev)
{
    const struct edu_ops *edu = dev->ops;
    uint8_t *memory = calloc(2, EDU_BUFFER_SIZE);
    uint8_t *copy;
    int error;

    if (!memory) {
        fail("no memory");
        return;
    }
    copy = memory + EDU_BUFFER_SIZE;
    for (size_t i = 0; i < EDU_BUFFER_SIZE; i++)
        memory[i] = (uint8_t)(i * 7 + i / 256);
    error = edu->copy(dev, copy, memory, EDU_BUFFER_SIZE - 1);
    check(error == 0 && memcmp(copy, memory, EDU_BUFFER_SIZE - 1) == 0 && copy[EDU_BUFFER_SIZE - 1] == 0,
          "%s: %u bytes went through it by DMA: %s", dev->name, EDU_BUFFER_SIZE - 1, error_name(error));
    check(edu->copy(dev, copy, memory, EDU_BUFFER_SIZE + 1) == -EINVAL, "%s: no more than its buffer",
          dev->name);
    check(edu->copy(dev, (void *)16, memory, 1) == -EFAULT, "%s: only to RAM", dev->name);
    free(memory);
}

/* The command register (PCI Local Bus Specification 3.0, section 6.2.2). */
#define PCI_COMMAND          0x04u
#define PCI_COMMAND_MASTER   0x0004u /* messages are writes to memory */
#define PCI_COMMAND_INTX_OFF 0x0400u

/* No interrupt can leave the device: the wait for it ends all the same, and later all is well again. */
static void check_mute(struct device *dev)
{
    const struct edu_ops *edu = dev->ops;
    const struct pci_device *pdev = to_pci_device(dev);
    uint16_t command = pci_config_read16(pdev, PCI_COMMAND);
    uint32_t result;
    int error;

    pci_config_write16(pdev, PCI_COMMAND, (uint16_t)((command & ~PCI_COMMAND_MASTER) | PCI_COMMAND_INTX_OFF));
    error = edu->factorial(dev, 5, &result);
    pci_config_write16(pdev, PCI_COMMAND, command);
    check(error == -ETIMEDOUT, "%s: mute: %s", dev->name, error_name(error));
    check_factorial(dev, 6);
}

static void check_device(struct device *dev)
{
    const struct edu_ops *edu = dev->ops;
    const struct pci_device *pdev = to_pci_device(dev);
    unsigned irq = pci_irq_number(pdev, 0);
    uint64_t before = irq_count(irq);

    check((edu->identity(dev) & 0xffff) == 0xed, "%s: identity %#x", dev->name, (unsigned)edu->identity(dev));
    check_factorial(dev, 0);
    check_factorial(dev, 10);
    check_factorial(dev, 13);
    check(irq_count(irq) >= before + 3, "%s: interrupts by %s", dev->name,
          pci_irq_mode_name(pci_irq_mode(pdev)));
}

int main(int argc, char **argv)
{
    const char *more = argc > 1 ? argv[1] : "";

    if (device_count(DEVICE_TUTORIAL) == 0)
        fail("no edu device: run with DEVICES='-device edu'");
    for (unsigned i = 0; i < device_count(DEVICE_TUTORIAL); i++) {
        check_device(device_get(DEVICE_TUTORIAL, i));
        if (strcmp(more, "dma") == 0)
            check_copy(device_get(DEVICE_TUTORIAL, i));
        if (strcmp(more, "mute") == 0)
            check_mute(device_get(DEVICE_TUTORIAL, i));
    }
    return test_exit_code();
}
