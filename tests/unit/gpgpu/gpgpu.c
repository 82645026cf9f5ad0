/* SPDX-License-Identifier: MIT */
/* The contract on each hosted backend, and what the class does for all of them. */
#include "gpgpu.h"

#include "core/util.h"
#include "gpgpu/conformance.h"
#include "mock/mock.h"
#include "null/null.h"
#include "rv32.h"
#include "sim/sim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct gpgpu_device *sim, *null;

static void sim_conforms(void **state)
{
    (void)state;
    struct gpgpu_conformance_result result = gpgpu_conformance(sim, TIMEOUT_MS);
    assert_int_equal(result.failed, 0);
    assert_int_equal(result.skipped, 0);
    assert_true(result.passed > 20);
}

static void null_conforms_as_far_as_it_goes(void **state)
{
    (void)state;
    struct gpgpu_conformance_result result = gpgpu_conformance(null, TIMEOUT_MS);
    assert_int_equal(result.failed, 0);
    assert_true(result.passed > 10);
    assert_true(result.skipped > 5);
    assert_true(gpgpu_null_counts(null)->launches > 0);
}

static void mock_without_a_plan_conforms(void **state)
{
    (void)state;
    struct gpgpu_device *mock;
    assert_int_equal(gpgpu_mock_create(sim, &mock), 0);
    struct gpgpu_conformance_result result = gpgpu_conformance(mock, TIMEOUT_MS);
    assert_int_equal(result.failed, 0);
    assert_int_equal(result.skipped, 0);
    gpgpu_mock_destroy(mock);
}

/* The suite itself must notice a device that breaks the contract. */
static void conformance_notices_a_broken_device(void **state)
{
    (void)state;
    static const enum gpgpu_mock_op ops[] = {MOCK_MEM_ALLOC, MOCK_MEM_FREE,    MOCK_COPY_H2D,
                                             MOCK_COPY_D2H,  MOCK_MODULE_LOAD, MOCK_MODULE_UNLOAD,
                                             MOCK_LAUNCH,    MOCK_SYNC};
    for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
        struct gpgpu_device *inner, *mock;
        assert_int_equal(gpgpu_null_create(VRAM_BYTES, &inner), 0);
        assert_int_equal(gpgpu_mock_create(inner, &mock), 0);
        gpgpu_mock_fail(mock, ops[i], 1, -EIO);
        assert_int_not_equal(gpgpu_conformance(mock, TIMEOUT_MS).failed, 0);
        gpgpu_mock_destroy(mock);
        gpgpu_null_destroy(inner);
    }
}

static void mock_fails_where_told(void **state)
{
    (void)state;
    struct gpgpu_device *mock;
    gpgpu_addr_t addr;
    assert_int_equal(gpgpu_mock_create(null, &mock), 0);
    gpgpu_mock_fail(mock, MOCK_MEM_ALLOC, 2, -ENOMEM);
    assert_int_equal(gpgpu_device_mem_alloc(mock, 64, &addr), 0);
    assert_int_equal(gpgpu_device_mem_free(mock, addr), 0);
    assert_int_equal(gpgpu_device_mem_alloc(mock, 64, &addr), -ENOMEM);
    assert_int_equal(gpgpu_device_mem_alloc(mock, 64, &addr), 0);
    assert_int_equal(gpgpu_device_mem_free(mock, addr), 0);
    assert_int_equal(gpgpu_mock_calls(mock, MOCK_MEM_ALLOC), 3);
    gpgpu_mock_fail(mock, MOCK_SYNC, 1, -EIO);
    gpgpu_mock_fail(mock, MOCK_SYNC, 0, 0);
    assert_int_equal(gpgpu_device_sync(mock, GPGPU_STREAM_DEFAULT), 0);
    gpgpu_mock_destroy(mock);
}

/* The sim driver found its device when the process started. */
static void devices_are_found_by_class(void **state)
{
    (void)state;
    assert_int_equal(gpgpu_device_count(), CONFIG_GPGPU_SIM_DEVICES);
    assert_non_null(gpgpu_device_get(0));
    assert_string_equal(gpgpu_device_get(0)->name, "gpgpu0");
    assert_null(gpgpu_device_get(CONFIG_GPGPU_SIM_DEVICES));
}

