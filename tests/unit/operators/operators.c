/* SPDX-License-Identifier: MIT */
/* Float operators: the whole catalogue on the kernels' C source and on the engine; shapes refused; memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gpgpu/catalogue.h"
#include "gpgpu/images.h"
#include "gpgpu/operators.h"
#include "host_device.h"
#include "kernel_names.h"
#include "mock/mock.h"
#include "null/null.h"
#include "random.h"
#include "sim/sim.h"

static struct gpgpu_device *sim;

static void run_catalogue(struct gpgpu_device *device)
{
    struct tensor_context tc;
    unsigned failed = 0;
    assert_int_equal(tensor_context_open(&tc, device), 0);
    for (size_t i = 0; i < gpgpu_catalogue_size; i++) {
        const struct catalogue_entry *e = gpgpu_catalogue[i];
        for (size_t k = 0; k < e->ntests; k++) {
            char why[256];
            if (gpgpu_catalogue_check(&tc, e, &e->test[k], random_u64(), why, sizeof why) == 0)
                continue;
            failed++;
            print_message("%s, %s: %s\n", e->name, e->test[k].where, why);
        }
    }
    tensor_context_close(&tc);
    assert_int_equal(failed, 0);
}

static void test_catalogue_host(void **state)
{
    (void)state;
    run_catalogue(host_device());
    assert_int_equal(host_device_allocations(), 0);
}

static void test_catalogue_sim(void **state)
{
    (void)state;
    run_catalogue(sim);
}

/* A tolerance that lets a wrong result pass is no test: every inexact operator's is far below its values. */
static void test_tolerances_are_tight(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpgpu_catalogue_size; i++) {
        const struct catalogue_entry *e = gpgpu_catalogue[i];
        for (size_t k = 0; k < e->ntests; k++)
            assert_true(gpgpu_catalogue_tolerance(e, e->test[k].p, 1.0) < 1e-3);
        for (size_t k = 0; k < CATALOGUE_BENCH; k++)
            assert_non_null(e->bench[k].where);
    }
}

/* ---- messages -------------------------------------------------------------------------------------------
 */

static void create(struct tensor_context *tc, struct tensor *t, uint32_t n, uint32_t c, uint32_t h,
                   uint32_t w)
{
    assert_int_equal(tensor_create(tc, t, TENSOR_F32, 4, (uint32_t[]){n, c, h, w}), 0);
}

static void test_shapes_are_refused(void **state)
{
    (void)state;
    struct tensor_context tc;
    assert_int_equal(tensor_context_open(&tc, host_device()), 0);
    {
        TENSOR(x);
        TENSOR(weight);
        TENSOR(y);
        TENSOR(vector);
        struct conv_params params = {.win = window(3, 3), .groups = 1};
        create(&tc, &x, 2, 32, 10, 10);
        create(&tc, &weight, 16, 64, 3, 3);
        create(&tc, &y, 2, 16, 8, 8);
        assert_int_equal(tensor_create(&tc, &vector, TENSOR_F32, 1, (uint32_t[]){7}), 0);
        assert_int_equal(tensor_conv2d(&x, &weight, NULL, &params, &y), -EINVAL);
        assert_string_equal(tensor_error(&tc), "conv2d: weight expects 64 input channels, input has 32");
        assert_int_equal(tensor_relu(&x, &y), -EINVAL);
        assert_string_equal(tensor_error(&tc), "relu: result is 2x16x8x8, expected 2x32x10x10");
        assert_int_equal(tensor_add_bias(&x, &vector, ACTIVATE_NONE, &x), -EINVAL);
        assert_string_equal(tensor_error(&tc), "add_bias: bias is 7, expected 32");
        params.win.stride_h = 0;
        assert_int_equal(tensor_conv2d(&x, &weight, NULL, &params, &y), -EINVAL);
        struct tensor empty = {0};
        assert_int_equal(tensor_relu(&x, &empty), -EINVAL);
        assert_string_equal(tensor_error(&tc), "relu: operand 1 is empty");
        assert_int_equal(tensor_create(&tc, &empty, TENSOR_F32, 2, (uint32_t[]){3, 0}), -EINVAL);
        assert_int_equal(tensor_create(&tc, &empty, TENSOR_F32, 3, (uint32_t[]){65536, 65536, 65536}),
                         -EINVAL);
        assert_int_equal(tensor_create(&tc, &empty, TENSOR_F32, 6, (uint32_t[]){1, 1, 1, 1, 1, 1}), -EINVAL);
    }
    tensor_context_close(&tc);
    assert_int_equal(host_device_allocations(), 0);
}

