/* SPDX-License-Identifier: MIT */
/* Disassembler, in the notation of GNU objdump with ABI register names and without aliases. Pure. */
#ifndef SIMT_DISASM_H
#define SIMT_DISASM_H

#include <stddef.h>
#include <stdint.h>

/* Write the text of word at pc, e.g. "addi a0,a0,1", "bne a0,zero,0x40"; ".word 0x..." when the device
 * refuses it. Returns what snprintf would. */
int simt_disasm(uint32_t pc, uint32_t word, char *buf, size_t len);

/* ABI names of x0..x31 ("zero", "ra", ...) and f0..f31 ("ft0", ...). */
const char *simt_x_name(unsigned reg);
const char *simt_f_name(unsigned reg);

#endif
