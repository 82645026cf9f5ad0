/* SPDX-License-Identifier: MIT */
/*
 * Does the engine accept an instruction word? Each word of standard input is launched alone, in one thread
 * whose registers are zero (frm too); one byte per word goes to standard output: 1 accepted, 0 illegal
 * instruction. What the instruction then does, a fault of another kind included, does not matter here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "simt/simt.h"
#include "encode.h"

#define CODE_ADDR 0x800u
#define VRAM_SIZE 4096u

static int accepts(struct simt *s, uint32_t *vram, uint32_t word)
{
    const struct simt_launch launch = {.kernel = CODE_ADDR, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct simt_fault fault;
    int err;

    for (uint32_t i = 0; i < VRAM_SIZE / 4; i++)
        vram[i] = RV_EBREAK;
    vram[CODE_ADDR / 4] = word;
    err = simt_run(s, &launch, &fault);
    if (err && err != -EFAULT) {
        fprintf(stderr, "decode_scan: launch of %08x: %s\n", word, strerror(-err));
        exit(2);
    }
    if (err != -EFAULT || fault.cause != SIMT_ILLEGAL_INSN || fault.pc != CODE_ADDR)
        return 1;
    if (fault.insn != word) {
        fprintf(stderr, "decode_scan: the fault of %08x reports instruction %08x\n", word, fault.insn);
        exit(1);
    }
    return 0;
}

int main(void)
{
    /* The budget ends jumps to oneself. */
    const struct simt_config config = {.num_cus = 1, .warp_size = 1, .max_insns = 16, .deterministic = true};
    static uint32_t vram[VRAM_SIZE / 4];
    struct simt *s;
    uint32_t word;

    if (simt_create(&s, &config, vram, VRAM_SIZE)) {
        fprintf(stderr, "decode_scan: no device\n");
        return 2;
    }
    while (fread(&word, sizeof(word), 1, stdin) == 1)
        putchar(accepts(s, vram, word));
    simt_destroy(s);
    return 0;
}
