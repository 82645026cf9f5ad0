/* SPDX-License-Identifier: MIT */
/* Modules, kernels, and what a launch refuses. */
#include "conformance.h"

#define STREAM GPGPU_STREAM_DEFAULT

static void unknown_kernel_is_not_found(struct conformance *c)
{
    gpgpu_module_t module;
    gpgpu_kernel_t kernel;
    EXPECT_OK(c, conformance_module(c, &gpgpu_image_vec_add, &module));
    EXPECT_OK(c, gpgpu_device_kernel_get(c->dev, module, "vec_add", &kernel));
    EXPECT_ERROR(c, gpgpu_device_kernel_get(c->dev, module, "vec_sub", &kernel), -ENOENT);
    EXPECT_ERROR(c, gpgpu_device_kernel_get(c->dev, module, "", &kernel), -ENOENT);
}

static void module_is_unloaded_once(struct conformance *c)
{
    gpgpu_module_t module;
    EXPECT_OK(c, gpgpu_device_module_load(c->dev, &gpgpu_image_relu, &module));
    EXPECT_OK(c, gpgpu_device_module_unload(c->dev, module));
    EXPECT_ERROR(c, gpgpu_device_module_unload(c->dev, module), -EINVAL);
}

static void unloaded_kernel_is_refused(struct conformance *c)
{
    gpgpu_module_t module;
    gpgpu_kernel_t kernel;
    EXPECT_OK(c, gpgpu_device_module_load(c->dev, &gpgpu_image_spin, &module));
    EXPECT_OK(c, gpgpu_device_kernel_get(c->dev, module, "spin", &kernel));
    EXPECT_OK(c, gpgpu_device_module_unload(c->dev, module));
    EXPECT_ERROR(c, conformance_launch(c, kernel, 1, 1, NULL, 0), -EINVAL);
}

/* A module for no instruction set that exists, and one that needs features no device has. */
static void module_for_another_device_is_refused(struct conformance *c)
{
    static const uint32_t code[] = {0x00100073};
    static const struct gpgpu_kernel_entry entry = {"nothing", ""};
    const struct gpgpu_kernel_variant variants[] = {
        {.isa = (enum gpgpu_isa)99, .code = code, .size = sizeof(code)},
        {.isa = c->caps.isa, .features = 1u << 31, .code = code, .size = sizeof(code)},
        {.isa = c->caps.isa, .arch = c->caps.arch + 1, .code = code, .size = sizeof(code)},
    };
    struct gpgpu_kernel_image image = {"nothing", &entry, 1, variants, ARRAY_SIZE(variants)};
    gpgpu_module_t module;
    EXPECT_ERROR(c, gpgpu_device_module_load(c->dev, &image, &module), -ENOEXEC);
    EXPECT(c, gpgpu_pick_variant(&image, &c->caps) == NULL);
}

static void launch_with_a_bad_shape_is_refused(struct conformance *c)
{
    gpgpu_kernel_t kernel;
    struct gpgpu_arg args[] = {arg_u32(0), arg_u32(UINT32_MAX)};
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_wild_store, &kernel));
    struct gpgpu_launch good = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .nargs = 2};
    for (int i = 0; i < 3; i++) {
        struct gpgpu_launch bad = good;
        bad.grid[i] = 0;
        EXPECT_ERROR(c, gpgpu_device_launch(c->dev, STREAM, kernel, &bad), -EINVAL);
        bad = good;
        bad.block[i] = 0;
        EXPECT_ERROR(c, gpgpu_device_launch(c->dev, STREAM, kernel, &bad), -EINVAL);
        bad.block[i] = c->caps.max_block + 1;
        EXPECT_ERROR(c, gpgpu_device_launch(c->dev, STREAM, kernel, &bad), -EINVAL);
    }
    struct gpgpu_launch bad = good;
    bad.block[0] = bad.block[1] = 0x10000; /* the product wraps in 32 bits */
    EXPECT_ERROR(c, gpgpu_device_launch(c->dev, STREAM, kernel, &bad), -EINVAL);
    bad = good;
    bad.shared_bytes = c->caps.shared_max + 1;
    EXPECT_ERROR(c, gpgpu_device_launch(c->dev, STREAM, kernel, &bad), -EINVAL);
    EXPECT_OK(c, gpgpu_device_launch(c->dev, STREAM, kernel, &good));
}

static void launch_with_wrong_arguments_is_refused(struct conformance *c)
{
    gpgpu_kernel_t kernel;
    struct gpgpu_arg args[] = {arg_u32(0), arg_u32(UINT32_MAX), arg_u32(0)};
    struct gpgpu_arg wrong[] = {arg_u32(0), arg_i32(-1)};
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_wild_store, &kernel));
    EXPECT_ERROR(c, conformance_launch(c, kernel, 1, 1, args, 1), -EINVAL);
    EXPECT_ERROR(c, conformance_launch(c, kernel, 1, 1, args, 3), -EINVAL);
    EXPECT_ERROR(c, conformance_launch(c, kernel, 1, 1, wrong, 2), -EINVAL);
    EXPECT_ERROR(c, conformance_launch(c, kernel, 1, 1, NULL, 2), -EINVAL);
    EXPECT_OK(c, conformance_launch(c, kernel, 1, 1, args, 2));
}

const struct conformance_case conformance_modules[] = {
    {"an unknown kernel is not found", 0, unknown_kernel_is_not_found},
    {"a module is unloaded once", 0, module_is_unloaded_once},
    {"an unloaded kernel is refused", 0, unloaded_kernel_is_refused},
    {"a module for another device is refused", 0, module_for_another_device_is_refused},
    {"a launch with a bad shape is refused", 0, launch_with_a_bad_shape_is_refused},
    {"a launch with wrong arguments is refused", 0, launch_with_wrong_arguments_is_refused},
    {0},
};
