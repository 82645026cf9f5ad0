/* SPDX-License-Identifier: MIT */
/* Recording of operators; private to lib/gpgpu/ops. */
#ifndef OPS_GRAPH_H
#define OPS_GRAPH_H

#include "tensor_op.h"

struct tensor_graph_step {
    enum kernel_id id;
    struct op_grid grid;
    struct gpgpu_arg *args; /* owned */
    size_t nargs;
};

/* Append a launch; the error is kept in the graph, too. */
int graph_append(struct tensor_graph *graph, enum kernel_id id, const struct op_grid *grid,
                 const struct gpgpu_arg *args, size_t nargs);

/* Keep a pool block, freed while recording, until the graph is destroyed. */
int graph_keep(struct tensor_graph *graph, gpgpu_addr_t addr);

const char *op_kernel_name(enum kernel_id id);

#endif
