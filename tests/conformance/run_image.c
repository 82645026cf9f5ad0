/* SPDX-License-Identifier: MIT */
/*
 * Run a memory image on the engine: it is read from standard input (padded to a multiple of 4096 bytes) and,
 * after the launch, written to standard output.
 *
 * usage: run_image KERNEL ARGS GRID_X BLOCK_X
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "simt/simt.h"

static uint8_t *read_all(size_t *size)
{
    size_t capacity = 1 << 20, got;
    uint8_t *data = malloc(capacity);

    *size = 0;
    while (data && (got = fread(data + *size, 1, capacity - *size, stdin)) > 0)
        if ((*size += got) == capacity)
            data = realloc(data, capacity *= 2);
    if (!data)
        return NULL;
    capacity = (*size + 4095) & ~(size_t)4095;
    data = realloc(data, capacity);
    if (data)
        memset(data + *size, 0, capacity - *size);
    *size = capacity;
    return data;
}

int main(int argc, char **argv)
{
    const struct simt_config config = {.num_cus = 2};
    struct simt_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct simt_fault fault;
    struct simt *s;
    char text[512];
    size_t size;
    uint8_t *vram = read_all(&size);
    int err;

    if (argc != 5 || !vram || simt_create(&s, &config, vram, size)) {
        fprintf(stderr, "usage: run_image KERNEL ARGS GRID_X BLOCK_X < image\n");
        return 2;
    }
    launch.kernel = strtoull(argv[1], NULL, 0);
    launch.args = strtoull(argv[2], NULL, 0);
    launch.grid[0] = (uint32_t)strtoul(argv[3], NULL, 0);
    launch.block[0] = (uint32_t)strtoul(argv[4], NULL, 0);
    err = simt_run(s, &launch, &fault);
    if (err == -EFAULT && simt_fault_describe(&fault, text, sizeof(text)) > 0)
        fprintf(stderr, "run_image: %s\n", text);
    else if (err)
        fprintf(stderr, "run_image: %s\n", strerror(-err));
    fwrite(vram, 1, size, stdout);
    simt_destroy(s);
    free(vram);
    return err ? 1 : 0;
}
