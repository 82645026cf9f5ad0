/* SPDX-License-Identifier: MIT */
/* The divergence tree under random splits, arrivals, exits, barriers and turns: no lane is lost, its size is
 * bounded, and everything ends. */
#include "fixture.h"
#include "path.h"
#include "suites.h"

struct model {
    struct simt_tree tree;
    uint32_t live;
    uint64_t retired[SIMT_LANES];
};

static void check_structure(const struct simt_tree *t, int i, int *children)
{
    const struct simt_path *p = &t->path[i];

    assert_int_not_equal(p->state, SIMT_PATH_FREE);
    if (p->state != SIMT_PATH_JOIN) {
        assert_true(p->mask != 0);
    } else {
        assert_true(p->children >= (p->mask ? 1 : 2));
        assert_true(p->mask == 0 || p->pc != SIMT_MEET_AT_EXIT);
    }
    if (p->parent >= 0) {
        assert_true(t->used >> p->parent & 1);
        assert_int_equal(t->path[p->parent].state, SIMT_PATH_JOIN);
        children[p->parent]++;
    }
}

static void check(const struct model *m)
{
    const struct simt_tree *t = &m->tree;
    int children[SIMT_MAX_PATHS] = {0};
    uint32_t seen = 0;

    assert_in_range(__builtin_popcountll(t->used), 0, 63);
    for (int i = 0; i < SIMT_MAX_PATHS; i++) {
        if (t->used >> i & 1) {
            assert_int_equal(seen & t->path[i].mask, 0);
            seen |= t->path[i].mask;
            check_structure(t, i, children);
        }
    }
    for (int i = 0; i < SIMT_MAX_PATHS; i++) {
        if ((t->used >> i & 1) && t->path[i].state == SIMT_PATH_JOIN) {
            assert_int_equal(children[i], t->path[i].children);
        }
    }
    assert_int_equal(seen, m->live);
    assert_int_equal(simt_tree_live(t), m->live);
}

static void check_instret(const struct model *m)
{
    for (int i = 0; i < SIMT_MAX_PATHS; i++) {
        for (unsigned l = 0; (m->tree.used >> i & 1) && l < SIMT_LANES; l++) {
            if (m->tree.path[i].mask >> l & 1) {
                assert_int_equal(m->tree.instret[l] + m->tree.path[i].retired, m->retired[l]);
            }
        }
    }
}

static void split(struct model *m, int p)
{
    uint32_t mask = m->tree.path[p].mask, pcs[SIMT_LANES], masks[SIMT_LANES] = {0};
    uint32_t ways = 2 + random_u32() % 3, base = 4 * (random_u32() % 8);
    unsigned n = 0;

    for (unsigned l = 0; l < SIMT_LANES; l++) {
        masks[random_u32() % ways] |= mask & 1u << l;
    }
    for (uint32_t i = 0; i < ways; i++) {
        if (masks[i]) {
            masks[n] = masks[i];
            pcs[n++] = base + 4 * i;
        }
    }
    if (n >= 2) {
        uint32_t meets[3] = {SIMT_MEET_AT_EXIT, SIMT_MEET_NEVER, 4 * (random_u32() % 12)};
        simt_tree_split(&m->tree, p, meets[random_u32() % 3], n, pcs, masks);
    }
}

