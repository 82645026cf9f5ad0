/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that copies memory, so that a long copy keeps nobody from the big lock. */
#ifndef HW_GPGPU_COPIER_H
#define HW_GPGPU_COPIER_H

#include "qemu/main-loop.h"
#include "qemu/thread.h"

struct gpgpu_copier {
    QemuThread thread;
    QemuMutex lock; /* all but done */
    QemuCond work;  /* busy or quit was set */
    QemuCond idle;  /* busy was cleared */
    uint8_t *to;
    const uint8_t *from;
    size_t size;
    bool busy, quit;
    bool cancel; /* atomic */
    QEMUBH *done;
};

/* Called under the big lock, from one owner. done is called on the main loop after each copy that was neither
 * cancelled nor waited for. */
void gpgpu_copier_init(struct gpgpu_copier *c, QEMUBHFunc *done, void *opaque);
void gpgpu_copier_exit(struct gpgpu_copier *c);

/* Begin to copy size bytes as memmove would; the thread must be idle. */
void gpgpu_copier_start(struct gpgpu_copier *c, uint8_t *to, const uint8_t *from, size_t size);

/* Return when the copy in flight is complete, or, with cancel, has stopped soon. */
void gpgpu_copier_wait(struct gpgpu_copier *c, bool cancel);

#endif
