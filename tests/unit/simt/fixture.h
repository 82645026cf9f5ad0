/* SPDX-License-Identifier: MIT */
/* A device with the test kernels loaded at 0, random input words and room for output. */
#ifndef TESTS_UNIT_SIMT_FIXTURE_H
#define TESTS_UNIT_SIMT_FIXTURE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "simt/simt.h"

#define VRAM_SIZE (8u << 20)
#define ARGS      0x0f0000u
#define CODE      0x0f8000u /* for code that a test writes itself */
#define IN        0x100000u
#define IN_WORDS  0x10000u
#define OUT       0x200000u
#define OUT_BYTES 0x200000u

struct fixture {
    uint8_t *vram;
    struct simt *dev;
    char log[256]; /* last line logged */
};

/* A device of this configuration (its log goes to the fixture); fails the test if there is none. */
void fixture_open(struct fixture *f, struct simt_config config);
void fixture_close(struct fixture *f);

uint32_t *fixture_words(struct fixture *f, uint32_t addr);

/* A launch of kernel with arguments (OUT, IN, arg2) on grid x block threads. */
struct simt_launch fixture_launch(struct fixture *f, uint32_t kernel, uint32_t arg2, uint32_t grid,
                                  uint32_t block);

/* Run it; fails the test with the fault's text unless every thread ends normally. */
void fixture_run(struct fixture *f, const struct simt_launch *launch);

/* Run a launch of one block that must fault. */
struct simt_fault fixture_fault(struct fixture *f, uint32_t kernel, uint32_t threads);

/* Assembler: words of code for CODE. */
uint32_t enc_r(uint32_t match, unsigned rd, unsigned rs1, unsigned rs2);
uint32_t enc_i(uint32_t match, unsigned rd, unsigned rs1, int32_t imm);
uint32_t enc_s(uint32_t match, unsigned rs1, unsigned rs2, int32_t imm);
#define ENC_EBREAK 0x00100073u

/* Seed the random numbers of all tests and print the seed. */
void fixture_seed(void);

/* The engine of devices whose configuration names none. */
extern enum simt_engine fixture_engine;
/* Their vector_bits. */
extern uint32_t fixture_vector_bits;
uint32_t random_u32(void);
/* A float's bits, often a special one: zero, subnormal, infinity, NaN, near a power of two. */
uint32_t random_float_bits(void);

#endif
