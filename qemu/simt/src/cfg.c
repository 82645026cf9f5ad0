/* SPDX-License-Identifier: MIT */
#include "cfg.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* All arrays are indexed by node or by depth-first number (dfn), as said; one allocation holds them. */
struct work {
    const struct simt_graph *g;
    uint32_t nodes;       /* g->n + 1 */
    uint32_t *pred_start; /* node: predecessors in the forward graph = successors in the reversed one */
    uint32_t *pred;
    uint32_t *dfn;         /* node -> dfn or NONE */
    uint32_t *vertex;      /* dfn -> node */
    uint32_t *parent;      /* dfn -> dfn of the tree parent */
    uint32_t *semi;        /* dfn -> dfn of the semidominator */
    uint32_t *idom;        /* dfn -> dfn */
    uint32_t *ancestor;    /* dfn -> dfn in the link-eval forest, NONE for roots */
    uint32_t *label;       /* dfn -> dfn with the least semi on the compressed path */
    uint32_t *bucket_head; /* dfn -> first dfn with that semidominator */
    uint32_t *bucket_next;
    uint32_t *stack;
    uint32_t *cursor; /* dfn -> next predecessor to visit */
    bool *pseudo;     /* node: has a pseudo-edge to the exit */
    uint32_t count;   /* numbered nodes */
};

static uint32_t *carve(uint32_t **pool, size_t n)
{
    uint32_t *p = *pool;
    *pool += n;
    return p;
}

static void build_preds(struct work *k)
{
    const struct simt_graph *g = k->g;
    uint32_t edges = g->start[g->n];

    memset(k->pred_start, 0, (k->nodes + 1) * sizeof(uint32_t));
    for (uint32_t e = 0; e < edges; e++) {
        k->pred_start[g->succ[e] + 1]++;
    }
    for (uint32_t i = 0; i < k->nodes; i++) {
        k->pred_start[i + 1] += k->pred_start[i];
    }
    memcpy(k->stack, k->pred_start, k->nodes * sizeof(uint32_t));
    for (uint32_t i = 0; i < g->n; i++) {
        for (uint32_t e = g->start[i]; e < g->start[i + 1]; e++) {
            k->pred[k->stack[g->succ[e]]++] = i;
        }
    }
}

static uint32_t number(struct work *k, uint32_t node, uint32_t parent)
{
    uint32_t d = k->count++;
    k->dfn[node] = d;
    k->vertex[d] = node;
    k->parent[d] = parent;
    k->semi[d] = d;
    k->label[d] = d;
    k->ancestor[d] = NONE;
    k->bucket_head[d] = NONE;
    k->cursor[d] = k->pred_start[node];
    return d;
}

/* Depth-first search of the reversed graph from an already numbered node. */
static void search(struct work *k, uint32_t d)
{
    uint32_t top = 0;
    k->stack[top++] = d;
    while (top) {
        d = k->stack[top - 1];
        if (k->cursor[d] == k->pred_start[k->vertex[d] + 1]) {
            top--;
            continue;
        }
        uint32_t p = k->pred[k->cursor[d]++];
        if (k->dfn[p] == NONE) {
            k->stack[top++] = number(k, p, d);
        }
    }
}

static void number_all(struct work *k)
{
    memset(k->dfn, 0xff, k->nodes * sizeof(uint32_t));
    search(k, number(k, k->g->n, NONE));
    for (uint32_t i = k->g->n; i-- > 0;) {
        if (k->dfn[i] == NONE) {
            k->pseudo[i] = true;
            search(k, number(k, i, 0));
        }
    }
}

/* The node with the least semidominator on the forest path to d, compressing the path. */
static uint32_t eval(struct work *k, uint32_t d)
{
    uint32_t top = 0;

    if (k->ancestor[d] == NONE) {
        return d;
    }
    for (uint32_t v = d; k->ancestor[k->ancestor[v]] != NONE; v = k->ancestor[v]) {
        k->stack[top++] = v;
    }
    while (top) {
        uint32_t v = k->stack[--top];
        uint32_t a = k->ancestor[v];
        if (k->semi[k->label[a]] < k->semi[k->label[v]]) {
            k->label[v] = k->label[a];
        }
        k->ancestor[v] = k->ancestor[a];
    }
    return k->label[d];
}

