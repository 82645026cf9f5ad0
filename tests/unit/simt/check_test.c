/* SPDX-License-Identifier: MIT */
/* engine=check finds compiled code that does something else than the interpreter. The linker puts
 * __wrap_jit_executor() in the place of jit_executor(), so that the JIT can be made wrong here. */
#include <errno.h>
#include <string.h>

#include "fixture.h"
#include "cu.h"
#include "kernels.h"
#include "suites.h"

#ifdef SIMT_HAVE_JIT
const struct simt_executor *__real_jit_executor(void);
const struct simt_executor *__wrap_jit_executor(void);

static enum { RIGHT, WRONG_REGISTER, WRONG_WORD, WRONG_PC, HOST_WRITES } wrong;
static uint32_t *host_word;

/* The engine did what it should, and now the mistake. */
static enum simt_stop make_mistake(struct simt_cu *cu, struct simt_warp *w, enum simt_stop stop)
{
    if (wrong == WRONG_REGISTER && (stop == SIMT_STOP_BARRIER || stop == SIMT_STOP_FAULT)) {
        w->x[5][0] ^= 0x100;    /* t0, where it is kept a lane a word and */
        w->scalars[5] ^= 0x100; /* where it is the same in all lanes */
    } else if (wrong == WRONG_WORD && stop == SIMT_STOP_EXIT) {
        cu->vram[OUT + OUT_BYTES - 1] = 0xee;
    } else if (wrong == WRONG_PC && stop == SIMT_STOP_FAULT) {
        cu->fault.pc += 4;
    } else if (wrong == HOST_WRITES) {
        *host_word = 0x1234;
    }
    return stop;
}

static enum simt_stop run_wrong(struct simt_cu *cu, struct simt_warp *w, struct simt_path *p)
{
    return make_mistake(cu, w, __real_jit_executor()->run(cu, w, p));
}

static enum simt_stop begin_wrong(struct simt_cu *cu)
{
    enum simt_stop stop = __real_jit_executor()->begin(cu);
    return make_mistake(cu, cu->warps[cu->sweep.warp], stop);
}

static const struct simt_executor wrong_executor = {"wrong", run_wrong, begin_wrong};

const struct simt_executor *__wrap_jit_executor(void)
{
    return wrong == RIGHT ? __real_jit_executor() : &wrong_executor;
}

/* Run the kernel with and without the mistake: without, it ends with cause. */
static void expect_found(uint32_t kernel, int mistake, enum simt_cause cause, const char *message)
{
    struct fixture f;
    struct simt_fault fault = {0};

    fixture_open(&f, (struct simt_config){.engine = SIMT_ENGINE_CHECK});
    struct simt_launch launch = fixture_launch(&f, kernel, 0, 2, 64);
    assert_int_equal(simt_run(f.dev, &launch, &fault), cause == SIMT_OK ? 0 : -EFAULT);
    assert_int_equal(fault.cause, cause);
    wrong = mistake;
    assert_int_equal(simt_run(f.dev, &launch, &fault), -EFAULT);
    wrong = RIGHT;
    assert_int_equal(fault.cause, SIMT_ENGINE_MISMATCH);
    if (!strstr(f.log, message)) {
        fail_msg("the log says: %s", f.log);
    }
    fixture_close(&f);
}

static void wrong_memory_is_found(void **state)
{
    (void)state;
    expect_found(K_IDS, WRONG_WORD, SIMT_OK, "VRAM at 0x3fffff holds 0xee");
}

/* What the register holds goes to the stack only, which is not compared. */
static void wrong_register_at_a_barrier_is_found(void **state)
{
    (void)state;
    expect_found(K_REGISTER_OVER_BARRIER, WRONG_REGISTER, SIMT_OK, "registers at a barrier differ");
}

static void wrong_register_at_a_fault_is_found(void **state)
{
    (void)state;
    expect_found(K_WILD_STORE, WRONG_REGISTER, SIMT_ACCESS_FAULT,
                 "registers at the faulting instruction differ");
}

static void wrong_end_is_found(void **state)
{
    (void)state;
    expect_found(K_WILD_STORE, WRONG_PC, SIMT_ACCESS_FAULT, "memory access fault at pc");
}

/* Registers that nothing reads any more are not kept by compiled code: no mistake. */
static void dead_registers_are_not_compared(void **state)
{
    (void)state;
    struct fixture f;

    fixture_open(&f, (struct simt_config){.engine = SIMT_ENGINE_CHECK});
    struct simt_launch launch = fixture_launch(&f, K_DEAD_OVER_BARRIER, 0, 2, 64);
    wrong = WRONG_REGISTER;
    fixture_run(&f, &launch);
    wrong = RIGHT;
    fixture_close(&f);
}

/* What the host writes while a kernel runs is no mistake of the kernel's, and it stays. */
static void host_may_write_meanwhile(void **state)
{
    (void)state;
    struct fixture f;

    fixture_open(&f, (struct simt_config){.engine = SIMT_ENGINE_CHECK});
    struct simt_launch launch = fixture_launch(&f, K_IDS, 0, 2, 64);
    host_word = fixture_words(&f, OUT + OUT_BYTES - 4);
    wrong = HOST_WRITES;
    fixture_run(&f, &launch);
    wrong = RIGHT;
    assert_int_equal(*host_word, 0x1234);
    assert_int_not_equal(fixture_words(&f, OUT)[127], 0);
    fixture_close(&f);
}

int check_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_memory_is_found),
        cmocka_unit_test(wrong_register_at_a_barrier_is_found),
        cmocka_unit_test(wrong_register_at_a_fault_is_found),
        cmocka_unit_test(wrong_end_is_found),
        cmocka_unit_test(dead_registers_are_not_compared),
        cmocka_unit_test(host_may_write_meanwhile),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
#endif