/* ---- the module -----------------------------------------------------------------------------------------
 */

static const struct gpgpu_kernel_variant *variant(enum gpgpu_isa isa, unsigned arch)
{
    struct gpgpu_caps caps = {.size = sizeof caps, .isa = isa, .arch = arch, .features = ~0u};
    return gpgpu_pick_variant(&gpgpu_image_operators, &caps);
}

static void test_variants(void **state)
{
    (void)state;
    assert_true(variant(GPGPU_ISA_RV32, 0)->size <= 128 * 1024);
    assert_null(variant(GPGPU_ISA_PTX, 60));
    assert_non_null(strstr(variant(GPGPU_ISA_PTX, 61)->code, "\n.target sm_61\n"));
    assert_non_null(strstr(variant(GPGPU_ISA_PTX, 90)->code, "\n.target sm_70\n"));
    assert_int_equal(strlen(variant(GPGPU_ISA_PTX, 90)->code), variant(GPGPU_ISA_PTX, 90)->size);
}

/* ---- pool -----------------------------------------------------------------------------------------------
 */

static void test_pool_reuses(void **state)
{
    (void)state;
    struct gpgpu_pool pool;
    gpgpu_addr_t a, b, c;
    gpgpu_pool_init(&pool, host_device(), GPGPU_STREAM_DEFAULT);
    assert_int_equal(gpgpu_pool_alloc(&pool, 5000, &a), 0);
    assert_int_equal(gpgpu_pool_alloc(&pool, 5000, &b), 0);
    assert_int_not_equal(a, b);
    assert_int_equal(gpgpu_pool_free(&pool, a), 0);
    assert_int_equal(gpgpu_pool_free(&pool, a), -EINVAL);
    assert_int_equal(gpgpu_pool_alloc(&pool, 5100, &c), 0); /* same class */
    assert_int_equal(a, c);
    assert_int_equal(gpgpu_pool_destroy(&pool), -EBUSY);
    assert_int_equal(gpgpu_pool_free(&pool, b), 0);
    assert_int_equal(gpgpu_pool_free(&pool, c), 0);
    assert_int_equal(gpgpu_pool_alloc(&pool, 0, &c), -EINVAL);
    assert_int_equal(pool.used, 0);
    assert_int_equal(gpgpu_pool_destroy(&pool), 0);
    assert_int_equal(host_device_allocations(), 0);
}

/* Blocks of one size are given back to the device when another size needs the room; then it is full. */
static void test_pool_out_of_memory(void **state)
{
    (void)state;
    struct gpgpu_device *small;
    struct gpgpu_pool pool;
    gpgpu_addr_t a, b;
    assert_int_equal(gpgpu_null_create(1 << 20, &small), 0);
    gpgpu_pool_init(&pool, small, GPGPU_STREAM_DEFAULT);
    assert_int_equal(gpgpu_pool_alloc(&pool, 500 << 10, &a), 0);
    assert_int_equal(gpgpu_pool_free(&pool, a), 0);
    assert_int_equal(gpgpu_pool_alloc(&pool, 600 << 10, &a), 0);
    int err = gpgpu_pool_alloc(&pool, 600 << 10, &b);
    assert_true(gpgpu_is_oom(err));
    assert_false(gpgpu_is_oom(-EINVAL));
    assert_int_equal(gpgpu_pool_free(&pool, a), 0);
    assert_int_equal(gpgpu_pool_destroy(&pool), 0);
    gpgpu_null_destroy(small);
}

/* ---- recording ------------------------------------------------------------------------------------------
 */