static void relax(struct work *k, uint32_t d, uint32_t from)
{
    uint32_t u = eval(k, from);
    if (k->semi[u] < k->semi[d]) {
        k->semi[d] = k->semi[u];
    }
}

static void dominators(struct work *k)
{
    const struct simt_graph *g = k->g;

    for (uint32_t d = k->count - 1; d > 0; d--) {
        uint32_t node = k->vertex[d], p = k->parent[d];
        for (uint32_t e = g->start[node]; e < g->start[node + 1]; e++) {
            relax(k, d, k->dfn[g->succ[e]]);
        }
        if (k->pseudo[node]) {
            relax(k, d, 0);
        }
        k->bucket_next[d] = k->bucket_head[k->semi[d]];
        k->bucket_head[k->semi[d]] = d;
        k->ancestor[d] = p;
        for (uint32_t v = k->bucket_head[p]; v != NONE; v = k->bucket_next[v]) {
            uint32_t u = eval(k, v);
            k->idom[v] = k->semi[u] < k->semi[v] ? u : p;
        }
        k->bucket_head[p] = NONE;
    }
    for (uint32_t d = 1; d < k->count; d++) {
        if (k->idom[d] != k->semi[d]) {
            k->idom[d] = k->idom[k->idom[d]];
        }
    }
}

int simt_cfg_ipdom(const struct simt_graph *g, uint32_t *ipdom)
{
    struct work k = {.g = g, .nodes = g->n + 1};
    size_t n = k.nodes;
    uint32_t *pool = malloc((12 * n + 1 + g->start[g->n]) * sizeof(uint32_t) + n * sizeof(bool));
    uint32_t *next = pool;

    if (!pool) {
        return -ENOMEM;
    }
    k.pred_start = carve(&next, n + 1);
    k.pred = carve(&next, g->start[g->n]);
    k.dfn = carve(&next, n);
    k.vertex = carve(&next, n);
    k.parent = carve(&next, n);
    k.semi = carve(&next, n);
    k.idom = carve(&next, n);
    k.ancestor = carve(&next, n);
    k.label = carve(&next, n);
    k.bucket_head = carve(&next, n);
    k.bucket_next = carve(&next, n);
    k.stack = carve(&next, n);
    k.cursor = carve(&next, n);
    k.pseudo = (bool *)next;
    memset(k.pseudo, 0, n * sizeof(bool));

    build_preds(&k);
    number_all(&k);
    dominators(&k);
    for (uint32_t i = 0; i < g->n; i++) {
        ipdom[i] = k.vertex[k.idom[k.dfn[i]]];
    }
    free(pool);
    return 0;
}

struct order_work {
    const struct simt_graph *g;
    uint32_t *order;
    uint32_t *cursor; /* next successor to visit, NONE until the node is seen */
    uint32_t *stack;
    uint32_t next; /* place of the next node to be left, counting down */
};

static void order_from(struct order_work *k, uint32_t node)
{
    const struct simt_graph *g = k->g;
    uint32_t top = 0;

    if (node == g->n || k->cursor[node] != NONE) {
        return;
    }
    k->cursor[node] = g->start[node];
    k->stack[top++] = node;
    while (top) {
        node = k->stack[top - 1];
        if (k->cursor[node] == g->start[node + 1]) {
            k->order[node] = --k->next;
            top--;
            continue;
        }
        uint32_t s = g->succ[k->cursor[node]++];
        if (s != g->n && k->cursor[s] == NONE) {
            k->cursor[s] = g->start[s];
            k->stack[top++] = s;
        }
    }
}

int simt_cfg_order(const struct simt_graph *g, uint32_t entry, uint32_t *order)
{
    size_t n = g->n;
    uint32_t *pool = malloc((2 * n + 1) * sizeof(uint32_t));

    if (!pool) {
        return -ENOMEM;
    }
    struct order_work k = {.g = g, .order = order, .cursor = pool, .stack = pool + n, .next = g->n};
    memset(k.cursor, 0xff, n * sizeof(uint32_t));
    order_from(&k, entry);
    for (uint32_t i = 0; i < g->n; i++) {
        order_from(&k, i);
    }
    free(pool);
    return 0;
}