static void last_fitting_variant_is_picked(void **state)
{
    (void)state;
    static const struct gpgpu_kernel_entry entry = {"k", ""};
    static const struct gpgpu_kernel_variant variants[] = {
        {.isa = GPGPU_ISA_RV32},
        {.isa = GPGPU_ISA_PTX, .arch = 61},
        {.isa = GPGPU_ISA_PTX, .arch = 70},
        {.isa = GPGPU_ISA_RV32, .features = GPGPU_FEATURE_ATOMICS},
    };
    struct gpgpu_kernel_image image = {"m", &entry, 1, variants, ARRAY_SIZE(variants)};
    struct gpgpu_caps caps = {.size = sizeof(caps), .isa = GPGPU_ISA_PTX, .arch = 60};
    assert_null(gpgpu_pick_variant(&image, &caps));
    caps.arch = 61;
    assert_ptr_equal(gpgpu_pick_variant(&image, &caps), &variants[1]);
    caps.arch = 90;
    assert_ptr_equal(gpgpu_pick_variant(&image, &caps), &variants[2]);
    caps = (struct gpgpu_caps){.size = sizeof(caps), .isa = GPGPU_ISA_RV32};
    assert_ptr_equal(gpgpu_pick_variant(&image, &caps), &variants[0]);
    caps.features = GPGPU_FEATURE_ATOMICS;
    assert_ptr_equal(gpgpu_pick_variant(&image, &caps), &variants[3]);
}

/* mhartid counts warps, not threads: with small warps its low 13 bits are no thread number. */
static void fault_place_is_computed_from_mhartid(void **state)
{
    (void)state;
    struct rv32_device dev = {.caps = {.warp_size = 8}};
    struct rv32_start start = {.grid = {4, 3, 2}, .block = {5, 4, 3}};
    struct gpgpu_fault fault = {0};
    uint32_t block = (1 * 3 + 2) * 4 + 3, thread = (2 * 4 + 1) * 5 + 4;
    rv32_locate(&dev, &start, block << 13 | thread / 8 << 5 | thread % 8, &fault);
    assert_int_equal(fault.block[0], 3);
    assert_int_equal(fault.block[1], 2);
    assert_int_equal(fault.block[2], 1);
    assert_int_equal(fault.thread[0], 4);
    assert_int_equal(fault.thread[1], 1);
    assert_int_equal(fault.thread[2], 2);
}

static void every_cause_has_its_name(void **state)
{
    (void)state;
    for (int a = GPGPU_CAUSE_NONE; a <= GPGPU_CAUSE_BAD_LAUNCH; a++) {
        assert_string_not_equal(gpgpu_cause_name(a), gpgpu_cause_name(GPGPU_CAUSE_UNKNOWN));
        for (int b = GPGPU_CAUSE_NONE; b < a; b++)
            assert_string_not_equal(gpgpu_cause_name(a), gpgpu_cause_name(b));
    }
}

static int run_device_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sim_conforms),
        cmocka_unit_test(null_conforms_as_far_as_it_goes),
        cmocka_unit_test(mock_without_a_plan_conforms),
        cmocka_unit_test(conformance_notices_a_broken_device),
        cmocka_unit_test(mock_fails_where_told),
        cmocka_unit_test(devices_are_found_by_class),
        cmocka_unit_test(last_fitting_variant_is_picked),
        cmocka_unit_test(fault_place_is_computed_from_mhartid),
        cmocka_unit_test(every_cause_has_its_name),
    };
    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}

int main(void)
{
    struct gpgpu_sim_config config = {.vram_bytes = VRAM_BYTES, .timeout_ms = TIMEOUT_MS};
    if (gpgpu_sim_create(&config, &sim) || gpgpu_null_create(VRAM_BYTES, &null))
        return 1;
    int failed = run_device_tests() + run_runtime_tests() + run_operator_tests();
    gpgpu_null_destroy(null);
    gpgpu_sim_destroy(sim);
    return failed != 0;
}
