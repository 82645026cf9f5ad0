/* SPDX-License-Identifier: MIT */
/* Every operator of the catalogue on the first GPU, compared with its CPU reference: one line an operator.
 * Before them, what they stand on. */
#include <stdio.h>

#include "core/test.h"
#include "gpgpu/catalogue.h"
#include "opcheck.h"

#define SEED 2024u /* the same data each run: a failure can be looked at again */

/* All test shapes of one operator. */
static void check_operator(struct tensor_context *tc, const struct catalogue_entry *entry)
{
    char why[200];
    for (size_t i = 0; i < entry->ntests; i++) {
        if (gpgpu_catalogue_check(tc, entry, &entry->test[i], SEED + i, why, sizeof why)) {
            fail("%s, %s: %s", entry->name, entry->test[i].where, why);
            return;
        }
    }
    ok("%s: %zu shapes match the CPU", entry->name, entry->ntests);
}

int main(void)
{
    struct tensor_context tc;
    struct gpgpu_device *device = gpgpu_device_get(0);
    if (!check(device != NULL, "a GPU is there"))
        return test_exit_code();
    int err = tensor_context_open(&tc, device);
    if (!check(err == 0, "%s runs the operator module", device->name))
        return test_exit_code();
    check_runtime(&tc);
    for (size_t i = 0; i < gpgpu_catalogue_size; i++)
        check_operator(&tc, gpgpu_catalogue[i]);
    tensor_context_close(&tc);
    return test_exit_code();
}
