/* SPDX-License-Identifier: MIT */
#include "timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define MAX_SPANS 0x40000u

/* Of one launch, recorded one by one for each compute unit. */
#define MAX_BLOCKS 256u
#define MAX_TURNS  1024u

static uint64_t monotonic(void *opaque)
{
    (void)opaque;
    return simt_now_ns();
}

/* The file is opened for each part that is written, as two devices may share it. */
static int create_file(const char *path)
{
    FILE *file = fopen(path, "w");
    return !file || fclose(file) != 0 ? -errno : 0;
}

int simt_timeline_create(struct simt_timeline *t, const struct simt_config *config)
{
    if (!config->timeline_path) {
        return 0;
    }
    *t = (struct simt_timeline){
        .spans = calloc(MAX_SPANS, sizeof(*t->spans)),
        .path = strdup(config->timeline_path),
        .name = strdup(config->name ? config->name : "simt"),
        .num_cus = config->num_cus,
        .clock = config->clock ? config->clock : monotonic,
        .clock_opaque = config->clock_opaque,
    };
    return t->spans && t->path && t->name ? create_file(t->path) : -ENOMEM;
}

void simt_timeline_destroy(struct simt_timeline *t)
{
    free(t->spans);
    free(t->path);
    free(t->name);
    *t = (struct simt_timeline){0};
}

void simt_timeline_add(struct simt_timeline *t, const struct simt_span *span)
{
    uint64_t place = atomic_fetch_add_explicit(&t->count, 1, memory_order_relaxed);
    if (place < MAX_SPANS) {
        t->spans[place] = *span;
    }
}

static void write_span(FILE *file, const struct simt_span *s)
{
    static const char *const names[] = {
        [SIMT_SPAN_LAUNCH] = "launch",
        [SIMT_SPAN_FAILED] = "failed",
        [SIMT_SPAN_BLOCK] = "block",
        [SIMT_SPAN_TURN] = "turn",
        [SIMT_SPAN_MERGED] = "merged",
        [SIMT_SPAN_TO_DEVICE] = "to_device",
        [SIMT_SPAN_FROM_DEVICE] = "from_device",
        [SIMT_SPAN_WITHIN_DEVICE] = "within_device",
    };

    fprintf(file,
            "%s\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
            names[s->kind], s->cu, s->launch, s->begin, s->end, s->a, s->b, s->c);
}

int simt_timeline_flush(struct simt_timeline *t)
{
    uint64_t count = atomic_load(&t->count), kept = count < MAX_SPANS ? count : MAX_SPANS;
    FILE *file;
    bool failed;

    if (count == 0) {
        return 0;
    }
    file = fopen(t->path, "a");
    if (!file) {
        return -errno;
    }
    fprintf(file, "weft-timeline 1\t%s\t%" PRIu32 "\n", t->name, t->num_cus);
    for (uint64_t i = 0; i < kept; i++) {
        write_span(file, &t->spans[i]);
    }
    fprintf(file, "lost\t%" PRIu64 "\n", count - kept);
    failed = ferror(file);
    atomic_store(&t->count, 0);
    return fclose(file) != 0 || failed ? -EIO : 0;
}

/* ---- compute units ---- */

void simt_timeline_join(struct simt_cu *cu)
{
    cu->part = (struct simt_cu_timeline){.merged = {.kind = SIMT_SPAN_MERGED, .cu = cu->number}};
}

void simt_timeline_turn(struct simt_cu *cu, uint32_t warp, uint64_t begin)
{
    struct simt_timeline *t = cu->timeline;

    cu->part.turns_of_block++;
    if (cu->part.blocks == MAX_BLOCKS || cu->part.turns == MAX_TURNS) {
        return;
    }
    cu->part.turns++;
    simt_timeline_add(t, &(struct simt_span){
                             .kind = SIMT_SPAN_TURN,
                             .cu = cu->number,
                             .launch = t->launch,
                             .begin = begin,
                             .end = simt_timeline_clock(t),
                             .a = cu->block_linear,
                             .b = warp,
                         });
}

static void merge(struct simt_span *merged, uint64_t begin, uint64_t end, uint32_t warps)
{
    merged->begin = merged->a ? merged->begin : begin;
    merged->end = end;
    merged->a++;
    merged->b += warps;
}

void simt_timeline_block(struct simt_cu *cu, uint64_t begin)
{
    struct simt_timeline *t = cu->timeline;
    uint64_t end = simt_timeline_clock(t);

    if (cu->part.blocks == MAX_BLOCKS) {
        merge(&cu->part.merged, begin, end, cu->warp_count);
    } else {
        cu->part.blocks++;
        simt_timeline_add(t, &(struct simt_span){
                                 .kind = SIMT_SPAN_BLOCK,
                                 .cu = cu->number,
                                 .launch = t->launch,
                                 .begin = begin,
                                 .end = end,
                                 .a = cu->block_linear,
                                 .b = cu->warp_count,
                                 .c = cu->part.turns_of_block,
                             });
    }
    cu->part.turns_of_block = 0;
}

void simt_timeline_part(struct simt_cu *cu)
{
    if (cu->part.merged.a) {
        cu->part.merged.launch = cu->timeline->launch;
        simt_timeline_add(cu->timeline, &cu->part.merged);
    }
}
