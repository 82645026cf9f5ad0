/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "copier.h"

#define CHUNK ((size_t)1 * MiB) /* a cancelled copy stops after at most so much more */

static void copy(struct gpgpu_copier *c)
{
    bool from_end = c->to > c->from && c->to < c->from + c->size;

    for (size_t done = 0; done < c->size && !qatomic_read(&c->cancel); done += CHUNK) {
        size_t n = MIN(CHUNK, c->size - done), at = from_end ? c->size - done - n : done;
        memmove(c->to + at, c->from + at, n);
    }
}

static void *run(void *opaque)
{
    struct gpgpu_copier *c = opaque;

    qemu_mutex_lock(&c->lock);
    while (!c->quit) {
        if (!c->busy) {
            qemu_cond_wait(&c->work, &c->lock);
            continue;
        }
        qemu_mutex_unlock(&c->lock);
        copy(c);
        qemu_bh_schedule(c->done);
        qemu_mutex_lock(&c->lock);
        c->busy = false;
        qemu_cond_signal(&c->idle);
    }
    qemu_mutex_unlock(&c->lock);
    return NULL;
}

void gpgpu_copier_start(struct gpgpu_copier *c, uint8_t *to, const uint8_t *from, size_t size)
{
    qemu_mutex_lock(&c->lock);
    while (c->busy) { /* it has told that it is done, and is about to be */
        qemu_cond_wait(&c->idle, &c->lock);
    }
    c->to = to;
    c->from = from;
    c->size = size;
    qatomic_set(&c->cancel, false);
    c->busy = true;
    qemu_cond_signal(&c->work);
    qemu_mutex_unlock(&c->lock);
}

void gpgpu_copier_wait(struct gpgpu_copier *c, bool cancel)
{
    qatomic_set(&c->cancel, cancel);
    qemu_mutex_lock(&c->lock);
    while (c->busy) {
        qemu_cond_wait(&c->idle, &c->lock);
    }
    qemu_mutex_unlock(&c->lock);
    qemu_bh_cancel(c->done);
}

void gpgpu_copier_init(struct gpgpu_copier *c, QEMUBHFunc *done, void *opaque)
{
    qemu_mutex_init(&c->lock);
    qemu_cond_init(&c->work);
    qemu_cond_init(&c->idle);
    c->done = qemu_bh_new(done, opaque);
    c->busy = c->quit = false;
    qemu_thread_create(&c->thread, "gpgpu-dma", run, c, QEMU_THREAD_JOINABLE);
}

void gpgpu_copier_exit(struct gpgpu_copier *c)
{
    gpgpu_copier_wait(c, true);
    qemu_mutex_lock(&c->lock);
    c->quit = true;
    qemu_cond_signal(&c->work);
    qemu_mutex_unlock(&c->lock);
    qemu_thread_join(&c->thread);
    qemu_bh_delete(c->done);
    qemu_cond_destroy(&c->idle);
    qemu_cond_destroy(&c->work);
    qemu_mutex_destroy(&c->lock);
}
