/* SPDX-License-Identifier: MIT */
/* The GPGPU contract, case by case, on every device that is there. */
#include "core/test.h"
#include "gpgpu/conformance.h"

int main(void)
{
    if (gpgpu_device_count() == 0)
        fail("no GPU");
    for (unsigned i = 0; i < gpgpu_device_count(); i++)
        gpgpu_conformance(gpgpu_device_get(i), CONFIG_GPGPU_TIMEOUT_MS);
    return test_exit_code();
}
