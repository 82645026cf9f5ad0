/* SPDX-License-Identifier: MIT */
/* Post-dominators and block order against their definitions, on random graphs. */
#include <string.h>

#include "cfg.h"
#include "fixture.h"
#include "suites.h"

#define MAX_NODES 24

struct test_graph {
    uint32_t n, start[MAX_NODES + 1], succ[MAX_NODES * 3];
    bool pseudo[MAX_NODES];
};

static void make_graph(struct test_graph *g)
{
    uint32_t edges = 0;
    g->n = 1 + random_u32() % (MAX_NODES - 1);
    memset(g->pseudo, 0, sizeof(g->pseudo));
    for (uint32_t i = 0; i < g->n; i++) {
        g->start[i] = edges;
        for (uint32_t k = 1 + random_u32() % 3; k > 0; k--) {
            bool near = random_u32() & 1;
            g->succ[edges++] =
                near ? (i + 1 < g->n ? i + 1 : g->n) : random_u32() % (g->n + (random_u32() & 1));
        }
    }
    g->start[g->n] = edges;
}

/* Nodes reachable from a, never going through avoid. */
static void reach(const struct test_graph *g, uint32_t a, uint32_t avoid, bool *seen)
{
    if (a == avoid || seen[a]) {
        return;
    }
    seen[a] = true;
    if (a == g->n) {
        return;
    }
    for (uint32_t e = g->start[a]; e < g->start[a + 1]; e++) {
        reach(g, g->succ[e], avoid, seen);
    }
    if (g->pseudo[a]) {
        reach(g, g->n, avoid, seen);
    }
}

static bool reaches(const struct test_graph *g, uint32_t a, uint32_t b, uint32_t avoid)
{
    bool seen[MAX_NODES + 1] = {false};
    reach(g, a, avoid, seen);
    return seen[b];
}

static bool postdominates(const struct test_graph *g, uint32_t b, uint32_t a)
{
    return a == b || !reaches(g, a, g->n, b);
}

static void check_ipdom(const struct test_graph *g, uint32_t a, uint32_t ipdom)
{
    assert_true(ipdom != a);
    assert_true(ipdom == g->n || postdominates(g, ipdom, a));
    for (uint32_t b = 0; b < g->n; b++) { /* every other strict post-dominator of a post-dominates ipdom */
        if (b != a && postdominates(g, b, a)) {
            assert_true(ipdom != g->n && postdominates(g, b, ipdom));
        }
    }
}

static void post_dominators_of_random_graphs(void **state)
{
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct test_graph t;
        uint32_t ipdom[MAX_NODES];
        make_graph(&t);
        const struct simt_graph g = {.n = t.n, .start = t.start, .succ = t.succ};
        assert_int_equal(simt_cfg_ipdom(&g, ipdom), 0);
        for (uint32_t i = t.n; i-- > 0;) {
            t.pseudo[i] = !reaches(&t, i, t.n, UINT32_MAX);
        }
        for (uint32_t i = 0; i < t.n; i++) {
            check_ipdom(&t, i, ipdom[i]);
        }
    }
}

static void order_of_random_graphs(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct test_graph t;
        uint32_t order[MAX_NODES];
        bool used[MAX_NODES] = {false};
        make_graph(&t);
        const struct simt_graph g = {.n = t.n, .start = t.start, .succ = t.succ};
        assert_int_equal(simt_cfg_order(&g, random_u32() % t.n, order), 0);
        for (uint32_t i = 0; i < t.n; i++) {
            assert_in_range(order[i], 0, t.n - 1);
            assert_false(used[order[i]]);
            used[order[i]] = true;
            for (uint32_t e = t.start[i]; e < t.start[i + 1]; e++) {
                uint32_t s = t.succ[e];
                assert_true(s == t.n || order[s] > order[i] || reaches(&t, s, i, UINT32_MAX));
            }
        }
    }
}

/* A ladder of 200,000 nodes: must be quick, and must not use the host's stack. */
static void long_graphs_are_no_problem(void **state)
{
    (void)state;
    const uint32_t n = 200000;
    uint32_t *start = test_malloc((n + 1) * sizeof(*start)), *succ = test_malloc(2 * n * sizeof(*succ));
    uint32_t *out = test_malloc(n * sizeof(*out));
    for (uint32_t i = 0; i < n; i++) {
        start[i] = 2 * i;
        succ[2 * i] = i + 1;
        succ[2 * i + 1] = i + 2 < n ? i + 2 : n;
    }
    start[n] = 2 * n;
    const struct simt_graph g = {.n = n, .start = start, .succ = succ};
    assert_int_equal(simt_cfg_ipdom(&g, out), 0);
    assert_int_equal(out[0], n);
    assert_int_equal(out[n - 1], n);
    assert_int_equal(simt_cfg_order(&g, 0, out), 0);
    assert_int_equal(out[n - 1], n - 1);
    test_free(start);
    test_free(succ);
    test_free(out);
}

int cfg_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(post_dominators_of_random_graphs),
        cmocka_unit_test(order_of_random_graphs),
        cmocka_unit_test(long_graphs_are_no_problem),
    };
    return cmocka_run_group_tests_name("cfg", tests, NULL, NULL);
}
