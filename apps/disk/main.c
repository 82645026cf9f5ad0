// SPDX-License-Identifier: MIT
/*
 * Block devices at work; every command runs on every one. APPEND='app.args="read 0 2048"'
 * DEVICES='-drive file=disk.img,format=raw,if=none,id=d -device virtio-blk-pci,drive=d'
 */
#include "disk.h"
#include "core/test.h"
#include "core/util.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    void (*run)(struct device *dev, struct range range);
} commands[] = {
    {"info", command_info},     {"read", command_read},         {"many", command_many},
    {"write", command_write},   {"discard", command_discard},   {"limits", command_limits},
    {"error", command_error},   {"readonly", command_readonly}, {"reset", command_reset},
    {"unbind", command_unbind}, {"timeout", command_timeout},   {"speed", command_speed},
#ifdef CONFIG_THREADS
    {"share", command_share},
#endif
};

static void run(const char *name, struct range range)
{
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        if (strcmp(commands[i].name, name) != 0)
            continue;
        for (unsigned n = 0; n < device_count(DEVICE_BLOCK); n++)
            commands[i].run(device_get(DEVICE_BLOCK, n), range);
        return;
    }
    fail("no command \"%s\"; there are:", name);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        printf("  %s\n", commands[i].name);
}

static uint64_t number(int argc, char **argv, int index, uint64_t otherwise)
{
    return index < argc ? strtoull(argv[index], NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
    struct range range = {number(argc, argv, 2, 0), number(argc, argv, 3, 1), number(argc, argv, 4, 1)};

    if (device_count(DEVICE_BLOCK) == 0)
        fail("no disk: run with DEVICES='-drive file=FILE,format=raw,if=none,id=d -device "
             "virtio-blk-pci,drive=d'");
    else
        run(argc > 1 ? argv[1] : "info", range);
    return test_exit_code();
}
