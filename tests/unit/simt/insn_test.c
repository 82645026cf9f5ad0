/* SPDX-License-Identifier: MIT */
/* Single instructions through the interpreter, in full and partial warps: integer ones against C,
 * floating-point ones against the software floats, both when flags are observed (software path) and when not
 * (host path). */
#include <string.h>

#include "decode.h"
#include "fixture.h"
#include "fp.h"
#include "kernels.h"
#include "narrow.h"
#include "suites.h"

#define OPERANDS 0x0e0000u /* 16 bytes a lane: a, b, c, unused */
#define RESULTS  OUT       /* 16 bytes a lane: x result, f result, fflags */

/* Registers that hold the operands, in both files, and the result. */
enum { RA = 6, RB = 7, RC = 28, RD = 29 };

static struct fixture f;

static int open_device(void **state)
{
    (void)state;
    fixture_open(&f, (struct simt_config){.num_cus = 1});
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static void random_operands(void)
{
    uint32_t *p = fixture_words(&f, OPERANDS);
    for (unsigned i = 0; i < 128; i++) {
        uint32_t small = random_u32() % 4;
        p[i] = small == 0   ? random_u32() % 3 - 1
               : small == 1 ? 0x80000000u + random_u32() % 2
                            : random_float_bits();
    }
}

/* Write the kernel around word. frm is set when below 8. */
static void write_kernel(uint32_t word, unsigned frm, bool observe_flags)
{
    uint32_t *code = fixture_words(&f, CODE), *start = code;

    *code++ = 0x80000337u;                /* lui t1, 0x80000 */
    *code++ = enc_i(0x2003, 5, RA, 0x44); /* lw t0, lane id */
    *code++ = enc_i(0x1013, 5, 5, 4);     /* slli t0, t0, 4 */
    *code++ = enc_r(0x33, 10, 10, 5);     /* add a0, a0, t0 */
    *code++ = enc_r(0x33, 11, 11, 5);
    for (unsigned i = 0; i < 3; i++) {
        static const unsigned regs[3] = {RA, RB, RC};
        *code++ = enc_i(0x2003, regs[i], 11, (int32_t)(4 * i));
        *code++ = enc_i(0x2007, regs[i], 11, (int32_t)(4 * i));
    }
    *code++ = frm < 8 ? enc_i(0x5073, 0, frm, SIMT_CSR_FRM) : enc_i(0x13, 0, 0, 0);
    *code++ = word;
    *code++ = observe_flags ? enc_i(0x2073, 5, 0, SIMT_CSR_FFLAGS) : enc_i(0x13, 5, 0, 0);
    *code++ = enc_s(0x2023, 10, RD, 0);
    *code++ = enc_s(0x2027, 10, RD, 4);
    *code++ = enc_s(0x2023, 10, 5, 8);
    *code++ = ENC_EBREAK;
    assert_true(code - start < 64);
}

/* Run word on random operands with so many lanes. */
static void run_word(uint32_t word, unsigned frm, bool observe_flags, uint32_t lanes)
{
    write_kernel(word, frm, observe_flags);
    struct simt_launch launch = fixture_launch(&f, CODE, 0, 1, lanes);
    fixture_words(&f, ARGS)[1] = OPERANDS;
    memset(f.vram + RESULTS, 0xee, 16 * SIMT_LANES);
    fixture_run(&f, &launch);
}

static uint32_t operand(uint32_t lane, unsigned i)
{
    return fixture_words(&f, OPERANDS)[4 * lane + i];
}

static uint32_t result(uint32_t lane, unsigned i)
{
    return fixture_words(&f, RESULTS)[4 * lane + i];
}

static uint32_t integer(enum simt_op op, uint32_t a, uint32_t b)
{
    int32_t sa = (int32_t)a, sb = (int32_t)b;
    switch (op) {
    case SIMT_OP_ADD:
    case SIMT_OP_ADDI:
        return a + b;
    case SIMT_OP_SUB:
        return a - b;
    case SIMT_OP_SLL:
    case SIMT_OP_SLLI:
        return a << (b % 32);
    case SIMT_OP_SLT:
    case SIMT_OP_SLTI:
        return sa < sb;
    case SIMT_OP_SLTU:
    case SIMT_OP_SLTIU:
        return a < b;
    case SIMT_OP_XOR:
    case SIMT_OP_XORI:
        return a ^ b;
    case SIMT_OP_SRL:
    case SIMT_OP_SRLI:
        return a >> (b % 32);
    case SIMT_OP_SRA:
    case SIMT_OP_SRAI:
        return (uint32_t)(sa >> (b % 32));
    case SIMT_OP_OR:
    case SIMT_OP_ORI:
        return a | b;
    case SIMT_OP_AND:
    case SIMT_OP_ANDI:
        return a & b;
    case SIMT_OP_MUL:
        return (uint32_t)((uint64_t)a * b);
    case SIMT_OP_MULH:
        return (uint32_t)((uint64_t)((int64_t)sa * sb) >> 32);
    case SIMT_OP_MULHSU:
        return (uint32_t)((uint64_t)((int64_t)sa * (int64_t)(uint64_t)b) >> 32);
    case SIMT_OP_MULHU:
        return (uint32_t)((uint64_t)a * b >> 32);
    case SIMT_OP_DIV:
        return b == 0 ? UINT32_MAX : (uint32_t)((int64_t)sa / sb);
    case SIMT_OP_DIVU:
        return b == 0 ? UINT32_MAX : a / b;
    case SIMT_OP_REM:
        return b == 0 ? a : (uint32_t)((int64_t)sa % sb);
    default:
        return b == 0 ? a : a % b;
    }
}

static const uint32_t lane_counts[] = {32, 19, 1};

static void check_integer(enum simt_op op, uint32_t word, bool immediate)
{
    for (unsigned k = 0; k < 3; k++) {
        random_operands();
        run_word(word, 8, false, lane_counts[k]);
        for (uint32_t l = 0; l < SIMT_LANES; l++) {
            uint32_t b = immediate ? (uint32_t)simt_decode(word).imm : operand(l, 1);
            uint32_t want = l < lane_counts[k] ? integer(op, operand(l, 0), b) : 0xeeeeeeee;
            if (result(l, 0) != want) {
                fail_msg("%s %08x, %08x: %08x, expected %08x", simt_op_mnemonic(op), operand(l, 0), b,
                         result(l, 0), want);
            }
        }
    }
}

static void integer_instructions(void **state)
{
    (void)state;
#define X(name, mnemonic, mask, match, format)                                                               \
    if (SIMT_FMT_##format == SIMT_FMT_R) {                                                                   \
        check_integer(SIMT_OP_##name, enc_r(match, RD, RA, RB), false);                                      \
    } else if (SIMT_FMT_##format == SIMT_FMT_I) {                                                            \
        check_integer(SIMT_OP_##name, enc_i(match, RD, RA, (int32_t)random_u32() % 2048), true);             \
    } else if (SIMT_FMT_##format == SIMT_FMT_SHIFT) {                                                        \
        check_integer(SIMT_OP_##name, enc_i(match, RD, RA, (int32_t)(random_u32() % 32) | (match >> 20)),    \
                      true);                                                                                 \
    }
    for (int i = 0; i < 10; i++) {
        SIMT_OPS(X)
    }
#undef X
}

/* What the instruction gives in software; result register file by format. */
static uint32_t in_software(enum simt_op op, uint32_t a, uint32_t b, uint32_t c, enum simt_rm rm,
                            uint32_t *flags)
{
    switch (op) {
    case SIMT_OP_FMADD:
        return simt_f32_fma(a, b, c, rm, flags);
    case SIMT_OP_FMSUB:
        return simt_f32_fma(a, b, c ^ SIMT_F32_SIGN, rm, flags);
    case SIMT_OP_FNMSUB:
        return simt_f32_fma(a ^ SIMT_F32_SIGN, b, c, rm, flags);
    case SIMT_OP_FNMADD:
        return simt_f32_fma(a ^ SIMT_F32_SIGN, b, c ^ SIMT_F32_SIGN, rm, flags);
    case SIMT_OP_FADD:
        return simt_f32_add(a, b, rm, flags);
    case SIMT_OP_FSUB:
        return simt_f32_sub(a, b, rm, flags);
    case SIMT_OP_FMUL:
        return simt_f32_mul(a, b, rm, flags);
    case SIMT_OP_FDIV:
        return simt_f32_div(a, b, rm, flags);
    case SIMT_OP_FSQRT:
        return simt_f32_sqrt(a, rm, flags);
    case SIMT_OP_FMIN:
        return simt_f32_min(a, b, flags);
    case SIMT_OP_FMAX:
        return simt_f32_max(a, b, flags);
    case SIMT_OP_FEQ:
        return simt_f32_eq(a, b, flags);
    case SIMT_OP_FLT:
        return simt_f32_lt(a, b, flags);
    case SIMT_OP_FLE:
        return simt_f32_le(a, b, flags);
    case SIMT_OP_FCVT_W:
        return simt_f32_to_i32(a, rm, flags);
    case SIMT_OP_FCVT_WU:
        return simt_f32_to_u32(a, rm, flags);
    case SIMT_OP_FCVT_S_W:
        return simt_i32_to_f32(a, rm, flags);
    case SIMT_OP_FCVT_S_WU:
        return simt_u32_to_f32(a, rm, flags);
    case SIMT_OP_FSGNJ:
        return (a & 0x7fffffff) | (b & 0x80000000);
    case SIMT_OP_FSGNJN:
        return (a & 0x7fffffff) | (~b & 0x80000000);
    case SIMT_OP_FSGNJX:
        return a ^ (b & 0x80000000);
    case SIMT_OP_FMV_X:
    case SIMT_OP_FMV_W:
        return a;
    case SIMT_OP_FCLASS:
        return simt_f32_class(a);
    case SIMT_OP_FCVT_S_BF16:
        return simt_bf16_to_f32(a);
    case SIMT_OP_FCVT_BF16_S:
        return simt_f32_to_bf16(a);
    case SIMT_OP_FCVT_S_E4M3:
        return simt_e4m3_to_f32(a);
    case SIMT_OP_FCVT_E4M3_S:
        return simt_f32_to_e4m3(a);
    case SIMT_OP_FCVT_S_E5M2:
        return simt_e5m2_to_f32(a);
    case SIMT_OP_FCVT_E5M2_S:
        return simt_f32_to_e5m2(a);
    case SIMT_OP_FCVT_S_E2M1:
        return simt_e2m1_to_f32(a);
    case SIMT_OP_FCVT_E2M1_S:
        return simt_f32_to_e2m1(a);
    default:
        fail_msg("no reference for %s", simt_op_mnemonic(op));
        return 0;
    }
}

static void check_float(enum simt_op op, uint32_t word, unsigned frm, enum simt_rm rm, bool observe,
                        uint32_t lanes)
{
    struct simt_insn in = simt_decode(word);
    unsigned file = simt_writes_x(&in) ? 0 : 1;

    random_operands();
    run_word(word, frm, observe, lanes);
    for (uint32_t l = 0; l < lanes; l++) {
        uint32_t flags = 0, a = operand(l, 0), b = operand(l, 1), c = operand(l, 2);
        uint32_t want = in_software(op, a, b, c, rm, &flags);
        if (result(l, file) != want || (observe && result(l, 2) != flags)) {
            fail_msg("%s(%08x, %08x, %08x) rm %u%s: %08x flags %02x, expected %08x %02x",
                     simt_op_mnemonic(op), a, b, c, rm, observe ? " observed" : "", result(l, file),
                     result(l, 2), want, flags);
        }
    }
    for (uint32_t l = lanes; l < SIMT_LANES; l++) {
        assert_int_equal(result(l, file), 0xeeeeeeee);
    }
}

static bool takes_rm(enum simt_op op)
{
    enum simt_format fmt = simt_op_format(op);
    return fmt == SIMT_FMT_FR || fmt == SIMT_FMT_FR4 || fmt == SIMT_FMT_FR1 || fmt == SIMT_FMT_F2X ||
           fmt == SIMT_FMT_X2F;
}

static void check_float_op(enum simt_op op, uint32_t mask, uint32_t match)
{
    uint32_t word = match | RD << 7 | RA << 15 | (RB << 20 & ~mask) | ((uint32_t)RC << 27 & ~mask);
    for (unsigned k = 0; k < 3; k++) {
        for (unsigned observe = 0; observe < 2; observe++) {
            for (unsigned rm = 0; rm < (takes_rm(op) ? 5 : 1); rm++) {
                if (!takes_rm(op)) {
                    check_float(op, word, 8, 0, observe, lane_counts[k]);
                    continue;
                }
                check_float(op, word | rm << 12, 8, rm, observe, lane_counts[k]);
                check_float(op, word | SIMT_RM_DYN << 12, rm, rm, observe, lane_counts[k]);
            }
        }
    }
}

static bool is_float(enum simt_format format)
{
    return format >= SIMT_FMT_FR && format <= SIMT_FMT_NARROW;
}

static void float_instructions(void **state)
{
    (void)state;
#define X(name, mnemonic, mask, match, format)                                                               \
    if (is_float(SIMT_FMT_##format)) {                                                                       \
        check_float_op(SIMT_OP_##name, mask, match);                                                         \
    }
    for (int i = 0; i < 15; i++) {
        SIMT_OPS(X)
    }
#undef X
}

/* Code far away, reached only by pointer, that reads fflags: they are kept from where it is found. */
static void flags_read_by_code_found_late(void **state)
{
    (void)state;
    const uint32_t far = CODE + 0x200000;
    uint32_t *code = fixture_words(&f, CODE), *there = fixture_words(&f, far);

    code[0] = enc_i(0x2003, 5, 11, 0);        /* lw t0, 0(a1): address of the far code */
    code[1] = enc_i(0x67, 0, 5, 0);           /* jr t0 */
    there[0] = enc_i(0x13, RA, 0, 1);         /* li t1, 1 */
    there[1] = enc_r(0xd0007053, RA, RA, 0);  /* fcvt.s.w ft6, t1 */
    there[2] = enc_r(0x18007053, RD, RA, RB); /* fdiv.s ft9, ft6, ft7: by zero */
    there[3] = enc_i(0x2073, 5, 0, SIMT_CSR_FFLAGS);
    there[4] = enc_s(0x2023, 10, 5, 0);
    there[5] = ENC_EBREAK;
    struct simt_launch launch = fixture_launch(&f, CODE, 0, 1, 64);
    *fixture_words(&f, IN) = far;
    *fixture_words(&f, OUT) = 0;
    fixture_run(&f, &launch);
    assert_int_equal(*fixture_words(&f, OUT), SIMT_DZ);
}

/* The kernels of kernels.S that exercise fcsr. */
static void flags_accumulate(void **state)
{
    (void)state;
    struct simt_launch launch = fixture_launch(&f, K_FLAGS, 0, 1, 32);
    fixture_run(&f, &launch);
    const uint32_t *out = fixture_words(&f, OUT);
    assert_int_equal(out[0], SIMT_NX);
    assert_int_equal(out[1], SIMT_DZ);
    assert_int_equal(out[2], SIMT_DZ | SIMT_NV);
    assert_int_equal(out[3], 3 << 5 | SIMT_DZ | SIMT_NV);
    assert_int_equal(out[4], SIMT_F32_NAN);
}

static void each_lane_has_its_rounding_mode(void **state)
{
    (void)state;
    struct simt_launch launch = fixture_launch(&f, K_FRM, 0, 1, 32);
    fixture_run(&f, &launch);
    const uint32_t *out = fixture_words(&f, OUT);
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t rm = l % 5;
        assert_int_equal(out[4 * l],
                         rm == SIMT_RNE || rm == SIMT_RUP || rm == SIMT_RMM ? 0x3eaaaaab : 0x3eaaaaaa);
        assert_int_equal(out[4 * l + 1],
                         rm == SIMT_RNE || rm == SIMT_RDN || rm == SIMT_RMM ? 0xbeaaaaab : 0xbeaaaaaa);
        assert_int_equal(out[4 * l + 2], 0x3eaaaaaa);
        assert_int_equal(out[4 * l + 3], 0x3eaaaaab);
    }
}

static void jalr_reads_its_target_first(void **state)
{
    (void)state;
    struct simt_launch launch = fixture_launch(&f, K_JALR_SAME, 0, 1, 32);
    *fixture_words(&f, OUT) = 1;
    fixture_run(&f, &launch);
    assert_int_equal((int32_t)*fixture_words(&f, OUT), -4);
}

int insn_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_instructions),
        cmocka_unit_test(float_instructions),
        cmocka_unit_test(flags_read_by_code_found_late),
        cmocka_unit_test(flags_accumulate),
        cmocka_unit_test(each_lane_has_its_rounding_mode),
        cmocka_unit_test(jalr_reads_its_target_first),
    };
    return cmocka_run_group_tests_name("instruction", tests, open_device, close_device);
}