static void step(struct model *m, int p)
{
    struct simt_path *path = &m->tree.path[p];
    uint32_t some = path->mask & random_u32();

    path->retired += 3;
    for (unsigned l = 0; l < SIMT_LANES; l++) {
        m->retired[l] += (path->mask >> l & 1) ? 3 : 0;
    }
    switch (random_u32() % 10) {
    case 0:
    case 1:
    case 2:
        split(m, p);
        break;
    case 3: /* go where the join is */
        if (path->parent >= 0) {
            path->depth = m->tree.path[path->parent].depth;
            path->pc = m->tree.path[path->parent].pc == SIMT_MEET_AT_EXIT ? 4 * (random_u32() % 8)
                                                                          : m->tree.path[path->parent].pc;
        }
        break;
    case 4:
        path->depth += random_u32() & 1 ? 1 : -1;
        break;
    case 5:
        simt_tree_end_turn(&m->tree, p);
        break;
    case 9:
        simt_tree_release(&m->tree);
        break;
    case 6:
        if (some && random_u32() % 4 == 0) {
            simt_tree_exit(&m->tree, p, some);
            m->live &= ~some;
        }
        break;
    case 7:
        if (some) {
            simt_tree_wait(&m->tree, p, some, 4 * (random_u32() % 8));
        }
        break;
    default:
        path->pc = 4 * (random_u32() % 12);
        simt_tree_merge(&m->tree, p);
        break;
    }
}

static void random_walks_lose_no_lane(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct model m = {.live = random_u32() | 1};
        unsigned steps = 0;
        simt_tree_init(&m.tree, 0, m.live);
        while (m.live && steps++ < 100000) {
            int p = simt_tree_pick(&m.tree);
            if (p < 0) {
                if (!simt_tree_release(&m.tree)) {
                    assert_int_equal(simt_tree_waiting(&m.tree), m.live);
                    simt_tree_barrier_done(&m.tree);
                }
            } else if (!simt_tree_arrive(&m.tree, p)) {
                step(&m, p);
            }
            check(&m);
            check_instret(&m);
        }
        assert_int_equal(m.live, 0);
        assert_int_equal(m.tree.used, 0);
    }
}

static void a_loop_does_not_grow_the_tree(void **state)
{
    (void)state;
    struct simt_tree t;
    const uint32_t pcs[2] = {0x10, 0x20};
    simt_tree_init(&t, 0x10, UINT32_MAX);
    for (unsigned l = 0; l < 31; l++) { /* one more lane leaves the loop at 0x10 each time */
        int p = simt_tree_pick(&t);
        assert_int_equal(t.path[p].pc, 0x10);
        uint32_t masks[2] = {t.path[p].mask & ~(1u << l), 1u << l};
        simt_tree_split(&t, p, 0x20, 2, pcs, masks);
        assert_int_equal(__builtin_popcountll(t.used), 2);
    }
    int p = simt_tree_pick(&t);
    t.path[p].pc = 0x20;
    assert_true(simt_tree_arrive(&t, p));
    p = simt_tree_pick(&t);
    assert_int_equal(t.path[p].mask, UINT32_MAX);
    assert_int_equal(t.path[p].parent, -1);
}

/* Every path gets its turn, also when a spinning one keeps splitting. */
static void turns_are_fair(void **state)
{
    (void)state;
    struct simt_tree t;
    const uint32_t pcs[2] = {0x10, 0x20}, masks[2] = {0xffff, 0xffff0000};
    unsigned turns_at_20 = 0;

    simt_tree_init(&t, 0, UINT32_MAX);
    simt_tree_split(&t, 0, SIMT_MEET_NEVER, 2, pcs, masks);
    for (int turn = 0; turn < 20; turn++) {
        int p = simt_tree_pick(&t);
        if (t.path[p].pc == 0x20) {
            turns_at_20++;
        } else if (__builtin_popcount(t.path[p].mask) > 1) {
            uint32_t low = t.path[p].mask & -t.path[p].mask;
            const uint32_t parts[2] = {t.path[p].mask & ~low, low}, places[2] = {0x30, 0x34};
            simt_tree_split(&t, p, SIMT_MEET_NEVER, 2, places, parts);
            p = simt_tree_pick(&t);
        }
        simt_tree_end_turn(&t, p);
    }
    assert_true(turns_at_20 >= 2);
}

int path_suite(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_walks_lose_no_lane),
        cmocka_unit_test(a_loop_does_not_grow_the_tree),
        cmocka_unit_test(turns_are_fair),
    };
    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
