// SPDX-License-Identifier: MIT
#include "hal/thread.h"

#include "core/util.h"

#define MAX_PARTS 64

struct part {
    void (*fn)(size_t begin, size_t end, void *arg);
    void *arg;
    size_t begin, end;
    struct thread *thread; // NULL: the caller does it
};

static int run(void *arg)
{
    struct part *part = arg;
    part->fn(part->begin, part->end, part->arg);
    return 0;
}

void parallel_for(size_t count, void (*fn)(size_t begin, size_t end, void *arg), void *arg)
{
    struct part parts[MAX_PARTS];
    size_t processors = MIN(thread_processors(), (unsigned)MAX_PARTS), n = MIN(processors, count);
    for (size_t i = 0, begin = 0; i < n; i++) {
        size_t size = count / n + (i < count % n);
        parts[i] = (struct part){fn, arg, begin, begin + size, NULL};
        begin += size;
        if (i + 1 < n)
            parts[i].thread = thread_create("parallel_for", run, &parts[i], 0);
    }
    for (size_t i = n; i-- > 0;) {
        if (parts[i].thread)
            thread_join(parts[i].thread);
        else
            run(&parts[i]);
    }
}