static void write_random(struct tensor *t, float *data)
{
    for (uint32_t i = 0; i < tensor_elements(t); i++)
        data[i] = (float)((int)random_below(201) - 100) / 64;
    assert_int_equal(tensor_write(t, data), 0);
}

/* y = relu(conv(x)) recorded once, replayed on the same input and on another; temporaries stay. */
static void check_graph(struct gpgpu_device *device)
{
    enum { IC = 12, OC = 9, SIZE = 8, OUT = 6 };
    struct tensor_context tc;
    struct tensor_graph graph;
    static float data[IC * SIZE * SIZE], first[OC * OUT * OUT], again[OC * OUT * OUT];
    static float second[OC * OUT * OUT];
    assert_int_equal(tensor_context_open(&tc, device), 0);
    {
        TENSOR(x);
        TENSOR(weight);
        TENSOR(y);
        struct conv_params params = {.win = window(3, 3), .groups = 1, .activation = ACTIVATE_NONE};
        create(&tc, &x, 1, IC, SIZE, SIZE);
        create(&tc, &weight, OC, IC, 3, 3);
        create(&tc, &y, 1, OC, OUT, OUT);
        assert_int_equal(tensor_fill(&weight, 0.5f), 0);
        write_random(&x, data);
        assert_int_equal(tensor_conv2d(&x, &weight, NULL, &params, &y), 0);
        assert_int_equal(tensor_relu(&y, &y), 0);
        assert_int_equal(tensor_read(&y, first), 0);
        assert_int_equal(tensor_graph_begin(&tc, &graph), 0);
        assert_int_equal(tensor_graph_begin(&tc, &graph), -EBUSY);
        assert_int_equal(tensor_conv2d(&x, &weight, NULL, &params, &y), 0);
        assert_int_equal(tensor_write(&x, data), -EBUSY);
        assert_int_equal(tensor_relu(&y, &y), 0);
        assert_int_equal(tensor_graph_end(&graph), 0);
        assert_true(graph.nsteps == 3); /* im2col, sgemm, relu */
        {
            TENSOR(other); /* takes no memory the graph writes to */
            create(&tc, &other, 1, IC * 9, OUT, OUT);
            assert_int_equal(tensor_fill(&other, 1), 0);
            assert_int_equal(tensor_fill(&y, -1), 0);
            assert_int_equal(tensor_graph_run(&graph), 0);
            assert_int_equal(tensor_read(&y, again), 0);
            assert_memory_equal(first, again, sizeof first);
            write_random(&x, data);
            assert_int_equal(tensor_graph_run(&graph), 0);
            assert_int_equal(tensor_read(&y, again), 0);
            assert_int_equal(tensor_conv2d(&x, &weight, NULL, &params, &y), 0);
            assert_int_equal(tensor_relu(&y, &y), 0);
            assert_int_equal(tensor_read(&y, second), 0);
            assert_memory_equal(second, again, sizeof second);
            assert_memory_not_equal(first, second, sizeof first);
        }
        tensor_graph_destroy(&graph);
    }
    assert_int_equal(tc.pool.used, 0);
    tensor_context_close(&tc);
}

static void test_graph(void **state)
{
    (void)state;
    check_graph(host_device());
    check_graph(sim);
}

/* ---- events ---------------------------------------------------------------------------------------------
 */

