/* SPDX-License-Identifier: MIT */
/* Every fault cause, its record, and that the device works afterwards. */
#include <errno.h>
#include <string.h>

#include "fixture.h"
#include "kernels.h"
#include "suites.h"

static struct fixture f;

static int open_device(void **state)
{
    (void)state;
    fixture_open(&f, (struct simt_config){.num_cus = 2, .max_insns = 3000000});
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static struct simt_fault expect(uint32_t kernel, enum simt_cause cause, uint32_t offset, uint32_t addr)
{
    struct simt_fault fault = fixture_fault(&f, kernel, 40);
    assert_int_equal(fault.cause, cause);
    assert_int_equal(fault.pc, kernel + offset);
    assert_int_equal(fault.addr, addr);

    struct simt_launch good = fixture_launch(&f, K_IDS, 0, 2, 64);
    fixture_run(&f, &good);
    return fault;
}

static void illegal_instruction_names_the_lane(void **state)
{
    (void)state;
    struct simt_fault fault = expect(K_ILLEGAL, SIMT_ILLEGAL_INSN, 16, 0);
    assert_int_equal(fault.insn, 0xffffffff);
    assert_int_equal(fault.mhartid, 5);
    assert_int_equal(fault.mask, 0xffffffe0);
    assert_int_equal(fault.thread[0], 5);
    assert_int_equal(fault.count, 27);
}

static void ecall_is_illegal(void **state)
{
    (void)state;
    assert_int_equal(expect(K_ECALL, SIMT_ILLEGAL_INSN, 0, 0).insn, 0x73);
}

static void fetch_outside_vram(void **state)
{
    (void)state;
    struct simt_fault fault = fixture_fault(&f, K_WILD_JUMP, 32);
    assert_int_equal(fault.cause, SIMT_FETCH_FAULT);
    assert_int_equal(fault.pc, 0x70000000);
    assert_int_equal(fault.addr, 0x70000000);
}

static void fetch_misaligned(void **state)
{
    (void)state;
    struct simt_fault fault = fixture_fault(&f, K_MISALIGNED_JUMP, 32);
    assert_int_equal(fault.cause, SIMT_FETCH_FAULT);
    assert_int_equal(fault.addr, K_RETURN + 2);
}

static void running_off_the_end_of_vram(void **state)
{
    (void)state;
    *fixture_words(&f, VRAM_SIZE - 4) = enc_i(0x13, 0, 0, 0);
    struct simt_fault fault = fixture_fault(&f, VRAM_SIZE - 4, 1);
    assert_int_equal(fault.cause, SIMT_FETCH_FAULT);
    assert_int_equal(fault.addr, VRAM_SIZE);
}

static void access_outside_windows(void **state)
{
    (void)state;
    expect(K_WILD_LOAD, SIMT_ACCESS_FAULT, 4, 0x70000004);
    expect(K_WILD_STORE, SIMT_ACCESS_FAULT, 8, 0x7ffffffe);
    expect(K_STORE_CTRL, SIMT_ACCESS_FAULT, 4, SIMT_CTRL_BASE);
    expect(K_BARRIER_LOAD, SIMT_ACCESS_FAULT, 4, SIMT_SYNC_BASE);
}

static void no_lane_of_a_faulting_store_stores(void **state)
{
    (void)state;
    *fixture_words(&f, OUT) = 0x1234;
    struct simt_fault fault = fixture_fault(&f, K_HALF_FAULTS, 32);
    assert_int_equal(fault.cause, SIMT_ACCESS_FAULT);
    assert_int_equal(fault.mhartid, 1);
    assert_int_equal(fault.mask, UINT32_MAX);
    assert_int_equal(fault.count, 16);
    assert_int_equal(*fixture_words(&f, OUT), 0x1234);
}

static void atomics_fault(void **state)
{
    (void)state;
    expect(K_MISALIGNED_AMO, SIMT_MISALIGNED_ATOMIC, 4, OUT + 2);
    expect(K_AMO_PRIVATE, SIMT_ACCESS_FAULT, 0, SIMT_PRIVATE_BASE + 0x4000);
}

static void reserved_rounding_mode(void **state)
{
    (void)state;
    struct simt_fault fault = fixture_fault(&f, K_RESERVED_FRM, 32);
    assert_int_equal(fault.cause, SIMT_ILLEGAL_INSN);
    assert_int_equal(fault.mhartid, 3);
    assert_int_equal(fault.count, 29);
}

static void budget_ends_an_endless_loop(void **state)
{
    (void)state;
    struct simt_fault fault = fixture_fault(&f, K_ENDLESS, 64);
    assert_int_equal(fault.cause, SIMT_LIMIT);
    assert_int_equal(fault.pc, K_ENDLESS);
}

static void barrier_that_cannot_complete(void **state)
{
    (void)state;
    struct simt_fault fault = fixture_fault(&f, K_SELF_JUMP_AT_BARRIER, 64);
    assert_int_equal(fault.cause, SIMT_BARRIER_DEADLOCK);
    assert_int_equal(fault.pc, K_SELF_JUMP_AT_BARRIER + 12);
    assert_int_equal(fault.mask, 1);
}

static void check_limit_at_barrier(struct fixture *with_limit)
{
    *fixture_words(with_limit, OUT + 64) = 0;
    struct simt_fault fault = fixture_fault(with_limit, K_LIMIT_AT_BARRIER, 64);
    assert_int_equal(fault.cause, SIMT_LIMIT);
    assert_in_range(fault.pc, K_LIMIT_AT_BARRIER + 12, K_LIMIT_AT_BARRIER + 16);
    assert_int_not_equal(fault.mhartid, 0); /* the thread that waits */
}

/* Threads that wait at a barrier do not hide the limit: it names the loop that the others are in. */
static void limit_while_others_wait_names_the_loop(void **state)
{
    (void)state;
    struct fixture timed;
    check_limit_at_barrier(&f);
    fixture_open(&timed, (struct simt_config){.num_cus = 1, .timeout_ms = 20});
    fixture_fault(&timed, K_LIMIT_AT_BARRIER,
                  64); /* compiled now, which the time limit may not leave room for */
    check_limit_at_barrier(&timed);
    fixture_close(&timed);
}

static void descriptions_are_readable(void **state)
{
    (void)state;
    struct simt_fault fault = fixture_fault(&f, K_WILD_LOAD, 40);
    char text[256], shorter[10];
    int n = simt_fault_describe(&fault, text, sizeof(text));
    assert_int_equal(n, strlen(text));
    assert_non_null(strstr(text, "memory access fault at pc 0x"));
    assert_non_null(strstr(text, "(lw t1,4(t0))"));
    assert_non_null(strstr(text, "address 0x70000004"));
    assert_int_equal(simt_fault_describe(&fault, shorter, sizeof(shorter)), n);
    assert_string_equal(simt_cause_name(SIMT_LIMIT), "instruction budget or time limit");
    assert_string_equal(simt_cause_name((enum simt_cause)99), "unknown");
}

int fault_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(illegal_instruction_names_the_lane),
        cmocka_unit_test(ecall_is_illegal),
        cmocka_unit_test(fetch_outside_vram),
        cmocka_unit_test(fetch_misaligned),
        cmocka_unit_test(running_off_the_end_of_vram),
        cmocka_unit_test(access_outside_windows),
        cmocka_unit_test(no_lane_of_a_faulting_store_stores),
        cmocka_unit_test(atomics_fault),
        cmocka_unit_test(reserved_rounding_mode),
        cmocka_unit_test(budget_ends_an_endless_loop),
        cmocka_unit_test(barrier_that_cannot_complete),
        cmocka_unit_test(limit_while_others_wait_names_the_loop),
        cmocka_unit_test(descriptions_are_readable),
    };
    return cmocka_run_group_tests_name("fault", tests, open_device, close_device);
}
