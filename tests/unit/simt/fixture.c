/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#include "../random.h"

enum simt_engine fixture_engine = SIMT_ENGINE_AUTO;
uint32_t fixture_vector_bits;

void fixture_seed(void)
{
    random_seed();
}

uint32_t random_u32(void)
{
    return (uint32_t)random_u64();
}

uint32_t random_float_bits(void)
{
    static const uint32_t special[] = {
        0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x3effffff,
        0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x40000000, 0x4affffff, 0x4b000000,
        0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x7f7fffff, 0x7f800000,
        0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fffffff, 0x3fc00000, 0x40200000, 0x5f000000, 0x20000000,
    };
    uint32_t r = random_u32();
    if (r & 1) {
        return special[random_u32() % (sizeof(special) / sizeof(special[0]))] ^ (r & 0x80000000u);
    }
    if (r & 2) { /* moderate exponents, few bits: exact and half-way results are likely */
        return (r & 0x80000000u) | (118 + random_u32() % 20) << 23 | (random_u32() & 0x7f0000u);
    }
    return random_u32();
}

uint32_t enc_r(uint32_t match, unsigned rd, unsigned rs1, unsigned rs2)
{
    return match | rd << 7 | rs1 << 15 | rs2 << 20;
}

uint32_t enc_i(uint32_t match, unsigned rd, unsigned rs1, int32_t imm)
{
    return match | rd << 7 | rs1 << 15 | (uint32_t)imm << 20;
}

uint32_t enc_s(uint32_t match, unsigned rs1, unsigned rs2, int32_t imm)
{
    return match | ((uint32_t)imm & 0x1f) << 7 | rs1 << 15 | rs2 << 20 | ((uint32_t)imm >> 5) << 25;
}

static void keep_line(void *opaque, const char *line)
{
    struct fixture *f = opaque;
    snprintf(f->log, sizeof(f->log), "%s", line);
}

void fixture_open(struct fixture *f, struct simt_config config)
{
    f->log[0] = 0;
    f->vram = aligned_alloc(4096, VRAM_SIZE);
    assert_non_null(f->vram);
    memset(f->vram, 0, VRAM_SIZE);
    memcpy(f->vram, kernel_image, sizeof(kernel_image));
    if (config.engine == SIMT_ENGINE_AUTO) {
        config.engine = fixture_engine;
    }
    config.vector_bits = config.vector_bits ? config.vector_bits : fixture_vector_bits;
    config.log = keep_line;
    config.log_opaque = f;
    assert_int_equal(simt_create(&f->dev, &config, f->vram, VRAM_SIZE), 0);
}

void fixture_close(struct fixture *f)
{
    simt_destroy(f->dev);
    free(f->vram);
}

uint32_t *fixture_words(struct fixture *f, uint32_t addr)
{
    return (uint32_t *)(void *)(f->vram + addr);
}

struct simt_launch fixture_launch(struct fixture *f, uint32_t kernel, uint32_t arg2, uint32_t grid,
                                  uint32_t block)
{
    uint32_t *args = fixture_words(f, ARGS);
    args[0] = OUT;
    args[1] = IN;
    args[2] = arg2;
    return (struct simt_launch){.kernel = kernel,
                                .args = ARGS,
                                .grid = {grid, 1, 1},
                                .block = {block, 1, 1},
                                .shared_size = 4 * SIMT_MAX_BLOCK};
}

void fixture_run(struct fixture *f, const struct simt_launch *launch)
{
    struct simt_fault fault;
    char text[256] = "";
    int r = simt_run(f->dev, launch, &fault);
    if (r == -EFAULT) {
        simt_fault_describe(&fault, text, sizeof(text));
    }
    if (r != 0) {
        fail_msg("kernel 0x%llx: %d %s %s", (unsigned long long)launch->kernel, r, text, f->log);
    }
}

struct simt_fault fixture_fault(struct fixture *f, uint32_t kernel, uint32_t threads)
{
    struct simt_launch launch = fixture_launch(f, kernel, 0, 1, threads);
    struct simt_fault fault = {0};
    assert_int_equal(simt_run(f->dev, &launch, &fault), -EFAULT);
    return fault;
}
