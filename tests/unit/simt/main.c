/* SPDX-License-Identifier: MIT */
#include "fixture.h"
#include "suites.h"

int main(void)
{
    fixture_seed();
    return divergence_suite() + sync_suite() + fault_suite() + device_suite();
}
