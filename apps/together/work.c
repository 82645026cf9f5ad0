// SPDX-License-Identifier: MIT
/* What each class of devices has to do. */
#include "together.h"
#include "core/errno.h"
#include "drivers/block.h"
#include "drivers/edu.h"
#include "drivers/entropy.h"
#include "gpgpu/ops.h"
#include <stdlib.h>
#include <string.h>

#define NUMBERS                                                                                              \
    90000 /* copies that do not end within the store that starts them; three do not fit in 1 MiB */
#define SECTORS     16u
#define RANDOM_SIZE 64u

/* n! modulo 2^32, as the device computes it. */
static uint32_t factorial(uint32_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

static int compute(struct job *job)
{
    const struct edu_ops *edu = job->dev->ops;
    uint32_t n = job->rounds % 13, result = 0;
    int error = edu->factorial(job->dev, n, &result);

    return error ? error : result == factorial(n) ? 0 : -EILSEQ;
}

static int draw(struct job *job)
{
    const struct entropy_ops *entropy = job->dev->ops;
    uint8_t a[RANDOM_SIZE], b[RANDOM_SIZE];
    int error = entropy->read(job->dev, a, sizeof(a));

    if (!error)
        error = entropy->read(job->dev, b, sizeof(b));
    return error ? error : memcmp(a, b, sizeof(a)) != 0 ? 0 : -EILSEQ;
}

static int write_and_read(struct job *job)
{
    uint8_t wrote[SECTORS * BLOCK_SECTOR], got[SECTORS * BLOCK_SECTOR];
    uint64_t sector = job->rounds % 8 * SECTORS;
    int error;

    for (size_t i = 0; i < sizeof(wrote); i++)
        wrote[i] = (uint8_t)(i * 7 + i / 256 + job->rounds);
    error = block_write(job->dev, sector, wrote, SECTORS);
    if (!error)
        error = block_read(job->dev, sector, got, SECTORS);
    return error ? error : memcmp(wrote, got, sizeof(wrote)) == 0 ? 0 : -EILSEQ;
}

static int sums(struct job *job, int32_t *a, int32_t *sum)
{
    int error;

    for (int32_t i = 0; i < NUMBERS; i++)
        a[i] = i + (int32_t)job->rounds;
    error = gpgpu_vec_add(&job->gpu, a, a, sum, NUMBERS);
    for (int32_t i = 0; i < NUMBERS && !error; i++)
        if (sum[i] != 2 * a[i])
            error = -EILSEQ;
    return error;
}

static int add(struct job *job)
{
    int32_t *a = malloc(NUMBERS * sizeof(*a)), *sum = malloc(NUMBERS * sizeof(*sum));
    int error = a && sum ? 0 : -ENOMEM;

    if (!error && !job->gpu.device)
        error = gpgpu_context_open(&job->gpu, job->dev->index);
    if (!error)
        error = sums(job, a, sum);
    free(a);
    free(sum);
    return error;
}

work_t work_of(enum device_class class)
{
    static const work_t works[DEVICE_CLASSES] = {
        [DEVICE_GPGPU] = add,
        [DEVICE_BLOCK] = write_and_read,
        [DEVICE_ENTROPY] = draw,
        [DEVICE_TUTORIAL] = compute,
    };

    return works[class];
}
