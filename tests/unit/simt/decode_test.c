/* SPDX-License-Identifier: MIT */
/* The decoder and the disassembler. */
#include <stdio.h>
#include <string.h>

#include "decode.h"
#include "disasm.h"
#include "fixture.h"
#include "suites.h"

static bool is_csr(enum simt_op op)
{
    enum simt_format f = simt_op_format(op);
    return f == SIMT_FMT_CSR || f == SIMT_FMT_CSRI;
}

static void each_op(enum simt_op op, uint32_t mask, uint32_t match)
{
    for (int i = 0; i < 200; i++) {
        uint32_t word = match | (random_u32() & ~mask);
        if (is_csr(op)) {
            word = (word & 0xfffff) | SIMT_CSR_FCSR << 20;
        } else if (!(mask & 0x7000)) { /* rm, or immediate bits: keep rounding modes legal */
            word = (word & ~0x7000u) | (random_u32() % 5) << 12;
        }
        struct simt_insn in = simt_decode(word);
        assert_int_equal(in.op, op);
        assert_int_equal(in.word, word);
        assert_int_equal(in.rd, word >> 7 & 31);
        assert_int_equal(in.rs1, word >> 15 & 31);
        assert_int_equal(in.rs2, word >> 20 & 31);
        assert_int_equal(in.rs3, word >> 27);
    }
}

/* Also shows that the table is sorted by opcode, or the search would miss entries. */
static void every_op_decodes(void **state)
{
    (void)state;
#define X(name, mnemonic, mask, match, format) each_op(SIMT_OP_##name, mask, match);
    SIMT_OPS(X)
#undef X
}

static void illegal_words(void **state)
{
    (void)state;
    static const uint32_t words[] = {
        0x00000000,
        0xffffffff,
        0x00000001,
        0x0000100f /* fence.i */,
        0x00000073 /* ecall */,
        0x10500073 /* wfi */,
        0x30200073 /* mret */,
        0x02001013 /* slli by 32 */,
        0x06001013,
        0x40001013,
        0x40007033,
        0x04000033,
        0x00003003 /* ld */,
        0x00006003 /* lwu */,
        0x00003023 /* sd */,
        0x00003007 /* fld */,
        0x02000053 /* fadd.d */,
        0x00005053 /* rm 5 */,
        0x00006053 /* rm 6 */,
        0x0000502f,
        0x0000302f /* amoadd.d */,
        0x1010202f /* lr rs2 */,
        0x00002063,
        0x00003063,
        0x00001067,
        0x58100053,
        0xc0200053 /* fcvt.l.s */,
        0xd0200053,
        0xe0002053,
        0xe0100053,
        0x20003053,
        0x28002053,
        0xa0003053,
        0x44200053,
        0x48400053,
        0x4c200053,
        0xf0001053,
        0x02000043 /* fmadd.d */,
        0xc0002173 | 1 << 15 /* csrrs to a counter */,
        0xf1401073 /* csrrw mhartid */,
        0xc0102073 /* time */,
        0x30002073 /* mstatus */,
        0xf14050f3,
        0xc000e0f3 /* csrrsi with bits */,
    };
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (simt_decode(words[i]).op != SIMT_OP_ILLEGAL) {
            fail_msg("%08x decodes as %s", words[i], simt_op_mnemonic(simt_decode(words[i]).op));
        }
    }
}

static void immediates(void **state)
{
    (void)state;
    assert_int_equal(simt_decode(0x80000013).imm, -2048);
    assert_int_equal(simt_decode(0x7ff00013).imm, 2047);
    assert_int_equal(simt_decode(0x41f05013).imm, 31);    /* srai */
    assert_int_equal(simt_decode(0xfe002fa3).imm, -1);    /* sw */
    assert_int_equal(simt_decode(0x80000063).imm, -4096); /* beq */
    assert_int_equal(simt_decode(0x7e000fe3).imm, 4094);
    assert_int_equal(simt_decode(0x8000006f).imm, -1048576); /* jal */
    assert_int_equal(simt_decode(0x7ffff06f).imm, 1048574);
    assert_int_equal((uint32_t)simt_decode(0xfffff037).imm, 0xfffff000);
    assert_int_equal(simt_decode(0xc0002573).imm, SIMT_CSR_CYCLE);
}

