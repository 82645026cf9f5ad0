// SPDX-License-Identifier: MIT
/* Random bytes from every entropy device: DEVICES='-device virtio-rng-pci'. */
#include "bus/device.h"
#include "bus/pci.h"
#include "core/errno.h"
#include "core/test.h"
#include "drivers/entropy.h"
#include "hal/irq.h"
#include <stdlib.h>
#include <string.h>

#define BYTES 100000u /* more than one request of the driver takes */

/* How many of the bytes are set bits, in 1/1000. */
static unsigned ones_per_mille(const uint8_t *bytes, size_t size)
{
    size_t ones = 0;

    for (size_t i = 0; i < size; i++)
        ones += (size_t)__builtin_popcount(bytes[i]);
    return (unsigned)(ones * 1000 / (size * 8));
}

static void check_bytes(struct device *dev, uint8_t *a, uint8_t *b)
{
    const struct entropy_ops *ops = dev->ops;
    const struct pci_device *pdev = to_pci_device(dev);
    unsigned ones;
    int error;

    memset(a, 0, BYTES + 1);
    error = ops->read(dev, a, BYTES);
    if (!error)
        error = ops->read(dev, b, BYTES);
    if (error) {
        fail("%s: %s", dev->name, error_name(error));
        return;
    }
    ones = ones_per_mille(a, BYTES);
    /* 800,000 bits: 1 % is more than 17 standard deviations. */
    check(ones >= 490 && ones <= 510, "%s: %u of 1000 bits are set", dev->name, ones);
    check(a[BYTES] == 0, "%s: nothing is written behind the buffer", dev->name);
    check(memcmp(a, b, BYTES) != 0, "%s: two reads differ", dev->name);
    check(ops->read(dev, NULL, 0) == 0, "%s: no bytes are no error", dev->name);
    check(ops->read(dev, (void *)16, 1) == -EFAULT, "%s: memory that is not RAM is refused", dev->name);
    check(irq_count(pci_irq_number(pdev, 0)) > 0, "%s: interrupts by %s", dev->name,
          pci_irq_mode_name(pci_irq_mode(pdev)));
}

int main(void)
{
    uint8_t *a = malloc(BYTES + 1);
    uint8_t *b = malloc(BYTES);

    if (device_count(DEVICE_ENTROPY) == 0)
        fail("no entropy device: run with DEVICES='-device virtio-rng-pci'");
    for (unsigned i = 0; a && b && i < device_count(DEVICE_ENTROPY); i++)
        check_bytes(device_get(DEVICE_ENTROPY, i), a, b);
    free(a);
    free(b);
    return test_exit_code();
}
