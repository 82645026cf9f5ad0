/* SPDX-License-Identifier: MIT */
/* A kernel that faults or never ends is an error that says where, and leaves the device usable. */
#include "conformance.h"

#include <string.h>

#define STREAM      GPGPU_STREAM_DEFAULT
#define BAD_ADDRESS 0x70000000u /* beyond every VRAM */
#define BLOCK       64u
#define BAD_THREAD  (3 * BLOCK + 37) /* of the grid */

#define FAULTS (GPGPU_FEATURE_EXECUTES | GPGPU_FEATURE_FAULT_RECORD)

static int launch_wild_store(struct conformance *c)
{
    gpgpu_kernel_t kernel;
    struct gpgpu_arg args[] = {arg_u32(BAD_ADDRESS), arg_u32(BAD_THREAD)};
    int err = conformance_kernel(c, &gpgpu_image_wild_store, &kernel);
    return err ? err : conformance_launch(c, kernel, 4, BLOCK, args, 2);
}

static void fault_names_its_place(struct conformance *c)
{
    struct gpgpu_fault fault;
    char text[320];
    EXPECT_OK(c, launch_wild_store(c));
    EXPECT_ERROR(c, gpgpu_device_sync(c->dev, STREAM), -EFAULT);
    EXPECT_OK(c, gpgpu_device_last_fault(c->dev, &fault));
    EXPECT(c, fault.cause == GPGPU_CAUSE_ACCESS);
    EXPECT(c, fault.addr == BAD_ADDRESS);
    EXPECT(c, fault.thread[0] == 37 && fault.thread[1] == 0 && fault.thread[2] == 0);
    EXPECT(c, fault.block[0] == 3 && fault.block[1] == 0 && fault.block[2] == 0);
    EXPECT(c, strcmp(fault.kernel, "wild_store") == 0);
    EXPECT(c, fault.insn == 0x00552023); /* sw t0, 0(a0) */
    const uint32_t *code = gpgpu_image_wild_store.variants[0].code;
    EXPECT(c, fault.pc_offset < gpgpu_image_wild_store.variants[0].size);
    EXPECT(c, code[fault.pc_offset / 4] == fault.insn);
    EXPECT(c, fault.count >= 1);
    EXPECT(c, gpgpu_fault_describe(&fault, text, sizeof(text)) < (int)sizeof(text));
    EXPECT(c, strstr(text, "0x70000000") && strstr(text, "(37,0,0)") && strstr(text, "access"));
}

/* sum_args with nothing but ones: a small launch that must work. */
static int works(struct conformance *c)
{
    struct gpgpu_arg args[20];
    gpgpu_module_t module;
    gpgpu_kernel_t kernel;
    gpgpu_addr_t out;
    int32_t sum = 0;
    int err = conformance_alloc(c, sizeof(sum), &out);
    if (!err)
        err = gpgpu_device_module_load(c->dev, &gpgpu_image_sum_args, &module);
    if (err)
        return err;
    args[0] = arg_addr(out);
    for (int i = 1; i < 20; i++)
        args[i] = arg_i32(1);
    err = gpgpu_device_kernel_get(c->dev, module, "sum_args", &kernel);
    if (!err)
        err = conformance_launch(c, kernel, 1, 1, args, 20);
    if (!err)
        err = gpgpu_device_copy_d2h(c->dev, STREAM, &sum, out, sizeof(sum));
    if (!err)
        err = gpgpu_device_sync(c->dev, STREAM);
    gpgpu_device_module_unload(c->dev, module);
    return err ? err : sum == 19 ? 0 : -EIO;
}

static void fault_is_reported_once(struct conformance *c)
{
    EXPECT_OK(c, launch_wild_store(c));
    EXPECT_ERROR(c, gpgpu_device_sync(c->dev, STREAM), -EFAULT);
    EXPECT_OK(c, gpgpu_device_sync(c->dev, STREAM));
    EXPECT_OK(c, works(c));
}

static void copy_that_waits_reports_the_fault(struct conformance *c)
{
    gpgpu_addr_t addr;
    uint32_t word = 1;
    EXPECT_OK(c, conformance_alloc(c, sizeof(word), &addr));
    EXPECT_OK(c, launch_wild_store(c));
    int copy = gpgpu_device_copy_d2h(c->dev, STREAM, &word, addr, sizeof(word));
    int sync = gpgpu_device_sync(c->dev, STREAM);
    EXPECT(c, (copy == -EFAULT && sync == 0) || (copy == 0 && sync == -EFAULT));
    EXPECT_OK(c, works(c));
}

static void endless_kernel_times_out(struct conformance *c)
{
    gpgpu_kernel_t kernel;
    if (conformance_limit_is_long(c))
        return;
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_spin, &kernel));
    EXPECT_OK(c, conformance_launch(c, kernel, 100, BLOCK, NULL, 0));
    EXPECT_ERROR(c, gpgpu_device_sync(c->dev, STREAM), -ETIMEDOUT);
    EXPECT_OK(c, works(c));
}

static void memory_survives_a_timeout(struct conformance *c)
{
    static const char text[] = "still here";
    char back[sizeof(text)] = {0};
    gpgpu_kernel_t kernel;
    gpgpu_addr_t addr;
    if (conformance_limit_is_long(c))
        return;
    EXPECT_OK(c, conformance_alloc(c, sizeof(text), &addr));
    EXPECT_OK(c, gpgpu_device_copy_h2d(c->dev, STREAM, addr, text, sizeof(text)));
    EXPECT_OK(c, conformance_kernel(c, &gpgpu_image_spin, &kernel));
    EXPECT_OK(c, conformance_launch(c, kernel, 1, 1, NULL, 0));
    EXPECT_ERROR(c, gpgpu_device_sync(c->dev, STREAM), -ETIMEDOUT);
    EXPECT_OK(c, gpgpu_device_copy_d2h(c->dev, STREAM, back, addr, sizeof(text)));
    EXPECT_OK(c, gpgpu_device_sync(c->dev, STREAM));
    EXPECT(c, memcmp(back, text, sizeof(text)) == 0);
}

const struct conformance_case conformance_faults[] = {
    {"a fault names its place", FAULTS, fault_names_its_place},
    {"a fault is reported once", FAULTS, fault_is_reported_once},
    {"a copy that waits reports the fault", FAULTS, copy_that_waits_reports_the_fault},
    {"an endless kernel times out", GPGPU_FEATURE_EXECUTES, endless_kernel_times_out},
    {"memory survives a timeout", GPGPU_FEATURE_EXECUTES, memory_survives_a_timeout},
    {0},
};