/* A long piece of work between two events takes longer than none. */
static void check_events(struct gpgpu_device *device)
{
    struct tensor_context tc;
    struct tensor_event start, end, never;
    uint64_t none = 0, some = 0;
    assert_int_equal(tensor_context_open(&tc, device), 0);
    assert_int_equal(tensor_event_create(&tc, &start), 0);
    assert_int_equal(tensor_event_create(&tc, &end), 0);
    assert_int_equal(tensor_event_create(&tc, &never), 0);
    {
        TENSOR(x);
        create(&tc, &x, 1, 64, 32, 32);
        assert_int_equal(tensor_event_record(&start), 0);
        assert_int_equal(tensor_event_record(&end), 0);
        assert_int_equal(tensor_event_sync(&end), 0);
        assert_int_equal(tensor_event_elapsed_ns(&start, &end, &none), 0);
        assert_int_equal(tensor_event_record(&start), 0);
        for (unsigned i = 0; i < 20; i++)
            assert_int_equal(tensor_fill(&x, (float)i), 0);
        assert_int_equal(tensor_event_record(&end), 0);
        assert_int_equal(tensor_event_sync(&end), 0);
        assert_int_equal(tensor_event_elapsed_ns(&start, &end, &some), 0);
        assert_true(some > none);
    }
    assert_int_equal(tensor_event_elapsed_ns(&start, &never, &some), -EINVAL);
    tensor_event_destroy(&start);
    tensor_event_destroy(&end);
    tensor_event_destroy(&never);
    tensor_event_destroy(&never);
    assert_int_equal(tensor_event_record(&never), -EINVAL);
    tensor_context_close(&tc);
}

static void test_events(void **state)
{
    (void)state;
    check_events(host_device());
    check_events(sim);
}

/* Two contexts on one device: streams of their own, memory of their own. */
static void test_two_contexts(void **state)
{
    (void)state;
    struct tensor_context a, b;
    float got[2][6];
    assert_int_equal(tensor_context_open(&a, sim), 0);
    assert_int_equal(tensor_context_open(&b, sim), 0);
    {
        TENSOR(x);
        TENSOR(y);
        create(&a, &x, 1, 1, 2, 3);
        create(&b, &y, 1, 1, 2, 3);
        assert_int_equal(tensor_fill(&x, 1), 0);
        assert_int_equal(tensor_fill(&y, 2), 0);
        assert_int_equal(tensor_read_async(&x, got[0]), 0);
        assert_int_equal(tensor_read_async(&y, got[1]), 0);
        assert_int_equal(tensor_sync(&a), 0);
        assert_int_equal(tensor_sync(&b), 0);
        assert_true(got[0][5] == 1 && got[1][5] == 2);
        assert_int_equal(tensor_relu(&x, &y), -EINVAL);
        assert_string_equal(tensor_error(&a), "relu: operand 1 is of another context");
    }
    tensor_context_close(&b);
    tensor_context_close(&a);
}

/* ---- errors of the device -------------------------------------------------------------------------------
 */

/* The test shape of an operator that moves the fewest bytes. */
static const struct catalogue_case *smallest_case(const struct catalogue_entry *e)
{
    const struct catalogue_case *least = &e->test[0];
    for (size_t k = 1; k < e->ntests; k++)
        if (gpgpu_catalogue_bytes(e, e->test[k].p) < gpgpu_catalogue_bytes(e, least->p))
            least = &e->test[k];
    return least;
}

/* A check of the operator whose n-th call of the device fails with error. Whether it had so many calls. */
static bool check_failing_at(struct gpgpu_device *mock, const struct catalogue_entry *e,
                             const struct catalogue_case *c, unsigned n, int error)
{
    struct tensor_context tc;
    char why[256];
    assert_int_equal(tensor_context_open(&tc, mock), 0);
    unsigned before = gpgpu_mock_calls(mock, MOCK_ANY);
    gpgpu_mock_fail(mock, MOCK_ANY, n, error);
    int err = gpgpu_catalogue_check(&tc, e, c, n, why, sizeof why);
    gpgpu_mock_fail(mock, MOCK_ANY, 0, 0);
    bool reached = gpgpu_mock_calls(mock, MOCK_ANY) - before >= n;
    if (err != (reached ? error : 0))
        fail_msg("%s, %s: call %u of the device: error %d (%s)", e->name, c->where, n, err, why);
    assert_true(err == 0 || strstr(why, "error"));
    assert_int_equal(tc.pool.used, 0);
    err = gpgpu_catalogue_check(&tc, e, c, n, why, sizeof why);
    if (err)
        fail_msg("%s, %s: after a failure at call %u: %s", e->name, c->where, n, why);
    tensor_context_close(&tc);
    assert_int_equal(host_device_allocations(), 0);
    return reached;
}

/* Every operator with an error at each of its calls of the device in turn: the error comes back, nothing
 * leaks, and without the error the result is right. */
