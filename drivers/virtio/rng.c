// SPDX-License-Identifier: MIT
/* Random bytes from the host: the entropy device, Virtual I/O Device Version 1.2, section 5.4. */
#define LOG_MODULE "virtio_rng"
#include "virtio.h"
#include "bus/driver.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/util.h"
#include "drivers/entropy.h"
#include "hal/dma.h"
#include "hal/time.h"
#include <stdlib.h>

#define RNG_TYPE        4
#define RNG_LEGACY      0x1005
#define RNG_DESCRIPTORS 1u /* one request at a time, one buffer each */
#define RNG_MAX_REQUEST 65536u

struct virtio_rng {
    struct virtio_device virtio;
    struct virtio_queue queue;
    int result; /* of the last request: bytes, or a negative errno */
    bool done;  /* it is there */
};

static void rng_interrupt(void *arg)
{
    struct virtio_rng *rng = arg;
    uint32_t written = 0;
    void *token;
    int error;

    if (!virtio_interrupted(&rng->virtio))
        return;
    error = virtqueue_take(&rng->queue.ring, &token, &written);
    if (error == -EAGAIN)
        return;
    rng->result = error ? error : (int)written;
    __atomic_store_n(&rng->done, true, __ATOMIC_RELEASE);
}

static int rng_start(struct virtio_rng *rng)
{
    int error = virtio_start(&rng->virtio, 0);

    if (!error)
        error = virtio_queue_start(&rng->virtio, &rng->queue, 0, RNG_DESCRIPTORS);
    if (!error)
        virtio_ready(&rng->virtio);
    return error;
}

static void rng_stop(struct virtio_rng *rng)
{
    virtio_reset(&rng->virtio);
    virtqueue_destroy(&rng->queue.ring);
}

static bool rng_is_done(void *arg)
{
    const struct virtio_rng *rng = arg;

    return __atomic_load_n(&rng->done, __ATOMIC_ACQUIRE);
}

/* Asks for `size` bytes. Returns how many came, at least 1, or a negative errno. */
static int rng_request(struct virtio_rng *rng, void *buffer, uint32_t size)
{
    int error = virtqueue_add(&rng->queue.ring, &(struct virtqueue_buffer){buffer, size}, 0, 1, buffer);

    if (error)
        return error;
    rng->done = false;
    virtio_publish(&rng->virtio, &rng->queue);
    error = wait_until(rng_is_done, rng, deadline_in_ms(CONFIG_VIRTIO_RNG_TIMEOUT_MS));
    if (error)
        return error;
    return rng->result == 0 ? -EPROTO : rng->result;
}

/* After an error the buffer may still be the device's, until it is reset. */
static int rng_recover(struct device *dev, int error)
{
    struct virtio_rng *rng = dev->priv;

    log_error("%s: no random bytes within %u ms: %s, status %#x: reset", dev->name,
              CONFIG_VIRTIO_RNG_TIMEOUT_MS, error_name(error), virtio_status(&rng->virtio));
    rng_stop(rng);
    rng_start(rng);
    return error;
}

static int rng_read(struct device *dev, void *buffer, size_t size)
{
    char *at = buffer;

    if (size > 0 && !dma_able(buffer, size))
        return -EFAULT;
    while (size > 0) {
        int got = rng_request(dev->priv, at, (uint32_t)MIN(size, (size_t)RNG_MAX_REQUEST));

        if (got < 0)
            return rng_recover(dev, got);
        at += got;
        size -= (size_t)got;
    }
    return 0;
}

static const struct entropy_ops rng_ops = {.read = rng_read};

static int rng_probe(struct device *dev)
{
    struct virtio_rng *rng = calloc(1, sizeof(*rng));
    int error;

    if (!rng)
        return -ENOMEM;
    error = virtio_open(&rng->virtio, to_pci_device(dev), rng_interrupt, rng);
    if (error)
        goto release;
    error = rng_start(rng);
    if (error)
        goto close;
    dev->ops = &rng_ops;
    dev->priv = rng;
    return 0;
close:
    rng_stop(rng);
    virtio_close(&rng->virtio);
release:
    free(rng);
    return error;
}

static void rng_remove(struct device *dev)
{
    struct virtio_rng *rng = dev->priv;

    rng_stop(rng);
    virtio_close(&rng->virtio);
    free(rng);
}

static const struct pci_id rng_ids[] = {VIRTIO_PCI_ID(RNG_TYPE), VIRTIO_PCI_ID_LEGACY(RNG_LEGACY), {0}};

PCI_DRIVER(virtio_rng) = {
    .name = "virtio_rng", .class = DEVICE_ENTROPY, .ids = rng_ids, .probe = rng_probe, .remove = rng_remove};