static void control_flow_kinds(void **state)
{
    (void)state;
    struct simt_insn call = simt_decode(0x000000ef), alternate = simt_decode(0x000002ef),
                     jump = simt_decode(0x6f);
    struct simt_insn ret = simt_decode(0x00008067), through_t0 = simt_decode(0x00028067),
                     table = simt_decode(0x00078067);
    struct simt_insn call_pointer = simt_decode(0x000780e7);
    assert_true(simt_is_call(&call) && simt_is_call(&alternate) && simt_is_call(&call_pointer));
    assert_false(simt_is_call(&jump) || simt_is_call(&ret) || simt_is_call(&table));
    assert_true(simt_is_return(&ret) && simt_is_return(&through_t0));
    assert_false(simt_is_return(&table) || simt_is_return(&call_pointer));
    assert_true(simt_is_indirect_jump(&table));
    struct simt_insn frflags = simt_decode(0x00102573), frcsr = simt_decode(0x00302573),
                     fsflags = simt_decode(0x00151073);
    struct simt_insn frrm = simt_decode(0x00202573);
    assert_true(simt_reads_flags(&frflags) && simt_reads_flags(&frcsr));
    assert_false(simt_reads_flags(&fsflags) || simt_reads_flags(&frrm));
}

static void disassembly(void **state)
{
    (void)state;
    static const struct {
        uint32_t word;
        const char *text;
    } cases[] = {
        {0x00150513, "addi a0,a0,1"},
        {0xfff50513, "addi a0,a0,-1"},
        {0x00251513, "slli a0,a0,0x2"},
        {0x00c58533, "add a0,a1,a2"},
        {0x00452583, "lw a1,4(a0)"},
        {0xfeb52e23, "sw a1,-4(a0)"},
        {0x00052507, "flw fa0,0(a0)"},
        {0x00a52027, "fsw fa0,0(a0)"},
        {0xfe0518e3, "bne a0,zero,0xff0"},
        {0x12345537, "lui a0,0x12345"},
        {0x008000ef, "jal ra,0x1008"},
        {0x00008067, "jalr zero,0(ra)"},
        {0x00100073, "ebreak"},
        {0xf1402573, "csrrs a0,mhartid,zero"},
        {0x0021d073, "csrrwi zero,frm,3"},
        {0x0ff0000f, "fence iorw,iorw"},
        {0x00c5a52f, "amoadd.w a0,a2,(a1)"},
        {0x1605a52f, "lr.w.aqrl a0,(a1)"},
        {0x00c5f553, "fadd.s fa0,fa1,fa2"},
        {0x00c58553, "fadd.s fa0,fa1,fa2,rne"},
        {0x68c5f543, "fmadd.s fa0,fa1,fa2,fa3"},
        {0xc0051553, "fcvt.w.s a0,fa0,rtz"},
        {0xd0057553, "fcvt.s.w fa0,a0"},
        {0xe0050553, "fmv.x.w a0,fa0"},
        {0xa0c5a553, "feq.s a0,fa1,fa2"},
        {0x44158553, "fcvt.bf16.s fa0,fa1"},
        {0x58057553, "fsqrt.s fa0,fa0"},
        {0xffffffff, ".word 0xffffffff"},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        simt_disasm(0x1000, cases[i].word, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
    }
}

int decode_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_decodes),   cmocka_unit_test(illegal_words), cmocka_unit_test(immediates),
        cmocka_unit_test(control_flow_kinds), cmocka_unit_test(disassembly),
    };
    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
