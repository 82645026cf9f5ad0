/* SPDX-License-Identifier: MIT */
/* Tensors and their context: see gpgpu/tensor.h. */
#include <stdio.h>
#include <string.h>

#include "core/math.h"
#include "gpgpu/images.h"
#include "graph.h"

_Static_assert(KERNEL_COUNT <= TENSOR_MAX_KERNELS, "room for every kernel handle");

const char *op_kernel_name(enum kernel_id id)
{
#define NAME(name) #name,
    static const char *const names[] = {KERNEL_NAMES(NAME)};
#undef NAME
    return names[id];
}

static int find_kernels(struct tensor_context *tc)
{
    for (unsigned id = 0; id < KERNEL_COUNT; id++) {
        int err = gpgpu_device_kernel_get(tc->device, tc->module, op_kernel_name(id), &tc->kernels[id]);
        if (err)
            return op_fail(tc, err, "operators: kernel %s not found: error %d", op_kernel_name(id), err);
    }
    return 0;
}

int tensor_context_open(struct tensor_context *tc, struct gpgpu_device *device)
{
    *tc = (struct tensor_context){.device = device};
    gpgpu_device_caps(device, &tc->caps);
    int err = gpgpu_device_module_load(device, &gpgpu_image_operators, &tc->module);
    if (err) {
        op_fail(tc, err, "operators: the module does not load on %s: error %d", tc->caps.name, err);
        tc->device = NULL;
        return err;
    }
    err = find_kernels(tc);
    if (!err)
        err = gpgpu_device_stream_create(device, &tc->stream);
    if (err) {
        gpgpu_device_module_unload(device, tc->module);
        tc->device = NULL;
        return err;
    }
    gpgpu_pool_init(&tc->pool, device, tc->stream);
    return 0;
}

void tensor_context_close(struct tensor_context *tc)
{
    if (!tc->device)
        return;
    gpgpu_pool_destroy(&tc->pool);
    gpgpu_device_sync(tc->device, tc->stream);
    gpgpu_device_stream_destroy(tc->device, tc->stream);
    gpgpu_device_module_unload(tc->device, tc->module);
    tc->device = NULL;
}

int tensor_sync(struct tensor_context *tc)
{
    int err = gpgpu_device_sync(tc->device, tc->stream);
    return err ? op_fail(tc, err, "operators: the device reports error %d", err) : 0;
}

const char *tensor_error(const struct tensor_context *tc)
{
    return tc->error;
}

/* Product of the dimensions; 0 when one is 0 or it does not fit 31 bits. */
static uint32_t elements(uint32_t rank, const uint32_t *dims)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < rank; i++) {
        n *= dims[i];
        if (n == 0 || n > INT32_MAX)
            return 0;
    }
    return (uint32_t)n;
}

uint32_t tensor_elements(const struct tensor *t)
{
    return t->tc ? elements(t->rank, t->dims) : 0;
}

size_t tensor_bytes(const struct tensor *t)
{
    return 4 * (size_t)tensor_elements(t);
}

const char *tensor_shape_text(const struct tensor *t, char *buf, size_t len)
{
    size_t used = 0;
    buf[0] = '\0';
    for (uint32_t i = 0; i < t->rank && used < len; i++)
        used += (size_t)snprintf(buf + used, len - used, i ? "x%u" : "%u", t->dims[i]);
    return buf;
}

static void set_shape(struct tensor *t, uint32_t rank, const uint32_t *dims)
{
    t->rank = rank;
    memcpy(t->dims, dims, rank * sizeof *dims);
}

int tensor_create(struct tensor_context *tc, struct tensor *t, enum tensor_type type, uint32_t rank,
                  const uint32_t *dims)
{
    if (t->tc)
        return op_fail(tc, -EINVAL, "tensor: not empty");
    if (rank < 1 || rank > TENSOR_MAX_RANK)
        return op_fail(tc, -EINVAL, "tensor: rank %u is not 1 to %u", rank, TENSOR_MAX_RANK);
    struct tensor made = {.tc = tc, .type = type, .owned = true};
    set_shape(&made, rank, dims);
    char text[64];
    if (tensor_elements(&made) == 0)
        return op_fail(tc, -EINVAL, "tensor: shape %s has no elements or too many",
                       tensor_shape_text(&made, text, sizeof text));
    int err = gpgpu_pool_alloc(&tc->pool, tensor_bytes(&made), &made.addr);
    if (err)
        return op_fail(tc, err, "tensor: no device memory for shape %s",
                       tensor_shape_text(&made, text, sizeof text));
    *t = made;
    return 0;
}

int tensor_from_host(struct tensor_context *tc, struct tensor *t, enum tensor_type type, uint32_t rank,
                     const uint32_t *dims, const void *src)
{
    int err = tensor_create(tc, t, type, rank, dims);
    if (err)
        return err;
    err = tensor_write(t, src);
    if (err)
        tensor_destroy(t);
    return err;
}

void tensor_destroy(struct tensor *t)
{
    if (t->tc && t->owned) {
        if (!t->tc->recording || graph_keep(t->tc->recording, t->addr))
            gpgpu_pool_free(&t->tc->pool, t->addr);
    }
    *t = (struct tensor){0};
}

int tensor_view(const struct tensor *of, struct tensor *view, uint32_t rank, const uint32_t *dims)
{
    if (!of->tc)
        return -EINVAL;
    if (rank < 1 || rank > TENSOR_MAX_RANK || elements(rank, dims) != tensor_elements(of))
        return op_fail(of->tc, -EINVAL, "view: %u elements do not fill the new shape", tensor_elements(of));
    struct tensor made = *of;
    made.owned = false;
    set_shape(&made, rank, dims);
    *view = made;
    return 0;
}

static int check_copy(const struct tensor *t)
{
    if (!t->tc)
        return -EINVAL;
    return t->tc->recording ? op_fail(t->tc, -EBUSY, "tensor: host copy while recording") : 0;
}

int tensor_write_async(struct tensor *t, const void *src)
{
    int err = check_copy(t);
    return err ? err : gpgpu_device_copy_h2d(t->tc->device, t->tc->stream, t->addr, src, tensor_bytes(t));
}

int tensor_read_async(const struct tensor *t, void *dst)
{
    int err = check_copy(t);
    return err ? err : gpgpu_device_copy_d2h(t->tc->device, t->tc->stream, dst, t->addr, tensor_bytes(t));
}

int tensor_write(struct tensor *t, const void *src)
{
    int err = tensor_write_async(t, src);
    return err ? err : tensor_sync(t->tc);
}

int tensor_read(const struct tensor *t, void *dst)
{
    int err = tensor_read_async(t, dst);
    return err ? err : tensor_sync(t->tc);
}
