/* SPDX-License-Identifier: MIT */
#include "gpgpu/check.h"

#include "gpgpu/runtime.h"

#include "core/errno.h"
#include "core/test.h"

#include <errno.h>
#include <inttypes.h>

bool gpgpu_check_i32(const char *what, const int32_t *got, const int32_t *expected, size_t n)
{
    size_t first = n, wrong = 0;
    for (size_t i = n; i-- > 0;) {
        if (got[i] != expected[i]) {
            first = i;
            wrong++;
        }
    }
    if (wrong)
        fail("%s: index %zu: expected %" PRId32 ", got %" PRId32 " (%zu of %zu differ)", what, first,
             expected[first], got[first], wrong, n);
    return wrong == 0;
}

bool gpgpu_check_ok(struct gpgpu_context *ctx, const char *what, int err)
{
    struct gpgpu_fault fault;
    char text[320];
    if (err == -EFAULT && gpgpu_device_last_fault(ctx->device, &fault) == 0) {
        gpgpu_fault_describe(&fault, text, sizeof(text));
        fail("%s: %s", what, text);
    } else if (err) {
        fail("%s: %s", what, error_name(err));
    }
    return err == 0;
}
