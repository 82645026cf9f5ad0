// SPDX-License-Identifier: MIT
#define LOG_MODULE "virtio"
#include "virtqueue.h"
#include "virtq.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/math.h"
#include "hal/dma.h"
#include "hal/mem.h"
#include <stdlib.h>
#include <string.h>

struct virtqueue_slot {
    void *token;       /* of the chain that starts here; NULL when none does */
    uint64_t writable; /* bytes that the device may write to that chain */
    uint16_t count;    /* descriptors of that chain */
    uint16_t next;     /* in its chain, or in the free list */
};

/* Bytes of the parts, in the order in which they lie in memory; the used ring is aligned to 4. */
static size_t avail_offset(unsigned size)
{
    return size * sizeof(struct virtq_desc);
}

static size_t used_offset(unsigned size)
{
    return align_up(avail_offset(size) + sizeof(struct virtq_avail) + size * sizeof(uint16_t), 4);
}

static size_t pages_of(unsigned size)
{
    size_t bytes = used_offset(size) + sizeof(struct virtq_used) + size * sizeof(struct virtq_used_element);

    return div_round_up(bytes, PAGE_SIZE);
}

int virtqueue_create(struct virtqueue *vq, unsigned size)
{
    char *memory;

    *vq = (struct virtqueue){0};
    if (size > VIRTQUEUE_MAX || !is_power_of_two(size))
        return -EINVAL;
    memory = page_alloc(pages_of(size));
    vq->slots = calloc(size, sizeof(*vq->slots));
    if (!memory || !vq->slots) {
        page_free(memory, pages_of(size));
        free(vq->slots);
        vq->slots = NULL;
        return -ENOMEM;
    }
    memset(memory, 0, pages_of(size) * PAGE_SIZE);
    vq->desc = (struct virtq_desc *)memory;
    vq->avail = (struct virtq_avail *)(memory + avail_offset(size));
    vq->used = (struct virtq_used *)(memory + used_offset(size));
    vq->size = vq->free = (uint16_t)size;
    for (unsigned i = 0; i < size; i++)
        vq->slots[i].next = (uint16_t)(i + 1);
    return 0;
}

void virtqueue_destroy(struct virtqueue *vq)
{
    if (vq->size != 0)
        page_free(vq->desc, pages_of(vq->size));
    free(vq->slots);
    *vq = (struct virtqueue){.broken = true}; /* a late interrupt may still look into it */
}

int virtqueue_add(struct virtqueue *vq, const struct virtqueue_buffer *buffers, unsigned nread,
                  unsigned nwrite, void *token)
{
    unsigned count = nread + nwrite;
    uint16_t head = vq->free_head;
    uint16_t at = head;
    uint64_t writable = 0;

    if (vq->broken)
        return -EIO;
    if (count == 0 || count > vq->size)
        return -EINVAL;
    if (count > vq->free)
        return -ENOSPC;
    for (unsigned i = 0; i < count; i++) {
        uint16_t next = vq->slots[at].next;

        vq->desc[at] = (struct virtq_desc){
            .address = dma_address(buffers[i].data).value,
            .size = buffers[i].size,
            .flags = (i + 1 < count ? VIRTQ_DESC_NEXT : 0) | (i >= nread ? VIRTQ_DESC_WRITE : 0),
            .next = i + 1 < count ? next : 0,
        };
        writable += i >= nread ? buffers[i].size : 0;
        at = next;
    }
    vq->free_head = at;
    vq->free = (uint16_t)(vq->free - count);
    vq->in_flight++;
    vq->slots[head].token = token;
    vq->slots[head].writable = writable;
    vq->slots[head].count = (uint16_t)count;
    vq->avail->ring[vq->available_index++ % vq->size] = head;
    return 0;
}

bool virtqueue_publish(struct virtqueue *vq)
{
    __atomic_store_n(&vq->avail->index, vq->available_index, __ATOMIC_RELEASE);
    /* The device writes its flags, then reads the index: the other way round here, or both sleep (2.7.10). */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return !(__atomic_load_n(&vq->used->flags, __ATOMIC_RELAXED) & VIRTQ_USED_NO_NOTIFY);
}

/* Takes the chain at `head` off the queue; returns its token. */
static void *release(struct virtqueue *vq, uint16_t head)
{
    struct virtqueue_slot *slot = &vq->slots[head];
    void *token = slot->token;
    uint16_t last = head;

    for (unsigned i = 1; i < slot->count; i++)
        last = vq->slots[last].next;
    vq->slots[last].next = vq->free_head;
    vq->free_head = head;
    vq->free = (uint16_t)(vq->free + slot->count);
    vq->in_flight--;
    slot->token = NULL;
    return token;
}

static int device_lied(struct virtqueue *vq, const char *what, unsigned value, unsigned limit)
{
    log_error("the device's used ring is wrong: %s %u, limit %u: the queue is broken", what, value, limit);
    vq->broken = true;
    return -EPROTO;
}

/* Looks at the next entry of the used ring: *id is checked then. */
static int next_used(struct virtqueue *vq, uint32_t *id, uint32_t *written)
{
    uint16_t used = __atomic_load_n(&vq->used->index, __ATOMIC_ACQUIRE);
    uint16_t pending = (uint16_t)(used - vq->used_index);
    const struct virtq_used_element *element = &vq->used->ring[vq->used_index % vq->size];

    if (pending == 0)
        return -EAGAIN;
    if (pending > vq->in_flight)
        return device_lied(vq, "chains used", pending, vq->in_flight);
    /* Each is read once: the device might change it between a check and its use. */
    *id = __atomic_load_n(&element->id, __ATOMIC_RELAXED);
    *written = __atomic_load_n(&element->written, __ATOMIC_RELAXED);
    if (*id >= vq->size)
        return device_lied(vq, "id", *id, vq->size);
    if (!vq->slots[*id].token)
        return device_lied(vq, "id not in flight", *id, vq->size);
    if (*written > vq->slots[*id].writable)
        return device_lied(vq, "bytes written", *written, (unsigned)vq->slots[*id].writable);
    return 0;
}

int virtqueue_take(struct virtqueue *vq, void **token, uint32_t *written)
{
    uint32_t id, bytes;
    int error = vq->broken ? -EIO : next_used(vq, &id, &bytes);

    if (error)
        return error;
    vq->used_index++;
    *written = bytes;
    *token = release(vq, (uint16_t)id);
    return 0;
}

void *virtqueue_cancel(struct virtqueue *vq)
{
    for (unsigned i = 0; i < vq->size; i++)
        if (vq->slots[i].token)
            return release(vq, (uint16_t)i);
    return NULL;
}
