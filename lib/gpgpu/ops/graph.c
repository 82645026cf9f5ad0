/* SPDX-License-Identifier: MIT */
/* A recorded sequence of launches: struct tensor_graph. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

int tensor_graph_begin(struct tensor_context *tc, struct tensor_graph *graph)
{
    if (tc->recording)
        return op_fail(tc, -EBUSY, "graph: already recording");
    *graph = (struct tensor_graph){.tc = tc};
    tc->recording = graph;
    return 0;
}

int tensor_graph_end(struct tensor_graph *graph)
{
    struct tensor_context *tc = graph->tc;
    if (!tc || tc->recording != graph)
        return -EINVAL;
    tc->recording = NULL;
    return graph->error;
}

/* Room for one more element of `size` bytes behind *items; doubles. */
static int grow(void **items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return 0;
    size_t larger = *capacity ? 2 * *capacity : 16;
    void *moved = realloc(*items, larger * size);
    if (!moved)
        return -ENOMEM;
    *items = moved;
    *capacity = larger;
    return 0;
}

static int append(struct tensor_graph *graph, enum kernel_id id, const struct op_grid *grid,
                  const struct gpgpu_arg *args, size_t nargs)
{
    int err = grow((void **)&graph->steps, graph->nsteps, &graph->capacity, sizeof *graph->steps);
    struct gpgpu_arg *copy = err ? NULL : malloc(nargs * sizeof *copy);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, args, nargs * sizeof *copy);
    graph->steps[graph->nsteps++] = (struct tensor_graph_step){id, *grid, copy, nargs};
    return 0;
}

int graph_append(struct tensor_graph *graph, enum kernel_id id, const struct op_grid *grid,
                 const struct gpgpu_arg *args, size_t nargs)
{
    int err = append(graph, id, grid, args, nargs);
    if (err && !graph->error)
        graph->error = err;
    return err ? op_fail(graph->tc, err, "graph: out of host memory after %zu steps", graph->nsteps) : 0;
}

int graph_keep(struct tensor_graph *graph, gpgpu_addr_t addr)
{
    int err = grow((void **)&graph->kept, graph->nkept, &graph->kept_capacity, sizeof *graph->kept);
    if (err) {
        graph->error = graph->error ? graph->error : err;
        return err;
    }
    graph->kept[graph->nkept++] = addr;
    return 0;
}

int tensor_graph_run(const struct tensor_graph *graph)
{
    struct tensor_context *tc = graph->tc;
    if (!tc || tc->recording || graph->error)
        return -EINVAL;
    for (size_t i = 0; i < graph->nsteps; i++) {
        const struct tensor_graph_step *step = &graph->steps[i];
        int err = op_launch(tc, step->id, &step->grid, step->args, step->nargs);
        if (err)
            return err;
    }
    return 0;
}

void tensor_graph_destroy(struct tensor_graph *graph)
{
    if (graph->tc && graph->tc->recording == graph)
        graph->tc->recording = NULL;
    for (size_t i = 0; i < graph->nkept; i++)
        gpgpu_pool_free(&graph->tc->pool, graph->kept[i]);
    for (size_t i = 0; i < graph->nsteps; i++)
        free(graph->steps[i].args);
    free(graph->steps);
    free(graph->kept);
    *graph = (struct tensor_graph){0};
}
