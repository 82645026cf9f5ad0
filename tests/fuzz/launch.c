/* SPDX-License-Identifier: MIT */
#include "launch.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sum over threads of the budgets. */
#define TOTAL_INSNS 100000u
/* Where a clock is in place of the budget: compiling counts, too. */
#define CLOCK_MS 2000u

/* By bits 4 and 5 of the flags. With bit 6 there is no budget but the clock: a budget keeps compiled code
 * from running lanes that have parted. */
static const enum simt_engine engines[] = {SIMT_ENGINE_INTERP, SIMT_ENGINE_AUTO, SIMT_ENGINE_JIT,
                                           SIMT_ENGINE_CHECK};

static void quiet(void *opaque, const char *msg)
{
    (void)opaque;
    (void)msg;
}

bool fuzz_launch_parse(const uint8_t *data, size_t size, struct fuzz_launch *out)
{
    struct fuzz_header h;
    uint32_t threads = 1, room = FUZZ_VRAM_SIZE - FUZZ_CODE_ADDR;

    if (size < sizeof(h) + 4)
        return false;
    memcpy(&h, data, sizeof(h));
    data += sizeof(h);
    size -= sizeof(h);
    *out = (struct fuzz_launch){.vram = calloc(1, FUZZ_VRAM_SIZE)};
    if (!out->vram)
        abort();
    memcpy(out->vram + FUZZ_ARGS_ADDR, h.args, sizeof(h.args));
    memcpy(out->vram + FUZZ_CODE_ADDR, data, size < room ? size : room);
    out->launch =
        (struct simt_launch){.kernel = FUZZ_CODE_ADDR, .args = FUZZ_ARGS_ADDR, .shared_size = 64u * h.shared};
    for (int d = 0; d < 3; d++) {
        out->launch.grid[d] = 1 + h.grid[d] % 3;
        out->launch.block[d] = d == 0 ? 1 + h.block[d] % 80 : 1 + h.block[d] % 4;
        threads *= out->launch.grid[d] * out->launch.block[d];
    }
    out->config = (struct simt_config){.num_cus = 1 + h.num_cus % 3,
                                       .warp_size = h.warp_size % 2 ? 32 : 1 + h.warp_size / 2 % 32,
                                       .deterministic = h.flags & 1,
                                       .max_insns = 1 + (TOTAL_INSNS / threads) * (1 + h.insns % 4) / 4,
                                       .engine = engines[h.flags >> 4 & 3],
                                       .log = quiet};
    if (h.flags & 0x40) {
        out->config.max_insns = 0;
        out->config.timeout_ms = CLOCK_MS;
    }
    if (h.flags & 2) /* at the very end of VRAM, or past it */
        out->launch.kernel = FUZZ_VRAM_SIZE - 4u * (h.reserved % 8);
    if (h.flags & 4)
        out->launch.args = FUZZ_VRAM_SIZE - h.reserved;
    if (h.flags & 8) { /* up to 2^32 blocks, which only the clock ends */
        out->launch.grid[h.reserved % 3] = h.args[0];
        out->config.timeout_ms = 20;
    }
    return true;
}

int fuzz_launch_run(struct fuzz_launch *l, struct simt_fault *fault)
{
    struct simt *s;
    char text[512];
    int checked, err;

    memset(fault, 0, sizeof(*fault));
    if (simt_create(&s, &l->config, l->vram, FUZZ_VRAM_SIZE))
        abort();
    checked = simt_check_launch(s, &l->launch, text, sizeof(text));
    err = simt_run(s, &l->launch, fault);
    if (err == -EFAULT)
        simt_fault_describe(fault, text, sizeof(text));
    simt_destroy(s);
    if ((checked != 0) != (err == -EINVAL))
        abort();
    return err;
}