static void test_catalogue_mock(void **state)
{
    (void)state;
    struct gpgpu_device *mock;
    assert_int_equal(gpgpu_mock_create(host_device(), &mock), 0);
    for (size_t i = 0; i < gpgpu_catalogue_size; i++) {
        const struct catalogue_entry *e = gpgpu_catalogue[i];
        unsigned n = 1;
        while (check_failing_at(mock, e, smallest_case(e), n, n % 2 ? -EIO : -ENOTSUP))
            n++;
        assert_true(n > 4); /* at least: memory, a launch, a copy, a sync */
    }
    gpgpu_mock_destroy(mock);
}

/* Device memory that runs out in the middle of an operator is recognised, and given back. */
static void test_operator_out_of_memory(void **state)
{
    (void)state;
    const struct catalogue_entry *conv = gpgpu_catalogue_find("conv2d_backward");
    struct gpgpu_device *mock;
    unsigned n = 1;
    assert_int_equal(gpgpu_mock_create(host_device(), &mock), 0);
    for (bool reached = true; reached; n++) {
        struct tensor_context tc;
        char why[256];
        assert_int_equal(tensor_context_open(&tc, mock), 0);
        unsigned before = gpgpu_mock_calls(mock, MOCK_MEM_ALLOC);
        gpgpu_mock_fail(mock, MOCK_MEM_ALLOC, n, -ENOMEM);
        int err = gpgpu_catalogue_check(&tc, conv, &conv->test[2], 1, why, sizeof why);
        gpgpu_mock_fail(mock, MOCK_MEM_ALLOC, 0, 0);
        reached = gpgpu_mock_calls(mock, MOCK_MEM_ALLOC) - before >= n;
        assert_true(reached ? gpgpu_is_oom(err) : err == 0);
        assert_int_equal(tc.pool.used, 0);
        tensor_context_close(&tc);
        assert_int_equal(host_device_allocations(), 0);
    }
    assert_true(n > 6); /* operands, and what the operator needs itself */
    gpgpu_mock_destroy(mock);
}

/* A context that cannot be opened, whatever call of the device fails, leaves nothing behind. */
static void test_open_errors(void **state)
{
    (void)state;
    struct gpgpu_device *mock;
    struct tensor_context tc;
    assert_int_equal(gpgpu_mock_create(host_device(), &mock), 0);
    unsigned n = 1;
    for (gpgpu_mock_fail(mock, MOCK_ANY, n, -EIO); tensor_context_open(&tc, mock); n++) {
        tensor_context_close(&tc); /* no effect */
        gpgpu_mock_fail(mock, MOCK_ANY, n + 1, -EIO);
    }
    gpgpu_mock_fail(mock, MOCK_ANY, 0, 0);
    tensor_context_close(&tc);
    assert_int_equal(n,
                     1 + KERNEL_COUNT + 1 + 1); /* the module, its kernels, the stream; the next went well */
    assert_int_equal(gpgpu_mock_calls(mock, MOCK_MODULE_UNLOAD),
                     gpgpu_mock_calls(mock, MOCK_MODULE_LOAD) - 1);
    gpgpu_mock_destroy(mock);
}

static int start_sim(void **state)
{
    (void)state;
    random_seed();
    return gpgpu_sim_create(&(struct gpgpu_sim_config){.vram_bytes = 64 << 20, .timeout_ms = 60000}, &sim);
}

static int stop_sim(void **state)
{
    (void)state;
    gpgpu_sim_destroy(sim);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_catalogue_host),
        cmocka_unit_test(test_catalogue_sim),
        cmocka_unit_test(test_tolerances_are_tight),
        cmocka_unit_test(test_shapes_are_refused),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_pool_reuses),
        cmocka_unit_test(test_pool_out_of_memory),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_two_contexts),
        cmocka_unit_test(test_catalogue_mock),
        cmocka_unit_test(test_operator_out_of_memory),
        cmocka_unit_test(test_open_errors),
    };
    return cmocka_run_group_tests(tests, start_sim, stop_sim);
}
